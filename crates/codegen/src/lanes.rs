//! Four lanes of a value, as one or two 128-bit vectors.
//!
//! A lane is as wide as its type, but never narrower than 32 bits: a `u8` is held zero-extended, a bool is all
//! ones or all zeros. Types of 64 bits take two vectors. A bool may be held either way: it keeps the width of
//! the values it was compared from until someone needs the other.

use cranelift_codegen::ir::Endianness;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder as _, MemFlagsData, Type, Value, types};
use tracewell_array::DType;

use crate::emit::{Emit, memory, scalar_type};

/// How many elements one step of a vector loop handles.
pub(crate) const LANES: usize = 4;

/// Four lanes of one value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lanes {
    /// Lanes of 32 bits.
    Narrow(Value),
    /// Lanes of 64 bits: the first two, then the last two.
    Wide([Value; 2]),
}

/// The type of each vector that holds lanes of a dtype. A bool is 32 bits wide unless it says otherwise.
pub(crate) fn vector_type(dtype: DType) -> Type {
    match dtype {
        DType::Bool | DType::U8 | DType::U32 | DType::I32 => types::I32X4,
        DType::F32 => types::F32X4,
        DType::I64 => types::I64X2,
        DType::F64 => types::F64X2,
        DType::C64 | DType::C128 => unreachable!("the verifier refuses complex numbers"),
    }
}

/// Whether lanes of a dtype are 64 bits wide.
pub(crate) fn is_wide(dtype: DType) -> bool {
    dtype.size() == 8
}

/// Bytes that a lane takes in vectors and in the memory of accumulators.
pub(crate) fn lane_bytes(dtype: DType) -> usize {
    dtype.size().max(4)
}

impl Lanes {
    /// The vectors.
    pub(crate) fn parts(&self) -> &[Value] {
        match self {
            Lanes::Narrow(value) => std::slice::from_ref(value),
            Lanes::Wide(values) => values,
        }
    }

    /// The lanes made of these vectors.
    pub(crate) fn from_parts(parts: &[Value]) -> Lanes {
        match *parts {
            [value] => Lanes::Narrow(value),
            [first, second] => Lanes::Wide([first, second]),
            _ => unreachable!("four lanes are one or two vectors"),
        }
    }

    /// Applies `f` to each vector.
    pub(crate) fn map(self, mut f: impl FnMut(Value) -> Value) -> Lanes {
        match self {
            Lanes::Narrow(value) => Lanes::Narrow(f(value)),
            Lanes::Wide([first, second]) => Lanes::Wide([f(first), f(second)]),
        }
    }

    /// Applies `f` to each pair of vectors. Both sides have the same width.
    pub(crate) fn zip(self, other: Lanes, mut f: impl FnMut(Value, Value) -> Value) -> Lanes {
        match (self, other) {
            (Lanes::Narrow(a), Lanes::Narrow(b)) => Lanes::Narrow(f(a, b)),
            (Lanes::Wide(a), Lanes::Wide(b)) => Lanes::Wide([f(a[0], b[0]), f(a[1], b[1])]),
            _ => unreachable!("operands of one width"),
        }
    }
}

impl Emit<'_> {
    /// The same bits as another vector type.
    pub(crate) fn recast(&mut self, ty: Type, value: Value) -> Value {
        if self.type_of(value) == ty {
            return value;
        }
        let order = MemFlagsData::new().with_endianness(Endianness::Little);
        self.ins().bitcast(ty, order, value)
    }

    /// The same scalar in every lane.
    pub(crate) fn splat(&mut self, dtype: DType, value: Value) -> Lanes {
        let value = self.widen_lane(dtype, value);
        let vector = self.ins().splat(vector_type(dtype), value);
        if is_wide(dtype) { Lanes::Wide([vector; 2]) } else { Lanes::Narrow(vector) }
    }

    /// `base + plus + 0, …, base + plus + 3`
    pub(crate) fn ramp(&mut self, base: Value, plus: i64) -> Lanes {
        let start = self.ins().splat(types::I64X2, base);
        let mut part = |first: i64| {
            let bytes: Vec<u8> = [first, first + 1].iter().flat_map(|lane| lane.to_le_bytes()).collect();
            let constant = self.builder.func.dfg.constants.insert(bytes.into());
            let steps = self.ins().vconst(types::I64X2, constant);
            self.ins().iadd(start, steps)
        };
        Lanes::Wide([part(plus), part(plus + 2)])
    }

    /// Scalar form to the form of a lane.
    fn widen_lane(&mut self, dtype: DType, value: Value) -> Value {
        match dtype {
            DType::U8 => self.ins().uextend(types::I32, value),
            DType::Bool => {
                let wide = self.ins().uextend(types::I32, value);
                self.ins().ineg(wide)
            }
            _ => value,
        }
    }

    /// The form of a lane to scalar form.
    fn narrow_lane(&mut self, dtype: DType, lane: Value) -> Value {
        match dtype {
            DType::U8 => self.ins().ireduce(types::I8, lane),
            DType::Bool => {
                let byte = self.ins().ireduce(types::I8, lane);
                let one = self.int(types::I8, 1);
                self.ins().band(byte, one)
            }
            _ => lane,
        }
    }

    /// One lane as a scalar.
    pub(crate) fn extract(&mut self, dtype: DType, lanes: Lanes, lane: usize) -> Value {
        let value = match lanes {
            Lanes::Narrow(vector) => self.ins().extractlane(vector, lane as u8),
            Lanes::Wide(vectors) => self.ins().extractlane(vectors[lane / 2], (lane % 2) as u8),
        };
        self.narrow_lane(dtype, value)
    }

    /// Lanes from four scalars.
    pub(crate) fn gather(&mut self, dtype: DType, lanes: [Value; LANES]) -> Lanes {
        let ty = vector_type(dtype);
        let lanes = lanes.map(|lane| self.widen_lane(dtype, lane));
        let mut part = |scalars: &[Value]| {
            let first = self.ins().scalar_to_vector(ty, scalars[0]);
            (1..scalars.len()).fold(first, |vector, k| self.ins().insertlane(vector, scalars[k], k as u8))
        };
        if is_wide(dtype) {
            Lanes::Wide([part(&lanes[..2]), part(&lanes[2..])])
        } else {
            Lanes::Narrow(part(&lanes))
        }
    }

    /// Four neighbours in memory.
    pub(crate) fn load_lanes(&mut self, dtype: DType, address: Value, offset: i32) -> Lanes {
        match dtype {
            DType::Bool | DType::U8 => {
                // Four bytes and not one more: the buffer may end there.
                let bytes = self.ins().load(types::I32, memory(), address, offset);
                let vector = self.ins().scalar_to_vector(types::I32X4, bytes);
                let vector = self.recast(types::I8X16, vector);
                let vector = self.ins().uwiden_low(vector);
                let vector = self.ins().uwiden_low(vector);
                if dtype == DType::U8 {
                    Lanes::Narrow(vector)
                } else {
                    Lanes::Narrow(self.ins().ineg(vector))
                }
            }
            _ => self.load_vectors(dtype, address, offset),
        }
    }

    /// Stores to four neighbours in memory.
    pub(crate) fn store_lanes(&mut self, dtype: DType, lanes: Lanes, address: Value, offset: i32) {
        match dtype {
            DType::Bool | DType::U8 => {
                let mut vector = self.narrow(lanes);
                if dtype.is_bool() {
                    vector = self.ins().ineg(vector);
                }
                // Lanes are 0 to 255, so nothing saturates.
                let vector = self.ins().snarrow(vector, vector);
                let vector = self.ins().unarrow(vector, vector);
                let vector = self.recast(types::I32X4, vector);
                let bytes = self.ins().extractlane(vector, 0);
                self.ins().store(memory(), bytes, address, offset);
            }
            _ => self.store_vectors(lanes, address, offset),
        }
    }

    /// Lanes as they are held in vectors, from the memory of accumulators.
    pub(crate) fn load_vectors(&mut self, dtype: DType, address: Value, offset: i32) -> Lanes {
        let ty = vector_type(dtype);
        let first = self.ins().load(ty, memory(), address, offset);
        if !is_wide(dtype) {
            return Lanes::Narrow(first);
        }
        Lanes::Wide([first, self.ins().load(ty, memory(), address, offset + 16)])
    }

    /// Lanes as they are held in vectors, to the memory of accumulators.
    pub(crate) fn store_vectors(&mut self, lanes: Lanes, address: Value, offset: i32) {
        for (k, &part) in lanes.parts().iter().enumerate() {
            self.ins().store(memory(), part, address, offset + 16 * k as i32);
        }
    }

    /// One lane as a scalar, from the memory of accumulators.
    pub(crate) fn load_lane(&mut self, dtype: DType, address: Value) -> Value {
        let ty = if dtype.size() < 4 { types::I32 } else { scalar_type(dtype) };
        let lane = self.ins().load(ty, memory(), address, 0);
        self.narrow_lane(dtype, lane)
    }

    /// One lane from a scalar, to the memory of accumulators.
    pub(crate) fn store_lane(&mut self, dtype: DType, value: Value, address: Value) {
        let lane = self.widen_lane(dtype, value);
        self.ins().store(memory(), lane, address, 0);
    }

    /// A mask or integers as 32-bit lanes: the low half of each wide one.
    pub(crate) fn narrow(&mut self, lanes: Lanes) -> Value {
        match lanes {
            Lanes::Narrow(vector) => vector,
            Lanes::Wide([first, second]) => self.shuffle32(first, second, [0, 2, 4, 6]),
        }
    }

    /// A mask with lanes as wide as the dtype's.
    pub(crate) fn mask_for(&mut self, dtype: DType, mask: Lanes) -> Lanes {
        match (mask, is_wide(dtype)) {
            (Lanes::Narrow(vector), true) => {
                let first = self.ins().swiden_low(vector);
                Lanes::Wide([first, self.ins().swiden_high(vector)])
            }
            (Lanes::Wide(_), false) => Lanes::Narrow(self.narrow(mask)),
            _ => mask,
        }
    }

    /// Picks four 32-bit lanes out of the eight of two vectors; the result is `I32X4`.
    pub(crate) fn shuffle32(&mut self, a: Value, b: Value, picks: [u8; 4]) -> Value {
        let bytes: Vec<u8> = picks.iter().flat_map(|&pick| (0..4).map(move |byte| pick * 4 + byte)).collect();
        let picks = self.builder.func.dfg.immediates.push(bytes.into());
        let a = self.recast(types::I8X16, a);
        let b = self.recast(types::I8X16, b);
        let shuffled = self.ins().shuffle(a, b, picks);
        self.recast(types::I32X4, shuffled)
    }

    /// A mask of all lanes that are not 0.
    pub(crate) fn nonzero(&mut self, lanes: Lanes) -> Lanes {
        lanes.map(|vector| {
            let zero = self.zero_vector(self.type_of(vector));
            self.ins().icmp(IntCC::NotEqual, vector, zero)
        })
    }

    /// A vector of zeros.
    pub(crate) fn zero_vector(&mut self, ty: Type) -> Value {
        let constant = self.builder.func.dfg.constants.insert(vec![0; 16].into());
        self.ins().vconst(ty, constant)
    }
}
