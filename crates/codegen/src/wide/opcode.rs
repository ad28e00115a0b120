//! The instructions that wide code is made of, by their bytes.
//!
//! One description serves both encodings: VEX for vectors of 256 bits, EVEX for those of 512. An instruction on
//! lanes of 32 bits and its sister on lanes of 64 are a [`Pair`].

/// How an instruction is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Opcode {
    /// The implied prefix: none, 66, F3, F2.
    pub(crate) prefix: u8,
    /// The opcode map: 0F, 0F38, 0F3A.
    pub(crate) map: u8,
    pub(crate) byte: u8,
    /// The bit that most often says that lanes are of 64 bits.
    pub(crate) w: bool,
    pub(crate) kind: Kind,
    /// At 512 bits, how often vectors are halved: it works on what is left, and the rest of its result is zero.
    pub(crate) halvings: u8,
}

impl Opcode {
    /// The same on the first half of vectors, or the half of that.
    pub(crate) const fn halved(self, halvings: u8) -> Opcode {
        Opcode { halvings, ..self }
    }
}

/// What an instruction works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Whole vectors; at 512 bits its last operand may be an element in memory that is repeated, of this size.
    Vectors(u8),
    /// Vectors, the last operand of which is not a repeated element.
    Plain,
    /// Mask registers, with the bit that says how wide the encoding claims to be.
    Masks(bool),
}

/// An instruction on lanes of 32 bits and the one on lanes of 64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    narrow: Opcode,
    wide: Opcode,
}

impl Pair {
    /// That for lanes of 64 bits, or that for lanes of 32.
    pub(crate) const fn of(self, wide: bool) -> Opcode {
        if wide { self.wide } else { self.narrow }
    }
}

const NONE: u8 = 0;
const P66: u8 = 1;
const F3: u8 = 2;
const F2: u8 = 3;
const M0F: u8 = 1;
const M38: u8 = 2;
const M3A: u8 = 3;

const fn opcode(prefix: u8, map: u8, byte: u8, w: bool, kind: Kind) -> Opcode {
    Opcode { prefix, map, byte, w, kind, halvings: 0 }
}

/// Arithmetic on floats: `ps` and `pd`.
const fn floats(byte: u8) -> Pair {
    Pair {
        narrow: opcode(NONE, M0F, byte, false, Kind::Vectors(4)),
        wide: opcode(P66, M0F, byte, true, Kind::Vectors(8)),
    }
}

/// Moves of floats, which stand for moves of anything.
const fn moves(byte: u8) -> Pair {
    Pair {
        narrow: opcode(NONE, M0F, byte, false, Kind::Plain),
        wide: opcode(P66, M0F, byte, true, Kind::Plain),
    }
}

/// Two bytes of one map, for each width.
const fn ints(map: u8, narrow: u8, wide: u8) -> Pair {
    Pair {
        narrow: opcode(P66, map, narrow, false, Kind::Vectors(4)),
        wide: opcode(P66, map, wide, true, Kind::Vectors(8)),
    }
}

/// One byte whose lanes `w` tells apart.
const fn both(map: u8, byte: u8) -> Pair {
    ints(map, byte, byte)
}

const fn convert(prefix: u8, byte: u8, w: bool) -> Opcode {
    opcode(prefix, M0F, byte, w, Kind::Plain)
}

const fn mask(prefix: u8, map: u8, byte: u8, w: bool, long: bool) -> Opcode {
    opcode(prefix, map, byte, w, Kind::Masks(long))
}

pub(crate) const LOAD: Pair = moves(0x10);
pub(crate) const STORE: Pair = moves(0x11);
pub(crate) const MOVE: Pair = moves(0x28);
pub(crate) const BROADCAST: Pair = Pair {
    narrow: opcode(P66, M38, 0x18, false, Kind::Plain),
    wide: opcode(P66, M38, 0x19, true, Kind::Plain),
};
/// The same for vectors of 256 bits.
pub(crate) const BROADCAST_WIDE_VEX: Opcode = opcode(P66, M38, 0x19, false, Kind::Plain);
/// A general register in every lane of 64 bits.
pub(crate) const SPLAT_GENERAL: Opcode = opcode(P66, M38, 0x7c, true, Kind::Plain);
/// A general register in the lowest lane, and that lane in every lane.
pub(crate) const MOVQ: Opcode = opcode(P66, M0F, 0x6e, true, Kind::Plain);
pub(crate) const SPLAT_LOWEST: Opcode = opcode(P66, M38, 0x59, false, Kind::Plain);

/// The lowest lane alone to memory.
pub(crate) const STORE_LOWEST: Pair = Pair {
    narrow: opcode(F3, M0F, 0x11, false, Kind::Plain),
    wide: opcode(F2, M0F, 0x11, true, Kind::Plain),
};
/// Lanes of two vectors, one after the other, from a lane on.
pub(crate) const ALIGN: Pair = both(M3A, 0x03);

/// Quarters of two vectors of 512 bits, two of each.
pub(crate) const QUARTERS: Pair = both(M3A, 0x23);
/// Lanes of two vectors, in each quarter of them.
pub(crate) const IN_QUARTERS: Pair = floats(0xc6);

pub(crate) const ADD_F: Pair = floats(0x58);
pub(crate) const MUL_F: Pair = floats(0x59);
pub(crate) const SUB_F: Pair = floats(0x5c);
pub(crate) const MIN_F: Pair = floats(0x5d);
pub(crate) const DIV_F: Pair = floats(0x5e);
pub(crate) const MAX_F: Pair = floats(0x5f);
pub(crate) const SQRT: Pair = floats(0x51);
pub(crate) const COMPARE_F: Pair = floats(0xc2);
pub(crate) const ROUND: Pair = ints(M3A, 0x08, 0x09);
/// The first times two to the power of the second.
pub(crate) const SCALE: Pair = both(M38, 0x2c);
/// `a * b + c` into `c`, `b * a + c` into `a`, `a * c + b` into `a`.
pub(crate) const FMA_231: Pair = both(M38, 0xb8);
pub(crate) const FMA_213: Pair = both(M38, 0xa8);
pub(crate) const FMA_132: Pair = both(M38, 0x98);

pub(crate) const ADD_I: Pair = ints(M0F, 0xfe, 0xd4);
pub(crate) const SUB_I: Pair = ints(M0F, 0xfa, 0xfb);
pub(crate) const MUL_I: Pair = both(M38, 0x40);
/// The products of the lower halves of lanes of 64 bits.
pub(crate) const MUL_HALVES: Opcode = opcode(P66, M0F, 0xf4, true, Kind::Vectors(8));
pub(crate) const ABS_I: Pair = ints(M38, 0x1e, 0x1f);
pub(crate) const MIN_S: Pair = both(M38, 0x39);
pub(crate) const MAX_S: Pair = both(M38, 0x3d);
pub(crate) const MIN_U: Pair = both(M38, 0x3b);
pub(crate) const MAX_U: Pair = both(M38, 0x3f);
pub(crate) const AND: Pair = both(M0F, 0xdb);
/// `!a & b`
pub(crate) const AND_NOT: Pair = both(M0F, 0xdf);
pub(crate) const OR: Pair = both(M0F, 0xeb);
pub(crate) const XOR: Pair = both(M0F, 0xef);
/// By a constant: the digit of a left and a logical right shift is beside each.
pub(crate) const SHIFT: Pair = ints(M0F, 0x72, 0x73);
pub(crate) const SHIFT_LEFT: u8 = 6;
pub(crate) const SHIFT_RIGHT: u8 = 2;
pub(crate) const SHIFT_ARITHMETIC: Pair = both(M0F, 0x72);
pub(crate) const SHIFT_SIGN: u8 = 4;
/// Bits that leave on one side come in on the other.
pub(crate) const ROTATE: Pair = both(M0F, 0x72);
pub(crate) const ROTATE_LEFT: u8 = 1;
/// By an amount of each lane.
pub(crate) const SHL: Pair = both(M38, 0x47);
pub(crate) const SHR: Pair = both(M38, 0x45);
pub(crate) const SAR: Pair = both(M38, 0x46);
pub(crate) const LEADING_ZEROS: Pair = both(M38, 0x44);

/// 512 bits: comparisons to a mask register, and choices by one.
pub(crate) const COMPARE_S: Pair = both(M3A, 0x1f);
pub(crate) const COMPARE_U: Pair = both(M3A, 0x1e);
pub(crate) const TEST: Pair = both(M38, 0x27);
pub(crate) const BLEND: Pair = both(M38, 0x64);
pub(crate) const TERNARY: Pair = both(M3A, 0x25);
/// Replaces what is in the place of the first by what the third says of the kind of number that the second is.
pub(crate) const BY_KIND: Pair = both(M3A, 0x54);
pub(crate) const MASK_TO_LANES: Opcode = opcode(F3, M38, 0x38, false, Kind::Plain);

/// 256 bits: comparisons to lanes of ones or zeros, and choices by their highest bits.
pub(crate) const EQUAL_NARROW: Opcode = opcode(P66, M0F, 0x76, false, Kind::Plain);
pub(crate) const EQUAL_WIDE: Opcode = opcode(P66, M38, 0x29, false, Kind::Plain);
pub(crate) const GREATER_NARROW: Opcode = opcode(P66, M0F, 0x66, false, Kind::Plain);
pub(crate) const GREATER_WIDE: Opcode = opcode(P66, M38, 0x37, false, Kind::Plain);
pub(crate) const CHOOSE_NARROW: Opcode = opcode(P66, M3A, 0x4a, false, Kind::Plain);
pub(crate) const CHOOSE_WIDE: Opcode = opcode(P66, M3A, 0x4b, false, Kind::Plain);
/// Four lanes of 32 bits from two vectors, in each half of them.
pub(crate) const SHUFFLE: Opcode = opcode(NONE, M0F, 0xc6, false, Kind::Plain);
/// Quarters of a vector in another order.
pub(crate) const PERMUTE_QUARTERS: Opcode = opcode(P66, M3A, 0x00, true, Kind::Plain);

/// Bytes of memory to lanes of 32 bits.
pub(crate) const BYTES_TO_LANES: Opcode = opcode(P66, M38, 0x31, false, Kind::Plain);
pub(crate) const LANES_TO_BYTES: Opcode = opcode(F3, M38, 0x31, false, Kind::Plain);
pub(crate) const SIGN_EXTEND: Opcode = opcode(P66, M38, 0x25, false, Kind::Plain);
pub(crate) const ZERO_EXTEND: Opcode = opcode(P66, M38, 0x35, false, Kind::Plain);
/// Lanes of 64 bits to the lower halves, as half a vector.
pub(crate) const NARROW: Opcode = opcode(F3, M38, 0x35, false, Kind::Plain);
/// Halves of a vector of 512 bits, and of one of 256.
pub(crate) const INSERT_HALF: Opcode = opcode(P66, M3A, 0x3a, true, Kind::Plain);
pub(crate) const EXTRACT_HALF: Opcode = opcode(P66, M3A, 0x3b, true, Kind::Plain);
pub(crate) const INSERT_HALF_VEX: Opcode = opcode(P66, M3A, 0x38, false, Kind::Plain);
pub(crate) const EXTRACT_HALF_VEX: Opcode = opcode(P66, M3A, 0x39, false, Kind::Plain);

pub(crate) const I32_TO_F32: Opcode = convert(NONE, 0x5b, false);
pub(crate) const F32_TO_I32: Opcode = convert(F3, 0x5b, false);
pub(crate) const U32_TO_F32: Opcode = convert(F2, 0x7a, false);
pub(crate) const F32_TO_U32: Opcode = convert(NONE, 0x78, false);
pub(crate) const F32_TO_F64: Opcode = convert(NONE, 0x5a, false);
pub(crate) const F64_TO_F32: Opcode = convert(P66, 0x5a, true);
pub(crate) const I32_TO_F64: Opcode = convert(F3, 0xe6, false);
pub(crate) const U32_TO_F64: Opcode = convert(F3, 0x7a, false);
pub(crate) const F64_TO_I32: Opcode = convert(P66, 0xe6, true);
pub(crate) const F64_TO_U32: Opcode = convert(NONE, 0x78, true);
pub(crate) const I64_TO_F64: Opcode = convert(F3, 0xe6, true);
pub(crate) const I64_TO_F32: Opcode = convert(NONE, 0x5b, true);
pub(crate) const F64_TO_I64: Opcode = convert(P66, 0x7a, true);
pub(crate) const F32_TO_I64: Opcode = convert(P66, 0x7a, false);

/// Lanes of two vectors, by their numbers; the first is replaced.
pub(crate) const PICK: Pair = both(M38, 0x7f);

/// Lanes from addresses: offsets of 32 bits, and of 64.
pub(crate) const GATHER: Pair = Pair {
    narrow: opcode(P66, M38, 0x92, false, Kind::Plain),
    wide: opcode(P66, M38, 0x92, true, Kind::Plain),
};
pub(crate) const GATHER_FAR: Pair = Pair {
    narrow: opcode(P66, M38, 0x93, false, Kind::Plain),
    wide: opcode(P66, M38, 0x93, true, Kind::Plain),
};

/// Lanes to addresses, with offsets of 32 bits.
pub(crate) const SCATTER: Pair = Pair {
    narrow: opcode(P66, M38, 0xa0, false, Kind::Plain),
    wide: opcode(P66, M38, 0xa0, true, Kind::Plain),
};

pub(crate) const MASK_AND: Opcode = mask(NONE, M0F, 0x41, false, true);
/// `!a & b`
pub(crate) const MASK_AND_NOT: Opcode = mask(NONE, M0F, 0x42, false, true);
pub(crate) const MASK_NOT: Opcode = mask(NONE, M0F, 0x44, false, false);
pub(crate) const MASK_OR: Opcode = mask(NONE, M0F, 0x45, false, true);
pub(crate) const MASK_XNOR: Opcode = mask(NONE, M0F, 0x46, false, true);
pub(crate) const MASK_XOR: Opcode = mask(NONE, M0F, 0x47, false, true);
/// The low eight of two masks in one: those of the first are the upper ones.
pub(crate) const MASK_JOIN: Opcode = mask(P66, M0F, 0x4b, false, true);
pub(crate) const MASK_SHIFT: Opcode = mask(P66, M3A, 0x30, true, false);
pub(crate) const MASK_MOVE: Opcode = mask(NONE, M0F, 0x90, false, false);
/// Compares the bits of a mask with none and all.
pub(crate) const MASK_TEST: Opcode = mask(NONE, M0F, 0x98, false, false);
pub(crate) const MASK_STORE: Opcode = mask(NONE, M0F, 0x91, false, false);
pub(crate) const MASK_FROM_GENERAL: Opcode = mask(NONE, M0F, 0x92, false, false);
/// The lowest bits of a number, as many as another says. Encoded like an operation on masks.
pub(crate) const LOW_BITS: Opcode = mask(NONE, M38, 0xf5, true, false);
