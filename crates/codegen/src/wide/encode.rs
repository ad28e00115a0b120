//! Bytes of instructions: VEX and EVEX for vectors and masks, the few others that a loop needs.

use super::Level;
use super::opcode::{BROADCAST, Kind, LOAD, Opcode, STORE};

/// A general register by its number.
pub(crate) type General = u8;

pub(crate) const RAX: General = 0;
pub(crate) const RCX: General = 1;
pub(crate) const RDX: General = 2;
pub(crate) const RBX: General = 3;
pub(crate) const RSP: General = 4;
pub(crate) const RBP: General = 5;
pub(crate) const RSI: General = 6;
pub(crate) const RDI: General = 7;

/// The operand that may be in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Register(u8),
    /// Base, index register with the logarithm of its factor, and offset.
    Memory(General, Option<(u8, u8)>, i32),
    /// This many bytes into the constants behind the code.
    Pool(usize),
}

/// Operands of a vector or mask instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Operands {
    pub(crate) reg: u8,
    pub(crate) first: u8,
    pub(crate) place: Place,
    /// A mask register, 0 for all lanes.
    pub(crate) mask: u8,
    /// Lanes outside of the mask are zero.
    pub(crate) zeroing: bool,
    /// The place is one element for all lanes.
    pub(crate) repeated: bool,
    pub(crate) constant: Option<u8>,
}

impl Operands {
    pub(crate) fn new(reg: u8, first: u8, place: Place) -> Operands {
        Operands { reg, first, place, mask: 0, zeroing: false, repeated: false, constant: None }
    }
}

/// A jump whose target is not known yet.
#[derive(Debug)]
#[must_use]
pub(crate) struct Jump(usize);

/// Conditions of jumps, after a comparison of signed numbers or the test of bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    Zero = 0x4,
    NotZero = 0x5,
    Less = 0xc,
    NotLess = 0xd,
    NotGreater = 0xe,
    Greater = 0xf,
}

/// Machine code under construction.
#[derive(Debug)]
pub(crate) struct Assembler {
    level: Level,
    pub(crate) bytes: Vec<u8>,
    /// Where a distance to the constants is wanted: its place, the end of its instruction, the constant.
    distances: Vec<(usize, usize, usize)>,
    /// Where the opcodes of stores of whole vectors are, of those that are marked.
    pub(crate) stores: Vec<usize>,
    /// Jumps out of loops, before turns that they were not made for.
    pub(crate) leaving: Vec<Jump>,
}

impl Assembler {
    pub(crate) fn new(level: Level) -> Assembler {
        Assembler {
            level,
            bytes: Vec::with_capacity(1024),
            distances: Vec::new(),
            stores: Vec::new(),
            leaving: Vec::new(),
        }
    }

    /// A vector or mask instruction.
    pub(crate) fn vector(&mut self, op: Opcode, operands: &Operands) {
        match (op.kind, self.level) {
            (Kind::Masks(long), _) => self.vex(op, long, operands),
            (_, Level::Avx2) => self.vex(op, true, operands),
            (_, Level::Avx512) => self.evex(op, operands),
        }
    }

    /// A store of a whole vector, whose opcode somebody may change.
    pub(crate) fn marked_store(&mut self, op: Opcode, operands: &Operands) {
        let start = self.bytes.len();
        self.vector(op, operands);
        // Behind the prefix, which has four bytes.
        if self.level == Level::Avx512 {
            debug_assert_eq!(self.bytes[start + 4], op.byte);
            self.stores.push(start + 4);
        }
    }

    fn vex(&mut self, op: Opcode, long: bool, operands: &Operands) {
        let (x, b) = high_bits(operands.place);
        let [r, x, b] = [operands.reg >> 3 & 1 ^ 1, x & 1 ^ 1, b ^ 1];
        let last = (!operands.first & 15) << 3 | u8::from(long) << 2 | op.prefix;
        if x == 1 && b == 1 && !op.w && op.map == 1 {
            self.bytes.extend([0xc5, r << 7 | last]);
        } else {
            self.bytes.extend([0xc4, r << 7 | x << 6 | b << 5 | op.map, u8::from(op.w) << 7 | last]);
        }
        self.bytes.push(op.byte);
        self.place(operands.reg, operands.place, 1, operands.constant);
    }

    fn evex(&mut self, op: Opcode, operands: &Operands) {
        let (x, b) = high_bits(operands.place);
        // Of a register in the last place the fifth bit stands where that of an index would; an index that is a
        // vector has its own in the place of the first operand's.
        let (x, fifth) = match operands.place {
            Place::Register(register) => (register >> 4 & 1, operands.first >> 4 & 1),
            Place::Memory(_, Some((index, _)), _) => (x, (operands.first | index) >> 4 & 1),
            _ => (x, operands.first >> 4 & 1),
        };
        let reg = operands.reg;
        self.bytes.extend([
            0x62,
            (reg >> 3 & 1 ^ 1) << 7 | (x & 1 ^ 1) << 6 | (b ^ 1) << 5 | (reg >> 4 & 1 ^ 1) << 4 | op.map,
            u8::from(op.w) << 7 | (!operands.first & 15) << 3 | 1 << 2 | op.prefix,
            u8::from(operands.zeroing) << 7
                | (2 - op.halvings) << 5
                | u8::from(operands.repeated) << 4
                | (fifth ^ 1) << 3
                | operands.mask,
            op.byte,
        ]);
        self.place(reg, operands.place, short_step(op, operands.repeated), operands.constant);
    }

    /// The bytes behind the opcode. A short offset counts in units of `step`, 0 where there is none.
    fn place(&mut self, reg: u8, place: Place, step: i32, constant: Option<u8>) {
        let reg = (reg & 7) << 3;
        match place {
            Place::Register(register) => self.bytes.push(0xc0 | reg | register & 7),
            Place::Memory(base, index, offset) => {
                let short = (step != 0 && offset % step == 0).then(|| offset / step);
                let short = short.and_then(|offset| i8::try_from(offset).ok());
                // Without an offset these bases would mean something else.
                let mode = match short {
                    _ if offset == 0 && base & 7 != RBP => 0,
                    _ if offset == 0 => 1,
                    Some(_) => 1,
                    None => 2,
                };
                if index.is_some() || base & 7 == RSP {
                    let (index, scale) = index.unwrap_or((RSP, 0));
                    self.bytes.push(mode << 6 | reg | 4);
                    self.bytes.push(scale << 6 | (index & 7) << 3 | base & 7);
                } else {
                    self.bytes.push(mode << 6 | reg | base & 7);
                }
                match mode {
                    0 => {}
                    1 => self.bytes.push(short.unwrap_or(0) as u8),
                    _ => self.bytes.extend(offset.to_le_bytes()),
                }
            }
            Place::Pool(at) => {
                self.bytes.push(reg | 5);
                let distance = self.bytes.len();
                self.bytes.extend([0; 4]);
                let end = self.bytes.len() + usize::from(constant.is_some());
                self.distances.push((distance, end, at));
            }
        }
        self.bytes.extend(constant);
    }

    /// A general instruction on 64 bits: its opcode, then a register and a place.
    fn general(&mut self, opcode: &[u8], reg: u8, place: Place) {
        let (x, b) = high_bits(place);
        self.bytes.push(0x48 | (reg >> 3 & 1) << 2 | x << 1 | b);
        self.bytes.extend(opcode);
        self.place(reg, place, 1, None);
    }

    pub(crate) fn load(&mut self, to: General, place: Place) {
        self.general(&[0x8b], to, place);
    }

    pub(crate) fn load_const(&mut self, to: General, number: i32) {
        self.general(&[0xc7], 0, Place::Register(to));
        self.bytes.extend(number.to_le_bytes());
    }

    pub(crate) fn store(&mut self, from: General, place: Place) {
        self.general(&[0x89], from, place);
    }

    /// Brings a line of memory into the caches, if there is one.
    pub(crate) fn prefetch(&mut self, place: Place) {
        self.general(&[0x0f, 0x18], 1, place);
    }

    pub(crate) fn add(&mut self, to: General, from: General) {
        self.general(&[0x03], to, Place::Register(from));
    }

    pub(crate) fn subtract(&mut self, to: General, from: General) {
        self.general(&[0x2b], to, Place::Register(from));
    }

    pub(crate) fn add_const(&mut self, to: General, number: i32) {
        self.general(&[0x81], 0, Place::Register(to));
        self.bytes.extend(number.to_le_bytes());
    }

    pub(crate) fn subtract_const(&mut self, to: General, number: i32) {
        self.general(&[0x81], 5, Place::Register(to));
        self.bytes.extend(number.to_le_bytes());
    }

    /// Keeps these bits of a register.
    pub(crate) fn and_const(&mut self, to: General, bits: i32) {
        self.general(&[0x81], 4, Place::Register(to));
        self.bytes.extend(bits.to_le_bytes());
    }

    pub(crate) fn multiply(&mut self, to: General, place: Place) {
        self.general(&[0x0f, 0xaf], to, place);
    }

    pub(crate) fn compare_const(&mut self, a: General, number: i32) {
        self.general(&[0x81], 7, Place::Register(a));
        self.bytes.extend(number.to_le_bytes());
    }

    pub(crate) fn compare(&mut self, a: General, place: Place) {
        self.general(&[0x3b], a, place);
    }

    /// Whether some of these bits are set.
    pub(crate) fn test_const(&mut self, a: General, bits: i32) {
        self.general(&[0xf7], 0, Place::Register(a));
        self.bytes.extend(bits.to_le_bytes());
    }

    pub(crate) fn multiply_const(&mut self, to: General, from: General, number: i32) {
        self.general(&[0x69], to, Place::Register(from));
        self.bytes.extend(number.to_le_bytes());
    }

    pub(crate) fn shift_right(&mut self, register: General, amount: u8) {
        self.general(&[0xc1], 5, Place::Register(register));
        self.bytes.push(amount);
    }

    pub(crate) fn push(&mut self, register: General) {
        if register > 7 {
            self.bytes.push(0x41);
        }
        self.bytes.push(0x50 | register & 7);
    }

    pub(crate) fn pop(&mut self, register: General) {
        if register > 7 {
            self.bytes.push(0x41);
        }
        self.bytes.push(0x58 | register & 7);
    }

    /// The upper parts of all vectors become zero: code that knows only 128 bits is slow otherwise.
    pub(crate) fn zero_upper(&mut self) {
        self.bytes.extend([0xc5, 0xf8, 0x77]);
    }

    pub(crate) fn ret(&mut self) {
        self.bytes.push(0xc3);
    }

    /// Everything that was stored is seen before what is stored after this.
    pub(crate) fn fence(&mut self) {
        self.bytes.extend([0x0f, 0xae, 0xf8]);
    }

    /// A jump forwards.
    pub(crate) fn jump(&mut self, when: Option<When>) -> Jump {
        match when {
            Some(when) => self.bytes.extend([0x0f, 0x80 | when as u8]),
            None => self.bytes.push(0xe9),
        }
        self.bytes.extend([0; 4]);
        Jump(self.bytes.len())
    }

    /// This is where a jump goes.
    pub(crate) fn land(&mut self, jump: Jump) {
        self.distance(jump.0, self.bytes.len());
    }

    /// A jump without a condition that is not wanted becomes an instruction that does nothing.
    pub(crate) fn forget(&mut self, jump: Jump) {
        self.bytes[jump.0 - 5..jump.0].copy_from_slice(&[0x0f, 0x1f, 0x44, 0, 0]);
    }

    /// A jump to a place before.
    pub(crate) fn jump_back(&mut self, when: Option<When>, to: usize) {
        let jump = self.jump(when);
        self.distance(jump.0, to);
    }

    /// Changes the number that the instruction that ends here has.
    pub(crate) fn patch(&mut self, end: usize, number: i32) {
        self.bytes[end - 4..end].copy_from_slice(&number.to_le_bytes());
    }

    fn distance(&mut self, end: usize, to: usize) {
        self.patch(end, to as i32 - end as i32);
    }

    /// Puts the constants behind the code, aligned for whole vectors.
    pub(crate) fn finish(mut self, pool: &[u8]) -> (Vec<u8>, usize) {
        let code = self.bytes.len();
        if !pool.is_empty() {
            self.bytes.resize(code.next_multiple_of(64), 0);
        }
        let start = self.bytes.len();
        for (at, end, constant) in std::mem::take(&mut self.distances) {
            let distance = (start + constant) as i32 - end as i32;
            self.bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        self.bytes.extend(pool);
        (self.bytes, code)
    }
}

/// The fourth bits of an index and of a base, or of a register in their place.
fn high_bits(place: Place) -> (u8, u8) {
    match place {
        Place::Register(register) => (0, register >> 3 & 1),
        Place::Memory(base, index, _) => (index.map_or(0, |(index, _)| index >> 3 & 1), base >> 3 & 1),
        Place::Pool(_) => (0, 0),
    }
}

/// The unit of short offsets where we know it, else 0.
fn short_step(op: Opcode, repeated: bool) -> i32 {
    let whole = [LOAD, STORE].iter().any(|pair| [pair.of(false), pair.of(true)].contains(&op));
    match op.kind {
        Kind::Vectors(element) if repeated => i32::from(element),
        Kind::Vectors(_) => 64 >> op.halvings,
        _ if whole => 64,
        _ if op == BROADCAST.of(false) => 4,
        _ if op == BROADCAST.of(true) => 8,
        _ => 0,
    }
}
