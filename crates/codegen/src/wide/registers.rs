//! From a line of instructions to bytes: registers are given out as the line is walked.
//!
//! What is steady stays in registers as far as they go, most used first; the rest is taken from memory where it
//! is needed. Where registers run out, the value whose next use is furthest goes to the stack.

use smallvec::SmallVec;

use super::Level;
use super::ahead::{Ahead, is_load};
use super::encode::{Assembler, General, Operands, Place, RAX, RDI, RSI, RSP, When};
use super::inst::{Class, Form, Inst, Lanes, Line, Memory, Reg, Src, Steadies, Steady, SteadyId};
use super::opcode::{
    BROADCAST, BROADCAST_WIDE_VEX, FMA_132, FMA_213, FMA_231, Kind, LOAD, MASK_MOVE, MASK_STORE, MASK_TEST,
    MASK_XNOR, MOVE, MOVQ, Opcode, SPLAT_LOWEST, STORE, XOR,
};

/// Bytes of a place on the stack.
const SLOT: i32 = 64;

/// Where everything outside of a line is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) level: Level,
    pub(crate) steadies: &'a Steadies,
    /// Where each steady thing is in memory.
    pub(crate) places: &'a [Place],
    /// The register of each pointer.
    pub(crate) streams: &'a [General],
    /// Mask registers that hold which lanes are iterations.
    pub(crate) taken_masks: u8,
    /// Whether arrays are walked far.
    pub(crate) far: bool,
    /// Whether the line is done more than once.
    pub(crate) is_loop: bool,
}

/// The registers of one class.
#[derive(Debug)]
struct File {
    holder: Vec<Option<Reg>>,
    /// Registers that may be given out.
    usable: u32,
}

impl File {
    fn new(count: usize, usable: u32) -> File {
        File { holder: vec![None; count], usable }
    }

    fn is_usable(&self, register: u8) -> bool {
        self.usable >> register & 1 == 1
    }

    fn free(&self, locked: u32) -> Option<u8> {
        (0..self.holder.len() as u8).find(|&register| {
            self.is_usable(register)
                && locked >> register & 1 == 0
                && self.holder[usize::from(register)].is_none()
        })
    }
}

/// A line on its way to bytes.
pub(crate) struct Allocation<'a> {
    around: &'a Surroundings<'a>,
    asm: &'a mut Assembler,
    line: &'a Line,
    /// Where each register is read, in order, and how many of these are behind us.
    uses: Vec<SmallVec<[u32; 4]>>,
    done: Vec<u32>,
    register: Vec<Option<u8>>,
    slot: Vec<Option<u32>>,
    /// The register of each steady thing that has one.
    resident: Vec<Option<u8>>,
    vectors: File,
    masks: File,
    ahead: Ahead,
    /// Loads that are no instructions of their own: each is the last operand of the one that needs it.
    operands: Vec<Option<&'a Inst>>,
    /// Places on the stack that are taken, and the most that any line of the function takes.
    spilled: u32,
    slots: &'a mut u32,
}

impl<'a> Allocation<'a> {
    /// Decides what stays in registers and brings it there.
    pub(crate) fn new(
        around: &'a Surroundings<'a>,
        asm: &'a mut Assembler,
        line: &'a Line,
        slots: &'a mut u32,
    ) -> Allocation<'a> {
        let count = line.classes.len();
        let mut uses = vec![SmallVec::<[u32; 4]>::new(); count];
        let mut steady_uses = vec![0u32; around.steadies.all.len()];
        for (at, inst) in line.insts.iter().enumerate() {
            for src in inst.reads() {
                match src {
                    Src::Reg(reg) => uses[reg.0 as usize].push(at as u32),
                    Src::Steady(id) => steady_uses[id.0 as usize] += 1,
                }
            }
        }
        let registers = around.level.registers();
        let mask_registers = 0xff & !1 & !u32::from(around.taken_masks);
        let mut allocation = Allocation {
            around,
            asm,
            line,
            done: vec![0; count],
            register: vec![None; count],
            slot: vec![None; count],
            resident: vec![None; around.steadies.all.len()],
            vectors: File::new(registers, u32::MAX >> (32 - registers)),
            masks: File::new(8, mask_registers),
            ahead: Ahead::new(line, around.far),
            operands: operands(line, &uses),
            uses,
            spilled: 0,
            slots,
        };
        // Accumulators are in the first registers throughout.
        for number in 0..line.accumulators {
            allocation.register[number] = Some(number as u8);
            allocation.vectors.usable &= !(1 << number);
        }
        allocation.settle(&steady_uses);
        allocation
    }

    /// Keeps in registers what is steady, as far as the line leaves room.
    fn settle(&mut self, steady_uses: &[u32]) {
        let mut wanted: Vec<u32> = (0..steady_uses.len() as u32).collect();
        // What is used once, and that once, needs no register of its own.
        let least = if self.around.is_loop { 1 } else { 2 };
        wanted.retain(|&id| steady_uses[id as usize] >= least);
        // Room for operands that are brought in for one instruction.
        let room = self.around.level.registers() as i64 - self.line.accumulators as i64;
        let mut room = usize::try_from(room - self.pressure() as i64).unwrap_or(0);
        if wanted.len() > room {
            room = room.saturating_sub(2);
            wanted.sort_by_key(|&id| std::cmp::Reverse(steady_uses[id as usize]));
            wanted.truncate(room);
        }
        for (k, id) in wanted.into_iter().enumerate() {
            let register = (self.around.level.registers() - 1 - k) as u8;
            self.vectors.usable &= !(1 << register);
            self.resident[id as usize] = Some(register);
            self.bring_steady(SteadyId(id), register);
        }
    }

    /// The most vectors that are alive at once, accumulators apart.
    fn pressure(&self) -> usize {
        let mut alive = 0usize;
        let mut most = 0;
        let is_vector =
            |reg: Reg| self.line.class(reg) == Class::Vector && reg.0 as usize >= self.line.accumulators;
        for (at, inst) in self.line.insts.iter().enumerate() {
            let is_operand = |reg: Reg| self.operands[reg.0 as usize].is_some();
            if inst.out.is_some_and(is_operand) {
                continue;
            }
            alive += usize::from(inst.out.is_some_and(is_vector));
            most = most.max(alive);
            let mut ended: SmallVec<[Reg; 4]> = SmallVec::new();
            for src in inst.reads() {
                if let Src::Reg(reg) = src
                    && is_vector(reg)
                    && !is_operand(reg)
                    && self.uses[reg.0 as usize].last() == Some(&(at as u32))
                    && !ended.contains(&reg)
                {
                    ended.push(reg);
                }
            }
            alive -= ended.len();
            if let Some(out) = inst.out
                && is_vector(out)
                && self.uses[out.0 as usize].is_empty()
            {
                alive -= 1;
            }
        }
        most
    }

    /// Something else between what is brought into registers and the line.
    pub(crate) fn before<T>(self, code: impl FnOnce(&mut Assembler) -> T) -> (Self, T) {
        let result = code(self.asm);
        (self, result)
    }

    /// All instructions of the line; returns where it starts.
    pub(crate) fn run(mut self) -> usize {
        let start = self.asm.bytes.len();
        let line = self.line;
        for inst in &line.insts {
            self.inst(inst);
        }
        start
    }

    fn inst(&mut self, inst: &Inst) {
        let is_operand = |reg: Reg| self.operands[reg.0 as usize].is_some();
        if inst.out.is_some_and(is_operand) {
            return;
        }
        // Registers of this instruction that must stay what they are.
        let mut locked = Locked::default();
        for src in inst.reads() {
            if let Src::Reg(reg) = src
                && self.operands[reg.0 as usize].is_none()
            {
                self.bring(reg, &mut locked);
            }
        }
        match inst.form {
            Form::Fma => self.fma(inst, locked),
            Form::Tied => self.tied(inst, locked),
            Form::Gather => self.gather(inst, locked),
            Form::Scatter => self.scatter(inst, locked),
            Form::Leave => self.leave(inst),
            _ => self.plain(inst, locked),
        }
    }

    fn plain(&mut self, inst: &Inst, mut locked: Locked) {
        let (mask, zeroing) = self.mask_of(inst.lanes);
        // Lanes that are no iterations are not read from memory: they are zero, so that they cost nothing odd.
        let zeroing = zeroing || (inst.form == Form::Load && mask != 0);
        let last = match inst.form {
            Form::Two => Some(1),
            Form::One | Form::Digit(_) => Some(0),
            _ => None,
        };
        // An operand from memory, if it is the one that may be.
        let mut repeated = false;
        let mut loaded = None;
        let mut places: SmallVec<[Place; 3]> = SmallVec::new();
        for (k, &src) in inst.srcs.iter().enumerate() {
            let folds = last == Some(k) && self.folds(inst.op, src);
            places.push(match src {
                Src::Reg(reg) if self.operands[reg.0 as usize].is_some() => {
                    loaded = self.operands[reg.0 as usize];
                    self.address(loaded.and_then(|load| load.memory))
                }
                Src::Reg(reg) => Place::Register(self.held(reg)),
                Src::Steady(id) if folds => {
                    repeated = self.around.steadies.all[id.0 as usize].element().is_some();
                    self.around.places[id.0 as usize]
                }
                Src::Steady(id) => Place::Register(self.steady(id, &mut locked)),
            });
        }
        self.pass(inst);
        let out = inst.out.map_or(0, |out| self.define(out, locked));
        let register = |place: &Place| if let Place::Register(register) = *place { register } else { 0 };
        let (reg, first, place) = match inst.form {
            Form::Two => (out, register(&places[0]), places[1]),
            Form::One => (out, 0, places[0]),
            Form::Digit(digit) => (digit, out, places[0]),
            Form::Down => (register(&places[0]), 0, Place::Register(out)),
            Form::Choose => (out, register(&places[0]), places[1]),
            Form::Load => (out, 0, self.address(inst.memory)),
            Form::Store => (register(&places[0]), 0, self.address(inst.memory)),
            Form::Variable => (out, 0, Place::Register(RAX)),
            Form::Fma | Form::Tied | Form::Gather | Form::Scatter | Form::Leave => {
                unreachable!("has a function of its own")
            }
        };
        let constant =
            if inst.form == Form::Choose { Some(register(&places[2]) << 4) } else { inst.constant };
        let operands = Operands { mask, zeroing, repeated, constant, ..Operands::new(reg, first, place) };
        if inst.form == Form::Variable && self.around.level == Level::Avx2 {
            // A general register goes to the lowest lane first.
            self.short_move(out);
            let splat = Operands::new(out, 0, Place::Register(out));
            self.asm.vector(SPLAT_LOWEST, &splat);
            return;
        }
        let is_whole = inst.form == Form::Store && inst.lanes == Lanes::All;
        if is_whole && [STORE.of(false), STORE.of(true)].contains(&inst.op) {
            return self.asm.marked_store(inst.op, &operands);
        }
        self.asm.vector(inst.op, &operands);
        let load = loaded.unwrap_or(inst);
        if let (Some(distance), Place::Memory(base, index, offset)) = (self.ahead.of(load), place) {
            self.asm.prefetch(Place::Memory(base, index, offset + distance));
        }
    }

    /// The loop variable to the lowest lane of a vector of 128 bits.
    fn short_move(&mut self, out: u8) {
        let op = Opcode { kind: Kind::Masks(false), ..MOVQ };
        self.asm.vector(op, &Operands::new(out, 0, Place::Register(RAX)));
    }

    /// `a * b + c`, in the place of one that is not needed any more.
    fn fma(&mut self, inst: &Inst, mut locked: Locked) {
        let (mut a, mut b, c) = (inst.srcs[0], inst.srcs[1], inst.srcs[2]);
        let ends = |this: &Self, src: Src| matches!(src, Src::Reg(reg) if this.is_last(inst, reg));
        let wide = inst.op.w;
        // The operand from memory is the last: one that is steady and has no register.
        if !ends(self, c) && !ends(self, a) && ends(self, b) {
            (a, b) = (b, a);
        }
        let out = inst.out.expect("a sum has a result");
        if !ends(self, c) && ends(self, a) {
            let target = self.register_of(a, &mut locked);
            let (byte, first, last) = match (self.folds(inst.op, b), self.folds(inst.op, c)) {
                (true, false) => (inst.op.byte ^ FMA_231.of(wide).byte | FMA_132.of(wide).byte, c, b),
                _ => (inst.op.byte ^ FMA_231.of(wide).byte | FMA_213.of(wide).byte, b, c),
            };
            let first = self.register_of(first, &mut locked);
            let (place, repeated) = self.last_place(inst.op, last, &mut locked);
            self.pass(inst);
            self.take(out, target);
            let operands = Operands { repeated, ..Operands::new(target, first, place) };
            self.asm.vector(Opcode { byte, ..inst.op }, &operands);
            return;
        }
        if self.folds(inst.op, a) && !self.folds(inst.op, b) {
            (a, b) = (b, a);
        }
        let first = self.register_of(a, &mut locked);
        let (place, repeated) = self.last_place(inst.op, b, &mut locked);
        let target = if ends(self, c) {
            let target = self.register_of(c, &mut locked);
            self.pass(inst);
            target
        } else {
            let target = self.spare(Class::Vector, &mut locked);
            self.copy_to(c, target);
            self.pass(inst);
            target
        };
        self.take(out, target);
        let operands = Operands { repeated, ..Operands::new(target, first, place) };
        self.asm.vector(inst.op, &operands);
    }

    /// An instruction that replaces its first operand.
    fn tied(&mut self, inst: &Inst, mut locked: Locked) {
        let (mask, zeroing) = self.mask_of(inst.lanes);
        let first = self.register_of(inst.srcs[1], &mut locked);
        let (last, repeated) = self.last_place(inst.op, inst.srcs[2], &mut locked);
        let out = inst.out.expect("it replaces something");
        let target = match inst.srcs[0] {
            Src::Reg(reg) if reg == out || self.is_last(inst, reg) => self.held(reg),
            src => {
                let target = self.spare(Class::Vector, &mut locked);
                self.copy_to(src, target);
                target
            }
        };
        self.pass(inst);
        self.take(out, target);
        let operands = Operands {
            mask,
            zeroing,
            repeated,
            constant: inst.constant,
            ..Operands::new(target, first, last)
        };
        // A move under a mask has one operand.
        let operands =
            if inst.op == MOVE.of(inst.op.w) { Operands { first: 0, ..operands } } else { operands };
        self.asm.vector(inst.op, &operands);
    }

    /// Lanes from addresses: the mask is used up, and the result is no operand.
    fn gather(&mut self, inst: &Inst, mut locked: Locked) {
        let index = self.register_of(inst.srcs[0], &mut locked);
        let mask = self.mask_to_spoil(inst, &mut locked);
        let place = self.places_of_lanes(inst, index);
        let out = self.spare(Class::Vector, &mut locked);
        // Lanes that are no iterations are zero, and nothing waits for what was here before.
        self.asm.vector(XOR.of(false), &Operands::new(out, out, Place::Register(out)));
        self.pass(inst);
        self.take(inst.out.expect("a gather has a result"), out);
        self.asm.vector(inst.op, &Operands { mask, ..Operands::new(out, 0, place) });
    }

    /// Lanes to addresses: the mask is used up.
    fn scatter(&mut self, inst: &Inst, mut locked: Locked) {
        let index = self.register_of(inst.srcs[0], &mut locked);
        let value = self.register_of(inst.srcs[1], &mut locked);
        let mask = self.mask_to_spoil(inst, &mut locked);
        let place = self.places_of_lanes(inst, index);
        self.pass(inst);
        self.asm.vector(inst.op, &Operands { mask, ..Operands::new(value, 0, place) });
    }

    /// The end of the function, if a mask has a lane.
    fn leave(&mut self, inst: &Inst) {
        let Src::Reg(mask) = inst.srcs[0] else { unreachable!("a mask is in a register") };
        let mask = self.held(mask);
        self.pass(inst);
        self.asm.vector(MASK_TEST, &Operands::new(mask, 0, Place::Register(mask)));
        let jump = self.asm.jump(Some(When::NotZero));
        self.asm.leaving.push(jump);
    }

    /// A copy of the mask of an instruction, of which nothing is left after it.
    fn mask_to_spoil(&mut self, inst: &Inst, locked: &mut Locked) -> u8 {
        let mask = self.spare(Class::Mask, locked);
        let from = self.mask_of(inst.lanes).0;
        if from == 0 {
            self.asm.vector(MASK_XNOR, &Operands::new(mask, mask, Place::Register(mask)));
        } else {
            self.asm.vector(MASK_MOVE, &Operands::new(mask, 0, Place::Register(from)));
        }
        mask
    }

    /// An address for each lane of an index.
    fn places_of_lanes(&mut self, inst: &Inst, index: u8) -> Place {
        let memory = inst.memory.expect("lanes are from or to memory");
        let base = self.moving_base(memory);
        Place::Memory(base, Some((index, inst.constant.unwrap_or(0))), memory.offset)
    }

    /// A pointer plus the loop variable times any factor.
    fn moving_base(&mut self, memory: Memory) -> General {
        let stream = self.around.streams[memory.stream as usize];
        if memory.scale == 0 {
            return stream;
        }
        self.asm.multiply_const(RSI, RAX, i32::try_from(memory.scale).expect("the loop was chosen for that"));
        self.asm.add(RSI, stream);
        RSI
    }

    fn address(&mut self, memory: Option<Memory>) -> Place {
        let memory = memory.expect("a load or a store is to memory");
        if !matches!(memory.scale, 1 | 2 | 4 | 8) {
            return Place::Memory(self.moving_base(memory), None, memory.offset);
        }
        let scale = memory.scale.trailing_zeros() as u8;
        Place::Memory(self.around.streams[memory.stream as usize], Some((RAX, scale)), memory.offset)
    }

    fn mask_of(&self, lanes: Lanes) -> (u8, bool) {
        match lanes {
            Lanes::All => (0, false),
            Lanes::Iterations(mask) => (mask, false),
            Lanes::Masked(reg) => (self.held(reg), false),
            Lanes::Kept(reg) => (self.held(reg), true),
        }
    }

    /// Whether an operand is taken from memory, as the last one of an instruction.
    fn folds(&self, op: Opcode, src: Src) -> bool {
        let Src::Steady(id) = src else { return false };
        let steady = self.around.steadies.all[id.0 as usize];
        let fits = match op.kind {
            Kind::Vectors(element) => steady.element().is_none_or(|size| size == element),
            _ => false,
        };
        fits && self.around.level == Level::Avx512 && self.resident[id.0 as usize].is_none()
    }

    fn last_place(&mut self, op: Opcode, src: Src, locked: &mut Locked) -> (Place, bool) {
        match src {
            Src::Steady(id) if self.folds(op, src) => {
                let repeated = self.around.steadies.all[id.0 as usize].element().is_some();
                (self.around.places[id.0 as usize], repeated)
            }
            _ => (Place::Register(self.register_of(src, locked)), false),
        }
    }

    /// The register of an operand, brought there if it is steady.
    fn register_of(&mut self, src: Src, locked: &mut Locked) -> u8 {
        match src {
            Src::Reg(reg) => self.held(reg),
            Src::Steady(id) => self.steady(id, locked),
        }
    }

    fn steady(&mut self, id: SteadyId, locked: &mut Locked) -> u8 {
        if let Some(register) = self.resident[id.0 as usize] {
            return register;
        }
        let register = self.spare(Class::Vector, locked);
        self.bring_steady(id, register);
        register
    }

    fn bring_steady(&mut self, id: SteadyId, register: u8) {
        let op = match (self.around.steadies.all[id.0 as usize], self.around.level) {
            (Steady::Bits32(_) | Steady::Slot32(_), _) => BROADCAST.of(false),
            (Steady::Bits64(_) | Steady::Slot64(_), Level::Avx512) => BROADCAST.of(true),
            (Steady::Bits64(_) | Steady::Slot64(_), Level::Avx2) => BROADCAST_WIDE_VEX,
            (Steady::Count64(_) | Steady::Steps32(_) | Steady::Pick { .. }, _) => LOAD.of(false),
        };
        self.asm.vector(op, &Operands::new(register, 0, self.around.places[id.0 as usize]));
    }

    fn copy_to(&mut self, src: Src, target: u8) {
        match src {
            Src::Reg(reg) => {
                let from = self.held(reg);
                self.asm.vector(MOVE.of(false), &Operands::new(target, 0, Place::Register(from)));
            }
            Src::Steady(id) => match self.resident[id.0 as usize] {
                Some(from) => {
                    self.asm.vector(MOVE.of(false), &Operands::new(target, 0, Place::Register(from)));
                }
                None => self.bring_steady(id, target),
            },
        }
    }

    fn held(&self, reg: Reg) -> u8 {
        self.register[reg.0 as usize].expect("operands were brought into registers")
    }

    /// Whether the line reads a register here for the last time.
    fn is_last(&self, inst: &Inst, reg: Reg) -> bool {
        let reads = inst.reads().filter(|&src| src == Src::Reg(reg)).count();
        let number = reg.0 as usize;
        number >= self.line.accumulators && self.done[number] as usize + reads == self.uses[number].len()
    }

    /// The operands of an instruction have been read; those that nobody reads again give their registers back.
    fn pass(&mut self, inst: &Inst) {
        for src in inst.reads() {
            let Src::Reg(reg) = src else { continue };
            let number = reg.0 as usize;
            self.done[number] += 1;
            if number >= self.line.accumulators && self.done[number] as usize == self.uses[number].len() {
                self.release(reg);
            }
        }
    }

    fn release(&mut self, reg: Reg) {
        if let Some(register) = self.register[reg.0 as usize].take() {
            self.file(self.line.class(reg)).holder[usize::from(register)] = None;
        }
    }

    fn file(&mut self, class: Class) -> &mut File {
        match class {
            Class::Vector => &mut self.vectors,
            Class::Mask => &mut self.masks,
        }
    }

    /// A register for a result.
    fn define(&mut self, out: Reg, mut locked: Locked) -> u8 {
        if (out.0 as usize) < self.line.accumulators {
            return self.held(out);
        }
        let class = self.line.class(out);
        // Operands that ended may be replaced; what was brought for this instruction only, too.
        let register = match self.free_for_result(class) {
            Some(register) => register,
            None => self.spare(class, &mut locked),
        };
        self.take(out, register);
        register
    }

    fn free_for_result(&self, class: Class) -> Option<u8> {
        match class {
            Class::Vector => self.vectors.free(0),
            Class::Mask => self.masks.free(0),
        }
    }

    /// From now on a register holds a value, unless nobody will read it.
    fn take(&mut self, out: Reg, register: u8) {
        let number = out.0 as usize;
        if number < self.line.accumulators || self.uses[number].is_empty() {
            return;
        }
        self.register[number] = Some(register);
        let class = self.line.class(out);
        self.file(class).holder[usize::from(register)] = Some(out);
    }

    /// Brings a value that went to the stack back, and keeps it there for this instruction.
    fn bring(&mut self, reg: Reg, locked: &mut Locked) {
        let class = self.line.class(reg);
        if let Some(register) = self.register[reg.0 as usize] {
            locked.add(class, register);
            return;
        }
        let slot = self.slot[reg.0 as usize].expect("a value without a register is on the stack");
        let register = self.spare(class, locked);
        let place = Place::Memory(RSP, None, slot as i32 * SLOT);
        let op = if class == Class::Vector { LOAD.of(false) } else { MASK_MOVE };
        self.asm.vector(op, &Operands::new(register, 0, place));
        self.take(reg, register);
    }

    /// A register that holds nothing, or no longer does; kept for this instruction.
    fn spare(&mut self, class: Class, locked: &mut Locked) -> u8 {
        let kept = locked.of(class);
        let free = match class {
            Class::Vector => self.vectors.free(kept),
            Class::Mask => self.masks.free(kept),
        };
        let register = free.unwrap_or_else(|| self.evict(class, kept));
        locked.add(class, register);
        register
    }

    /// Sends to the stack what is needed last.
    fn evict(&mut self, class: Class, kept: u32) -> u8 {
        let (uses, done) = (&self.uses, &self.done);
        let file = if class == Class::Vector { &self.vectors } else { &self.masks };
        let held = file.holder.iter().enumerate().filter(|(register, _)| kept >> register & 1 == 0);
        let next = |reg: Reg| uses[reg.0 as usize].get(done[reg.0 as usize] as usize).copied();
        let furthest = held.filter_map(|(register, holder)| holder.map(|reg| (register as u8, reg)));
        let (register, reg) =
            furthest.max_by_key(|&(_, reg)| next(reg)).expect("an instruction has few operands");
        if self.slot[reg.0 as usize].is_none() {
            let slot = self.spilled;
            self.spilled += 1;
            *self.slots = self.spilled.max(*self.slots);
            self.slot[reg.0 as usize] = Some(slot);
            let op = if class == Class::Vector { STORE.of(false) } else { MASK_STORE };
            let place = Place::Memory(RSP, None, slot as i32 * SLOT);
            self.asm.vector(op, &Operands::new(register, 0, place));
        }
        self.release(reg);
        register
    }
}

/// The loads of a line, by their results, that are the last operand of the one instruction that needs them. Nothing may be
/// stored in between, and no more may be read than the load would.
fn operands<'a>(line: &'a Line, uses: &[SmallVec<[u32; 4]>]) -> Vec<Option<&'a Inst>> {
    let mut operands = vec![None; line.classes.len()];
    let mut stored_at = 0;
    for (at, inst) in line.insts.iter().enumerate() {
        if matches!(inst.form, Form::Store | Form::Scatter) {
            stored_at = at;
        }
        let (Form::Two, Kind::Vectors(_), [first, Src::Reg(last)]) =
            (inst.form, inst.op.kind, &inst.srcs[..])
        else {
            continue;
        };
        if *first == Src::Reg(*last)
            || uses[last.0 as usize].len() != 1
            || (last.0 as usize) < line.accumulators
        {
            continue;
        }
        let load = line.insts[stored_at..at].iter().rfind(|load| load.out == Some(*last));
        operands[last.0 as usize] = load.filter(|load| {
            is_load(load)
                && load.lanes == inst.lanes
                && load.memory.is_some_and(|memory| matches!(memory.scale, 0 | 1 | 2 | 4 | 8))
        });
    }
    operands
}

/// Registers that an instruction holds on to.
#[derive(Clone, Copy, Default)]
struct Locked {
    vectors: u32,
    masks: u32,
}

impl Locked {
    fn add(&mut self, class: Class, register: u8) {
        match class {
            Class::Vector => self.vectors |= 1 << register,
            Class::Mask => self.masks |= 1 << register,
        }
    }

    fn of(self, class: Class) -> u32 {
        match class {
            Class::Vector => self.vectors,
            Class::Mask => self.masks,
        }
    }
}

/// Where the block of pointers and numbers is: the caller's, or a frame of our own.
pub(crate) const BLOCK: General = RDI;
