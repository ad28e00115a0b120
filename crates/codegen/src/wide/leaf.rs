//! Loops of wide code, one after the other over the same iterations, in place or as a function of their own.
//!
//! As a function they are called with the address of a block, where the loop starts and where it ends, and call nobody.
//! The block holds pointers, then numbers of eight bytes each. On the way out the upper parts of vectors become zero. The
//! function returns where its loop stopped: at the end, or before a turn that it was not made for.

use super::Level;
use super::encode::{Assembler, General, Jump, Operands, Place, RAX, RBP, RBX, RCX, RDX, RSI, RSP, When};
use super::inst::{Lanes, Line, Steadies, Steady, SteadyId, iterations_of};
use super::opcode::{
    BROADCAST, BROADCAST_WIDE_VEX, LOW_BITS, MASK_FROM_GENERAL, MASK_SHIFT, MASK_XNOR, OR, STORE, XOR,
};
use super::pick;
use super::registers::{Allocation, BLOCK, Surroundings};

/// Registers for pointers; those from the sixth on belong to the caller.
pub(crate) const POINTERS: [General; 11] = [RCX, 8, 9, 10, 11, RBX, RBP, 12, 13, 14, 15];
const OWN: usize = 5;

/// Most pointers that a function takes.
pub(crate) const MOST_STREAMS: usize = POINTERS.len();

/// Most bytes of stack that a function takes: half of the smallest page.
pub(crate) const MOST_STACK: i32 = 2048;

/// A loop of a function.
#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) line: Line,
    /// How many iterations it does at a time.
    pub(crate) step: i32,
    /// Whether its lanes are masked, so that it does the last iterations too.
    pub(crate) masked: bool,
    /// For a loop that is for arrays that are walked far, the number that says whether they are.
    pub(crate) far: Option<u32>,
}

/// How often a loop is done.
pub(crate) struct Turns {
    pub(crate) turns: i64,
    /// Iterations of a turn, and of all.
    pub(crate) step: i64,
    pub(crate) now: i64,
}

impl Turns {
    /// How many iterations the last of them is for.
    pub(crate) fn last(&self) -> i64 {
        self.now - (self.turns - 1) * self.step
    }
}

impl Loop {
    /// How often it is done if so many iterations are left.
    pub(crate) fn turns(&self, left: i64) -> Turns {
        let step = i64::from(self.step);
        let turns = if self.masked { (left + step - 1) / step } else { left / step };
        Turns { turns, step, now: left.min(turns * step) }
    }

    /// All its turns, from an iteration on, if that is not long.
    pub(crate) fn written_out(&self, done: i64, left: i64) -> Option<Line> {
        let Turns { turns, step, now } = self.turns(left);
        self.line.written_out(turns, step, done, self.masked.then_some(now))
    }
}

/// What a function is made of.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) level: Level,
    pub(crate) streams: usize,
    pub(crate) steadies: Steadies,
    /// What each accumulator starts from.
    pub(crate) accumulators: Vec<SteadyId>,
    /// How many of them are results: the first ones.
    pub(crate) results: usize,
    /// Results that have the bits of another accumulator too.
    pub(crate) united: Vec<(u8, u8)>,
    /// In the order in which they run.
    pub(crate) loops: Vec<Loop>,
}

/// What loops in a function know of it.
pub(crate) struct Within<'a> {
    /// The register of each pointer.
    pub(crate) streams: &'a [General],
    /// Where numbers are in the block.
    pub(crate) slot: &'a dyn Fn(u32) -> i32,
    /// How many iterations there are, if that is known; otherwise registers hold where they start and how many are left.
    pub(crate) count: Option<i64>,
}

/// Bytes of a function, and how many of them are instructions.
#[derive(Clone, Debug)]
pub(crate) struct LeafCode {
    pub(crate) bytes: Vec<u8>,
    pub(crate) instructions: usize,
}

impl Leaf {
    /// A function of its own; `None` if so much goes to the stack that it may reach beyond the page that guards it.
    pub(crate) fn function(&self) -> Option<LeafCode> {
        let mut asm = Assembler::new(self.level);
        let mut pool = Vec::new();
        let saved = saved(self.streams);
        for &register in saved {
            asm.push(register);
        }
        asm.subtract_const(RSP, 0);
        let frame = asm.bytes.len();
        // The loop variable, and how many iterations are left.
        asm.load(RAX, Place::Register(RSI));
        asm.subtract(RDX, RSI);
        for (k, &register) in POINTERS[..self.streams].iter().enumerate() {
            asm.load(register, Place::Memory(BLOCK, None, 8 * k as i32));
        }
        let mut slots = 0;
        let slot = |number: u32| self.slot(number);
        let within = Within { streams: &POINTERS[..self.streams], slot: &slot, count: None };
        self.inline(&mut asm, &mut pool, &mut slots, &within);
        for jump in std::mem::take(&mut asm.leaving) {
            asm.land(jump);
        }
        if !self.accumulators.is_empty() {
            asm.load(RSI, Place::Memory(BLOCK, None, self.results_at()));
            for register in 0..self.results {
                let place = Place::Memory(RSI, None, (register * self.level.bytes()) as i32);
                asm.vector(STORE.of(false), &Operands::new(register as u8, 0, place));
            }
        }
        asm.zero_upper();
        let stack = 64 * slots as i32;
        asm.patch(frame, stack);
        asm.add_const(RSP, stack);
        for &register in saved.iter().rev() {
            asm.pop(register);
        }
        asm.ret();
        let (bytes, instructions) = asm.finish(&pool);
        (stack <= MOST_STACK).then_some(LeafCode { bytes, instructions })
    }

    /// Its loops, in a function. Accumulators are in the first vectors afterwards. Returns whether one may be `-0.0` where
    /// a sum is not.
    pub(crate) fn inline(
        &self,
        asm: &mut Assembler,
        pool: &mut Vec<u8>,
        slots: &mut u32,
        within: &Within<'_>,
    ) -> bool {
        let places = places(self.level, &self.steadies, pool, within.slot);
        let mut writer = Writer { leaf: self, asm, pool, slots, within, places: &places };
        let far = self.loops.iter().find_map(|each| each.far);
        let has_values = match (within.count, far) {
            (None, _) => {
                writer.start(&[]);
                self.loops.iter().for_each(|each| writer.counted(each));
                false
            }
            (Some(count), None) => writer.known(&self.loops, count),
            (Some(count), Some(number)) => {
                let near = writer.unless_far(number);
                let far = writer.known(&self.loops, count);
                let end = writer.asm.jump(None);
                writer.asm.land(near);
                let near = writer.known(self.loops.iter().filter(|each| each.far.is_none()), count);
                writer.asm.land(end);
                far || near
            }
        };
        for &(a, b) in &self.united {
            asm.vector(OR.of(false), &Operands::new(a, a, Place::Register(b)));
        }
        has_values
    }

    /// Brings what an accumulator starts from to a register.
    pub(crate) fn start(&self, asm: &mut Assembler, register: u8, id: SteadyId, places: &[Place]) {
        let steady = self.steadies.all[id.0 as usize];
        if matches!(steady, Steady::Bits32(0) | Steady::Bits64(0)) {
            return asm.vector(XOR.of(false), &Operands::new(register, register, Place::Register(register)));
        }
        let op = match self.level {
            Level::Avx2 if steady.element() == Some(8) => BROADCAST_WIDE_VEX,
            _ => BROADCAST.of(steady.element() == Some(8)),
        };
        asm.vector(op, &Operands::new(register, 0, places[id.0 as usize]));
    }

    /// Where in the block the address is to which accumulators go.
    pub(crate) fn results_at(&self) -> i32 {
        8 * self.streams as i32
    }

    /// Where in the block a number is that the caller hands over.
    pub(crate) fn slot(&self, number: u32) -> i32 {
        8 * (self.streams as i32 + 1 + number as i32)
    }
}

/// Those registers for pointers that belong to the caller.
pub(crate) fn saved(streams: usize) -> &'static [General] {
    &POINTERS[OWN.min(streams)..streams]
}

/// Where everything steady is: numbers in the block, constants behind the code.
pub(crate) fn places(
    level: Level,
    steadies: &Steadies,
    pool: &mut Vec<u8>,
    slot: &dyn Fn(u32) -> i32,
) -> Vec<Place> {
    let mut places = vec![Place::Pool(0); steadies.all.len()];
    // Whole vectors first, then ever smaller things: each is aligned by itself.
    let size = |steady: &Steady| steady.element().unwrap_or(u8::MAX);
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&k| std::cmp::Reverse(size(&steadies.all[k])));
    if let Some(&first) = order.first() {
        let align = usize::from(size(&steadies.all[first])).min(level.bytes());
        pool.resize(pool.len().next_multiple_of(align), 0);
    }
    for k in order {
        places[k] = match steadies.all[k] {
            Steady::Slot32(number) | Steady::Slot64(number) => Place::Memory(BLOCK, None, slot(number)),
            _ => Place::Pool(pool.len()),
        };
        match steadies.all[k] {
            Steady::Slot32(_) | Steady::Slot64(_) => {}
            Steady::Bits32(bits) => pool.extend(bits.to_le_bytes()),
            Steady::Bits64(bits) => pool.extend(bits.to_le_bytes()),
            Steady::Count64(first) => {
                let lanes = level.bytes() as i64 / 8;
                pool.extend((first..first + lanes).flat_map(i64::to_le_bytes));
            }
            Steady::Steps32(step) => {
                let lanes = level.bytes() as i32 / 4;
                pool.extend((0..lanes).flat_map(|lane| (lane * step).to_le_bytes()));
            }
            Steady::Pick { wide, step, vector } => {
                let lane = if wide { 8 } else { 4 };
                let lanes = pick::lanes((level.bytes() / lane) as i64, step.into(), vector.into());
                lanes.for_each(|place| pool.extend(&place.to_le_bytes()[..lane]));
            }
        }
    }
    places
}

/// The mask registers that say which lanes are iterations.
pub(crate) fn iteration_masks(line: &Line) -> u8 {
    line.insts.iter().fold(0, |all, inst| match inst.lanes {
        Lanes::Iterations(mask) => all | 1 << mask,
        _ => all,
    })
}

/// Loops on their way into a function.
struct Writer<'a> {
    leaf: &'a Leaf,
    asm: &'a mut Assembler,
    pool: &'a mut Vec<u8>,
    slots: &'a mut u32,
    within: &'a Within<'a>,
    places: &'a [Place],
}

impl<'a> Writer<'a> {
    fn around(&self, each: &Loop) -> Surroundings<'a> {
        Surroundings {
            level: self.leaf.level,
            steadies: &self.leaf.steadies,
            places: self.places,
            streams: self.within.streams,
            taken_masks: if each.masked { iteration_masks(&each.line) } else { 0 },
            far: each.far.is_some(),
            is_loop: true,
        }
    }

    /// Jumps unless arrays are walked far.
    fn unless_far(&mut self, number: u32) -> Jump {
        self.asm.load(RSI, Place::Memory(BLOCK, None, (self.within.slot)(number)));
        self.asm.compare_const(RSI, 0);
        self.asm.jump(Some(When::NotGreater))
    }

    /// A loop whose iterations registers say.
    fn counted(&mut self, each: &Loop) {
        let around = self.around(each);
        if each.masked {
            return masked_loop(self.asm, each, &around, self.pool, self.slots);
        }
        let near = each.far.map(|number| self.unless_far(number));
        whole_loop(self.asm, each, &around, self.slots);
        near.into_iter().for_each(|near| self.asm.land(near));
    }

    /// Brings what accumulators start from to their registers, but for those that begin with a value.
    fn start(&mut self, begin: &[bool]) {
        for (register, id) in self.leaf.accumulators.iter().enumerate() {
            if begin.get(register) != Some(&true) {
                self.leaf.start(self.asm, register as u8, *id, self.places);
            }
        }
    }

    /// Loops over so many iterations: those that are short are no loops any more. Returns whether accumulators begin with
    /// values.
    fn known<'l>(&mut self, loops: impl IntoIterator<Item = &'l Loop>, count: i64) -> bool {
        let mut done = 0;
        let mut begin: Option<Vec<bool>> = None;
        for each in loops {
            let turns = each.turns(count - done);
            if turns.turns == 0 {
                continue;
            }
            let around = self.around(each);
            let mut line = each.written_out(done, count - done);
            if begin.is_none() {
                let values = line.as_mut().map(Line::begin_with_values).unwrap_or_default();
                self.start(&values);
                begin = Some(values);
            }
            match line {
                Some(line) => once(self.asm, &line, turns.last(), &around, self.slots),
                None => {
                    self.asm.load_const(RAX, done as i32);
                    self.asm.load_const(RDX, turns.now as i32);
                    match each.masked {
                        true => masked_loop(self.asm, each, &around, self.pool, self.slots),
                        false => whole_loop(self.asm, each, &around, self.slots),
                    }
                }
            }
            done += turns.now;
        }
        match begin {
            Some(values) => values.contains(&true),
            None => {
                self.start(&[]);
                false
            }
        }
    }
}

/// A line that is done once, for this many iterations.
pub(crate) fn once(asm: &mut Assembler, line: &Line, count: i64, around: &Surroundings<'_>, slots: &mut u32) {
    let taken_masks = iteration_masks(line);
    for mask in (1..8).filter(|mask| taken_masks >> mask & 1 == 1) {
        asm.load_const(RSI, iterations_of(mask, count) as i32);
        asm.vector(MASK_FROM_GENERAL, &Operands::new(mask, 0, Place::Register(RSI)));
    }
    let around = Surroundings { taken_masks, is_loop: false, ..*around };
    Allocation::new(&around, asm, line, slots).run();
}

/// A loop over whole steps; what is left is for the next.
fn whole_loop(asm: &mut Assembler, each: &Loop, around: &Surroundings<'_>, slots: &mut u32) {
    asm.compare_const(RDX, each.step);
    let none = asm.jump(Some(When::Less));
    let allocation = Allocation::new(around, asm, &each.line, slots);
    let start = allocation.run();
    asm.add_const(RAX, each.step);
    asm.subtract_const(RDX, each.step);
    asm.compare_const(RDX, each.step);
    asm.jump_back(Some(When::NotLess), start);
    asm.land(none);
}

/// A loop over everything that is left: masks are full until its last turn.
fn masked_loop(
    asm: &mut Assembler,
    each: &Loop,
    around: &Surroundings<'_>,
    pool: &mut Vec<u8>,
    slots: &mut u32,
) {
    asm.compare_const(RDX, 0);
    let none = asm.jump(Some(When::NotGreater));
    let masks: Vec<u8> = (1..8).filter(|mask| around.taken_masks >> mask & 1 == 1).collect();
    for &mask in &masks {
        asm.vector(MASK_XNOR, &Operands::new(mask, mask, Place::Register(mask)));
    }
    let allocation = Allocation::new(around, asm, &each.line, slots);
    let part = allocation.before(|asm| {
        asm.compare_const(RDX, each.step);
        asm.jump(Some(When::Less))
    });
    let (allocation, part) = part;
    let start = allocation.run();
    asm.add_const(RAX, each.step);
    asm.subtract_const(RDX, each.step);
    let end = asm.jump(Some(When::NotGreater));
    asm.compare_const(RDX, each.step);
    asm.jump_back(Some(When::NotLess), start);
    asm.land(part);
    // As many ones as there are iterations left, 16 for each group of lanes.
    pool.resize(pool.len().next_multiple_of(8), 0);
    let ones = Place::Pool(pool.len());
    pool.extend([0xff; 8]);
    asm.vector(LOW_BITS, &Operands::new(RSI, RDX, ones));
    let mut group = 0;
    for &mask in &masks {
        let (wanted, half) = ((mask - 1) / 2, (mask - 1) % 2);
        while group < wanted {
            asm.shift_right(RSI, 16);
            group += 1;
        }
        asm.vector(MASK_FROM_GENERAL, &Operands::new(mask, 0, Place::Register(RSI)));
        if half == 1 {
            let operands = Operands { constant: Some(8), ..Operands::new(mask, 0, Place::Register(mask)) };
            asm.vector(MASK_SHIFT, &operands);
        }
    }
    asm.jump_back(None, start);
    asm.land(end);
    asm.land(none);
}
