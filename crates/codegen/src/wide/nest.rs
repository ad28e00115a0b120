//! A kernel of loops as one function, without Cranelift.
//!
//! The innermost loops are those of `map` and `sum`, written in place. What is around them needs no compiler: counters
//! and whatever one part hands to another are in a frame on the stack, and addresses are added up anew before each
//! loop. Statements outside of the innermost loops are instructions on vectors too, of which the lowest lane counts, so
//! that they have the same bits.

use cranelift_codegen::isa::CallConv;
use rustc_hash::FxHashMap;
use tracewell_kernel::steps::Fault;
use tracewell_kernel::{Kernel, Op, Region, Size, Stmt, Value};

use super::Level;
use super::body::Body;
use super::encode::{Assembler, General, Jump, Place, RAX, RCX, RDI, RDX, RSI, RSP, When};
use super::frame::Frame;
use super::inst::{Line, Steadies};
use super::leaf::{Leaf, LeafCode, MOST_STACK, MOST_STREAMS, Within, once, places, saved};
use super::loops::LIMIT;
use super::map::Maps;
use super::moving::{self, Moving};
use super::reduction::Reduction;
use super::registers::{BLOCK, Surroundings};
use super::stretch::Stretch;
use super::sum::Apart;
use super::uncached::{MANY, STORE_UNCACHED, Stored};
use crate::hoist::{Iterations, invariant, is_straight};
use crate::plan::{laned, plan};
use crate::target::Target;

/// Most iterations of a loop that may be written out.
const MOST_KNOWN: i64 = 1 << 20;

/// A loop around others.
#[derive(Clone, Copy)]
pub(crate) struct Around<'k, 'h> {
    pub(crate) var: Value,
    pub(crate) iterated: Iterated,
    pub(crate) region: &'k Region,
    /// Of each value, whether it is computed before the loop.
    pub(crate) hoisted: &'h [bool],
    pub(crate) iterations: Iterations,
}

/// Which iterations of a loop are meant.
#[derive(Clone, Copy)]
pub(crate) enum Iterated {
    /// Those that the launch says, of this many.
    Given(Size),
    /// All of them.
    All(Size),
}

/// What a loop was handed: where in the frame its numbers are, and the registers of its pointers.
pub(crate) struct Handed {
    pub(crate) slots: Vec<i32>,
    pub(crate) pointers: Vec<General>,
}

/// What of the way into a function is known at its end only.
struct Open {
    /// Where the size of the frame belongs, and that of what is below it.
    frame: usize,
    below: usize,
    /// To where numbers are prepared that loops want, and back.
    prepare: Jump,
    go_on: usize,
}

/// A function on its way.
pub(crate) struct Nest<'k> {
    pub(crate) kernel: &'k Kernel,
    target: &'k Target,
    pub(crate) level: Level,
    pub(crate) broken: bool,
    pub(crate) constants: FxHashMap<Value, u64>,
    /// How often each value is used.
    uses: Vec<u32>,
    pub(crate) frame: Frame,
    /// The loop around innermost loops that is being written, if its pointers move along.
    pub(crate) moving: Option<Moving>,
    pub(crate) asm: Assembler,
    pub(crate) pool: Vec<u8>,
    /// Vectors that go to the stack.
    pub(crate) spilled: u32,
    /// How many innermost loops there are.
    loops: usize,
}

/// A kernel without Cranelift; `None` if it is more than loops.
pub(crate) fn whole(kernel: &Kernel, target: &Target) -> Option<LeafCode> {
    // With shorter vectors, the last iterations are Cranelift's.
    let level = target.features().wide.filter(|level| *level == Level::Avx512)?;
    let broken = target.broken().filter(|fault| *fault != Fault::Wide).is_some();
    if broken || target.isa().default_call_conv() != CallConv::SystemV {
        return None;
    }
    let mut nest = Nest {
        kernel,
        target,
        level,
        broken: target.broken() == Some(Fault::Wide),
        constants: FxHashMap::default(),
        uses: vec![0; kernel.values.len()],
        frame: Frame::new(kernel),
        moving: None,
        asm: Assembler::new(level),
        pool: Vec::new(),
        spilled: 0,
        loops: 0,
    };
    let pointers = nest.look(&kernel.body)?;
    let saved = saved(pointers.min(MOST_STREAMS));
    let open = nest.enter(saved);
    match kernel.body.stmts.as_slice() {
        [Stmt::Each { var, extent, body }] => nest.each(*var, Iterated::Given(*extent), body)?,
        _ => nest.region(&kernel.body, &[])?,
    }
    (nest.loops > 0).then_some(())?;
    nest.leave(saved, open)
}

impl<'k> Nest<'k> {
    /// Notes constants and uses; returns the most registers for pointers that something takes, `None` if there is
    /// something that is no loop.
    fn look(&mut self, region: &Region) -> Option<usize> {
        let mut most = moving::registers(region).unwrap_or(0);
        let mut accesses = 0;
        for value in &region.yields {
            self.uses[value.0 as usize] += 1;
        }
        for stmt in &region.stmts {
            match stmt {
                Stmt::Op { out, op, args } => {
                    if let Op::Const(literal) = op {
                        self.constants.insert(*out, literal.bits() as u64);
                    }
                    args.iter().for_each(|arg| self.uses[arg.0 as usize] += 1);
                }
                Stmt::Load { index, .. } => {
                    accesses += 1;
                    index.terms.iter().for_each(|(value, _)| self.uses[value.0 as usize] += 1);
                }
                Stmt::Store { index, value, .. } => {
                    accesses += 1;
                    self.uses[value.0 as usize] += 1;
                    index.terms.iter().for_each(|(value, _)| self.uses[value.0 as usize] += 1);
                }
                Stmt::Each { body, .. } | Stmt::Reduce { body, .. } => most = most.max(self.look(body)?),
                Stmt::For { body, carries, .. } if carries.is_empty() => most = most.max(self.look(body)?),
                _ => return None,
            }
        }
        Some(most.max(accesses))
    }

    /// The way in. What is known only at the end is left open.
    fn enter(&mut self, saved: &[General]) -> Open {
        let asm = &mut self.asm;
        saved.iter().for_each(|&register| asm.push(register));
        self.frame.touch(asm);
        asm.load(RAX, Place::Register(RDI));
        asm.subtract_const(RSP, 0);
        let frame = asm.bytes.len();
        asm.load(BLOCK, Place::Register(RSP));
        asm.add_const(BLOCK, Frame::ALIGN - 1);
        asm.and_const(BLOCK, -Frame::ALIGN);
        asm.subtract_const(RSP, 0);
        let below = asm.bytes.len();
        asm.store(RAX, self.frame.buffers());
        asm.store(RSI, self.frame.sizes());
        asm.store(RDX, self.frame.start());
        asm.store(RCX, self.frame.end());
        let prepare = asm.jump(None);
        Open { frame, below, prepare, go_on: asm.bytes.len() }
    }

    /// The way out, and the bytes.
    fn leave(mut self, saved: &[General], open: Open) -> Option<LeafCode> {
        let (asm, spilled) = (&mut self.asm, 64 * self.spilled as i32);
        if self.frame.beside_locals() + spilled > MOST_STACK {
            return None;
        }
        asm.zero_upper();
        asm.patch(open.frame, self.frame.bytes());
        asm.patch(open.below, spilled);
        asm.add_const(RSP, self.frame.bytes() + spilled);
        saved.iter().rev().for_each(|&register| asm.pop(register));
        asm.load_const(RAX, 0);
        asm.ret();
        if self.frame.numbers().is_empty() {
            asm.forget(open.prepare);
        } else {
            asm.land(open.prepare);
            self.prepare()?;
            self.asm.jump_back(None, open.go_on);
        }
        let (bytes, instructions) = self.asm.finish(&self.pool);
        Some(LeafCode { bytes, instructions })
    }

    /// The statements of a region, but for those that were done before.
    pub(crate) fn region(&mut self, region: &'k Region, hoisted: &[bool]) -> Option<()> {
        let mut straight: Vec<&Stmt> = Vec::new();
        let mut apart = None;
        for (at, stmt) in region.stmts.iter().enumerate() {
            if hoisted.get(at) == Some(&true) {
                continue;
            }
            if matches!(stmt, Stmt::Op { .. } | Stmt::Load { .. } | Stmt::Store { .. }) {
                straight.push(stmt);
                continue;
            }
            self.straight(&std::mem::take(&mut straight), apart.take())?;
            match stmt {
                Stmt::Each { var, extent, body } => self.each(*var, Iterated::All(*extent), body)?,
                // Elements one after the other are scalars, which Cranelift is for.
                Stmt::For { body, .. } if is_straight(body) => return None,
                Stmt::For { var, extent, body, .. } => {
                    let iterations = Iterations::InOrder;
                    let hoisted = invariant(self.kernel, body, &[*var], iterations);
                    let iterated = Iterated::All(*extent);
                    self.counted(Around {
                        var: *var,
                        iterated,
                        region: body,
                        hoisted: &hoisted,
                        iterations,
                    })?;
                }
                Stmt::Reduce { .. } => apart = Some(self.reduce(stmt)?),
                _ => return None,
            }
        }
        self.straight(&straight, apart)
    }

    fn each(&mut self, var: Value, iterated: Iterated, region: &'k Region) -> Option<()> {
        let iterations = Iterations::Independent;
        let hoisted = invariant(self.kernel, region, &[var], iterations);
        if is_straight(region) {
            return self.map(var, iterated, region, &hoisted);
        }
        // Several iterations at a time are Cranelift's.
        if plan(self.kernel, self.target.features(), var, region, &hoisted).is_some() {
            return None;
        }
        self.counted(Around { var, iterated, region, hoisted: &hoisted, iterations })
    }

    fn counted(&mut self, around: Around<'k, '_>) -> Option<()> {
        let Around { var, iterated, region, hoisted, .. } = around;
        let none = self.unless_any(iterated)?;
        self.straight(&done_before(region, hoisted), None)?;
        if moving::registers(region).is_some() {
            self.moving_loop(around)?;
            none.into_iter().for_each(|jump| self.asm.land(jump));
            return Some(());
        }
        let counter = self.frame.home(var);
        match iterated {
            Iterated::Given(_) => self.asm.load(RAX, self.frame.start()),
            Iterated::All(_) => self.asm.load_const(RAX, 0),
        }
        self.asm.store(RAX, counter);
        let again = self.asm.bytes.len();
        self.region(region, hoisted)?;
        self.asm.load(RAX, counter);
        self.asm.add_const(RAX, 1);
        self.asm.store(RAX, counter);
        self.compare_with_end(RAX, iterated)?;
        self.asm.jump_back(Some(When::Less), again);
        none.into_iter().for_each(|jump| self.asm.land(jump));
        Some(())
    }

    /// An innermost loop that sums up nothing.
    fn map(&mut self, var: Value, iterated: Iterated, region: &'k Region, hoisted: &[bool]) -> Option<()> {
        let extent = match iterated {
            Iterated::Given(_) => None,
            Iterated::All(extent) => Some(extent),
        };
        self.is_long(extent)?;
        let none = self.unless_any(iterated)?;
        self.straight(&done_before(region, hoisted), None)?;
        let laned = laned(self.kernel, var, region);
        let mut body = Body::new(self.kernel, self.level, var, region, hoisted, &laned)?;
        let stored = match iterated {
            Iterated::Given(_) => body.stored().unwrap_or_default(),
            Iterated::All(_) => Vec::new(),
        };
        let (kernel, level, broken) = (self.kernel, self.level, self.broken);
        let literal = |value: Value| self.constants.get(&value).copied();
        let maps = Maps { kernel, level, extent, broken, literal: &literal };
        let leaf = maps.leaf(&mut body, &stored)?;
        let short = if body.assume() { maps.leaf(&mut body, &stored) } else { None };
        let handed = self.hand_over(&body.numbers, &body.streams, Some(&body))?;
        let count = match iterated {
            Iterated::All(Size::Const(n)) if short.is_none() && n <= MOST_KNOWN => Some(n),
            Iterated::All(extent) => {
                self.size(RDX, extent)?;
                self.asm.load_const(RAX, 0);
                None
            }
            Iterated::Given(_) => {
                self.asm.load(RAX, self.frame.start());
                self.asm.load(RDX, self.frame.end());
                self.asm.subtract(RDX, RAX);
                None
            }
        };
        let loops = |nest: &mut Nest<'k>| match &short {
            Some(short) => nest.short_or_long(short, &leaf, &handed),
            None => {
                nest.inline(&leaf, &handed, count);
            }
        };
        let is_past = |leaf: &Leaf| leaf.loops.iter().any(|each| !each.masked);
        match iterated {
            Iterated::Given(extent) if is_past(short.as_ref().unwrap_or(&leaf)) => {
                self.past_or_not(&stored, extent, &handed.pointers, loops)?;
            }
            _ => loops(self),
        }
        none.into_iter().for_each(|jump| self.asm.land(jump));
        self.loops += 1;
        Some(())
    }

    /// An innermost loop that sums up; returns what is left to do with its lanes.
    fn reduce(&mut self, stmt: &'k Stmt) -> Option<Apart> {
        let reduction = Reduction::new(self.kernel, stmt)?;
        let extent = reduction.extent;
        self.is_long(Some(extent))?;
        let none = self.unless_any(Iterated::All(extent))?;
        self.straight(&done_before(reduction.region, &reduction.hoisted), None)?;
        let (body, leaf, apart) = self.summed_up(&reduction)?;
        let handed = self.hand_over(&body.numbers, &body.streams, Some(&body))?;
        // Without iterations accumulators are what they start from.
        none.into_iter().for_each(|jump| self.asm.land(jump));
        let count = match extent {
            Size::Const(n) if n <= MOST_KNOWN => Some(n),
            _ => {
                self.size(RDX, extent)?;
                self.asm.load_const(RAX, 0);
                None
            }
        };
        let has_values = self.inline(&leaf, &handed, count);
        self.loops += 1;
        Some(Apart { has_values, ..apart })
    }

    /// Whether a loop fills a vector.
    fn is_long(&self, extent: Option<Size>) -> Option<()> {
        (!matches!(extent, Some(Size::Const(n)) if n < self.level.lanes() as i64)).then_some(())
    }

    /// Statements one after the other, in parts: an address may be made from values that are at home. Sums whose lanes
    /// are apart become one before.
    fn straight(&mut self, stmts: &[&Stmt], mut apart: Option<Apart>) -> Option<()> {
        if stmts.len() > LIMIT {
            return None;
        }
        // A bool is a mask to an operation, and a vector to a sum: on its way home it becomes the one from the other.
        if let Some(bools) =
            apart.take_if(|apart| apart.accumulators.iter().any(|(_, dtype)| dtype.is_bool()))
        {
            self.stretch(&[], &bools.outs.clone(), Some(bools))?;
        }
        let mut rest = stmts;
        while !rest.is_empty() || apart.is_some() {
            let mut inside: Vec<Value> = apart.iter().flat_map(|apart| apart.outs.iter().copied()).collect();
            let end = rest.iter().position(|stmt| {
                let is_made_here = |value: &Value| inside.contains(value);
                match stmt {
                    Stmt::Load { index, .. } | Stmt::Store { index, .. }
                        if index.terms.iter().any(|(value, _)| is_made_here(value)) =>
                    {
                        return true;
                    }
                    Stmt::Op { op: Op::Const(_), .. } => {}
                    Stmt::Op { out, .. } | Stmt::Load { out, .. } => inside.push(*out),
                    _ => {}
                }
                false
            });
            let (now, later) = rest.split_at(end.unwrap_or(rest.len()));
            self.stretch(now, &inside, apart.take())?;
            rest = later;
        }
        Some(())
    }

    /// Statements in the lowest lanes; those of their values that others use go home.
    fn stretch(&mut self, stmts: &[&Stmt], made: &[Value], apart: Option<Apart>) -> Option<()> {
        let mut inside: FxHashMap<Value, u32> = FxHashMap::default();
        for stmt in stmts {
            match stmt {
                Stmt::Op { args, .. } => args.iter().for_each(|arg| *inside.entry(*arg).or_default() += 1),
                Stmt::Store { value, .. } => *inside.entry(*value).or_default() += 1,
                _ => {}
            }
        }
        let is_handed_on =
            |value: &&Value| self.uses[value.0 as usize] > inside.get(*value).copied().unwrap_or_default();
        let handed_on: Vec<Value> = made.iter().filter(is_handed_on).copied().collect();
        let homes: Vec<(Value, i32)> =
            handed_on.into_iter().map(|value| (value, self.frame.home_at(value))).collect();
        let literal = |value: Value| self.constants.get(&value).copied();
        let mut stretch = Stretch {
            kernel: self.kernel,
            level: self.level,
            literal: &literal,
            streams: Vec::new(),
            numbers: Vec::new(),
            steadies: Steadies::default(),
            second_row: None,
        };
        let line = stretch.line(stmts, &homes, apart.as_ref())?;
        let Stretch { streams, numbers, steadies, .. } = stretch;
        if streams.len() > MOST_STREAMS {
            return None;
        }
        let handed = self.hand_over(&numbers, &streams, None)?;
        self.line(&line, &steadies, &handed);
        Some(())
    }

    /// A line that is done once. Its first pointer is that to the frame.
    pub(crate) fn line(&mut self, line: &Line, steadies: &Steadies, handed: &Handed) {
        if line.insts.is_empty() {
            return;
        }
        let slot = |number: u32| handed.slots[number as usize];
        let places = places(self.level, steadies, &mut self.pool, &slot);
        let pointers: Vec<General> = [BLOCK].into_iter().chain(handed.pointers.iter().copied()).collect();
        // One lane is meant: the first of what has two parts.
        let around = Surroundings {
            level: self.level,
            steadies,
            places: &places,
            streams: &pointers,
            taken_masks: 0,
            far: false,
            is_loop: false,
        };
        once(&mut self.asm, line, 1, &around, &mut self.spilled);
    }

    /// The loops of a function, in place; for how many iterations, if that is known. Returns whether sums may be `-0.0`
    /// that are not.
    fn inline(&mut self, leaf: &Leaf, handed: &Handed, count: Option<i64>) -> bool {
        let slot = |number: u32| handed.slots[number as usize];
        let within = Within { streams: &handed.pointers, slot: &slot, count };
        leaf.inline(&mut self.asm, &mut self.pool, &mut self.spilled, &within)
    }

    /// The loops of a function that leaves before a turn that it was not made for; such a turn is for the other.
    fn short_or_long(&mut self, short: &Leaf, long: &Leaf, handed: &Handed) {
        let lanes = self.level.lanes() as i32;
        let left = self.frame.slot();
        let again = self.asm.bytes.len();
        self.inline(short, handed, None);
        let leaving = std::mem::take(&mut self.asm.leaving);
        let done = self.asm.jump(None);
        leaving.into_iter().for_each(|jump| self.asm.land(jump));
        self.asm.store(RDX, left);
        self.asm.compare_const(RDX, lanes);
        let last = self.asm.jump(Some(When::NotGreater));
        self.asm.load_const(RDX, lanes);
        self.asm.land(last);
        self.inline(long, handed, None);
        self.asm.load(RDX, left);
        self.asm.subtract_const(RDX, lanes);
        self.asm.jump_back(Some(When::Greater), again);
        self.asm.land(done);
    }

    /// Loops, or a copy of them that stores past caches where that is better.
    fn past_or_not(
        &mut self,
        stored: &[Stored],
        extent: Size,
        pointers: &[General],
        loops: impl Fn(&mut Nest<'k>),
    ) -> Option<()> {
        if stored.is_empty() || matches!(extent, Size::Const(n) if n < MANY) {
            loops(self);
            return Some(());
        }
        self.size(RSI, extent)?;
        self.asm.compare_const(RSI, MANY as i32);
        let mut common: Vec<Jump> = vec![self.asm.jump(Some(When::Less))];
        for to in stored {
            self.asm.multiply_const(RSI, RAX, to.size as i32);
            self.asm.add(RSI, pointers[to.stream]);
            self.asm.test_const(RSI, self.level.bytes() as i32 - 1);
            common.push(self.asm.jump(Some(When::NotZero)));
            for other in (0..pointers.len()).filter(|other| *other != to.stream) {
                self.asm.compare(pointers[to.stream], Place::Register(pointers[other]));
                common.push(self.asm.jump(Some(When::Zero)));
            }
        }
        let before = self.asm.stores.len();
        loops(self);
        for opcode in self.asm.stores.drain(before..) {
            self.asm.bytes[opcode] = STORE_UNCACHED;
        }
        // Whoever is told that this is done must see what was stored.
        self.asm.fence();
        let after = self.asm.jump(None);
        common.into_iter().for_each(|jump| self.asm.land(jump));
        loops(self);
        self.asm.land(after);
        Some(())
    }
}

/// The statements of a loop that are done before it.
fn done_before<'k>(region: &'k Region, hoisted: &[bool]) -> Vec<&'k Stmt> {
    region.stmts.iter().zip(hoisted).filter(|(_, hoisted)| **hoisted).map(|(stmt, _)| stmt).collect()
}
