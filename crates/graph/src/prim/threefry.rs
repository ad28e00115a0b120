//! `threefry[wide=W] k₀, k₁, c₀, c₁`: random bits, a function of a key and a counter.

use tracewell_array::{DType, Literal, Tensor};
use tracewell_kernel::{KernelBuilder, Op, Value};

use super::elementwise::{arity, batch_elementwise, difference, example_shapes, map_literals};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `threefry[wide=W] k₀, k₁, c₀, c₁`: the counter `(c₀, c₁)` enciphered with the key `(k₀, k₁)` by 20 rounds of
    /// Threefry-2×32, which gives two words: their exclusive or as `u32` or, if `W`, both as one `i64`, the first
    /// above.
    pub struct Threefry {
        /// Whether both words are wanted.
        wide: bool,
    }
}

/// By how much the second word is rotated in each of eight rounds.
const ROTATIONS: [u32; 8] = [13, 15, 26, 6, 17, 29, 16, 24];
/// Makes the third word of the key.
const PARITY: u32 = 0x1BD1_1BDA;
/// Groups of four rounds, after each of which words of the key are added.
const GROUPS: usize = 5;

impl Threefry {
    fn result(&self) -> DType {
        if self.wide { DType::I64 } else { DType::U32 }
    }
}

impl Primitive for Threefry {
    fn name(&self) -> &str {
        "threefry"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("threefry", inputs, 4)?;
        for other in inputs {
            let why = match difference(&inputs[0], other) {
                None if other.dtype != DType::U32 => Some("its words are u32".to_owned()),
                why => why,
            };
            if let Some(why) = why {
                let message = format!("cannot make random bits of {} and {other}: {why}", inputs[0]);
                return Err(TypeError::new("threefry", message));
            }
        }
        Ok(vec![ArrayType::new(self.result(), inputs[0].shape.clone())])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        Ok(vec![map_literals(self.result(), inputs[0].shape(), inputs, |words| {
            let word = |i: usize| words[i].bits() as u32;
            let (x, y) = threefry2x32([word(0), word(1)], [word(2), word(3)]);
            match self.wide {
                true => Literal::from_bits(DType::I64, u128::from(x) << 32 | u128::from(y)),
                false => Literal::from_bits(DType::U32, u128::from(x ^ y)),
            }
        })])
    }

    /// Bits have no tangent.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], _: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let words: Vec<&Atom> = primals.iter().collect();
        Ok(Jvp::one(cx.bind(self.clone(), &words)?, None))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("threefry"))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_elementwise(cx, self.clone(), size, operands)
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        let wide = self.wide;
        Ok(Lowering::map(move |b, words| expand(b, words, wide)))
    }

    fn examples() -> Vec<Example> {
        let of = |wide: bool| {
            example_shapes().into_iter().map(move |shape| Example {
                prim: Threefry { wide }.into(),
                inputs: vec![ArrayType::new(DType::U32, shape); 4],
            })
        };
        [false, true].into_iter().flat_map(of).collect()
    }
}

/// The cipher of two words.
pub fn threefry2x32([k0, k1]: [u32; 2], [c0, c1]: [u32; 2]) -> (u32, u32) {
    let key = [k0, k1, k0 ^ k1 ^ PARITY];
    let (mut x, mut y) = (c0.wrapping_add(k0), c1.wrapping_add(k1));
    for group in 0..GROUPS {
        for round in 0..4 {
            x = x.wrapping_add(y);
            y = y.rotate_left(ROTATIONS[(4 * group + round) % 8]) ^ x;
        }
        x = x.wrapping_add(key[(group + 1) % 3]);
        y = y.wrapping_add(key[(group + 2) % 3]).wrapping_add(group as u32 + 1);
    }
    (x, y)
}

/// The same in scalar operations.
fn expand(b: &mut KernelBuilder, words: &[Value], wide: bool) -> Value {
    let (k0, k1) = (words[0], words[1]);
    let parity = b.constant(PARITY);
    let both = b.op(Op::Xor, &[k0, k1]);
    let third = b.op(Op::Xor, &[both, parity]);
    let key = [k0, k1, third];
    let mut x = b.op(Op::Add, &[words[2], k0]);
    let mut y = b.op(Op::Add, &[words[3], k1]);
    for group in 0..GROUPS {
        for round in 0..4 {
            x = b.op(Op::Add, &[x, y]);
            let by = ROTATIONS[(4 * group + round) % 8];
            let (left, right) = (b.constant(by), b.constant(32 - by));
            let high = b.op(Op::Shl, &[y, left]);
            let low = b.op(Op::ShrLogical, &[y, right]);
            let rotated = b.op(Op::Or, &[high, low]);
            y = b.op(Op::Xor, &[rotated, x]);
        }
        x = b.op(Op::Add, &[x, key[(group + 1) % 3]]);
        // The number of the group with the key: both are the same for all elements.
        let number = b.constant(group as u32 + 1);
        let added = b.op(Op::Add, &[key[(group + 2) % 3], number]);
        y = b.op(Op::Add, &[y, added]);
    }
    if !wide {
        return b.op(Op::Xor, &[x, y]);
    }
    let above = b.constant(32i64);
    let high = b.op(Op::Convert(DType::I64), &[x]);
    let high = b.op(Op::Shl, &[high, above]);
    let low = b.op(Op::Convert(DType::I64), &[y]);
    b.op(Op::Or, &[high, low])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors that its authors published.
    #[test]
    fn known_answers() {
        let all = |k: [u32; 2], c: [u32; 2]| threefry2x32(k, c);
        assert_eq!(all([0, 0], [0, 0]), (0x6b20_0159, 0x99ba_4efe));
        assert_eq!(all([u32::MAX; 2], [u32::MAX; 2]), (0x1cb9_96fc, 0xbb00_2be7));
        let (k, c) = ([0x1319_8a2e, 0x0370_7344], [0x243f_6a88, 0x85a3_08d3]);
        assert_eq!(all(k, c), (0xc492_3a9c, 0x483d_f7a0));
    }
}
