//! What a random graph owes: uses of certain primitives on certain element types, so that over many seeds each has
//! its turn, however seldom it would come up by itself.
//!
//! Loops and branches are owed as their examples are: of the element type of their first operand, which for a switch
//! is its index. Those around random bodies come up often by themselves, and are not owed (see `control.rs`).

use std::sync::LazyLock;

use tracewell_array::DType;
use tracewell_graph::prim::{Abs, Cos, Exp, Sign, Sin};
use tracewell_graph::{Example, Prim};

use super::grow::{Growth, Value};
use super::rng::Rng;
use crate::laws::dtype;

/// How many uses each graph owes.
const OWED: u64 = 14;

/// How often a use is tried before it is given up: its results may not be fit, or too large.
const ATTEMPTS: usize = 16;

/// The examples of each primitive and element type, in an order without meaning.
static CELLS: LazyLock<Vec<Vec<Example>>> = LazyLock::new(|| {
    let mut cells: Vec<((String, DType), Vec<Example>)> = Vec::new();
    for example in Prim::examples() {
        let key = (example.prim.name().to_owned(), dtype(&example));
        match cells.iter_mut().find(|(other, _)| *other == key) {
            Some((_, cell)) => cell.push(example),
            None => cells.push((key, vec![example])),
        }
    }
    let mut cells: Vec<Vec<Example>> = cells.into_iter().map(|(_, cell)| cell).collect();
    Rng::new(0).shuffle(&mut cells);
    cells
});

/// What the graph of a seed owes, as numbers of cells.
pub(super) fn owed(seed: u64) -> Vec<usize> {
    let first = seed.wrapping_mul(OWED);
    (0..OWED).map(|k| (first.wrapping_add(k) % CELLS.len() as u64) as usize).collect()
}

impl Growth<'_> {
    /// Uses a primitive on an element type, with operands of which most results are numbers.
    pub(super) fn pay(&mut self, cell: usize) -> Option<()> {
        (0..ATTEMPTS).find_map(|attempt| {
            let example = self.rng.pick(&CELLS[cell])?.clone();
            let mut operands = Vec::with_capacity(example.inputs.len());
            for ty in &example.inputs {
                let operand = self.operand(ty)?;
                operands.push(self.tempered(operand, attempt)?);
            }
            self.bind(example.prim, &operands).map(drop)
        })
    }

    /// A float operand brought into another range with each attempt: as it is, within one, above zero, above one. A complex
    /// one onto the circle, now and then.
    fn tempered(&mut self, value: Value, attempt: usize) -> Option<Value> {
        if value.ty.dtype.is_complex() && attempt % 2 == 1 {
            return self.bind1(Sign {}, &value);
        }
        if !value.ty.dtype.is_float() {
            return Some(value);
        }
        match attempt % 4 {
            0 => Some(value),
            1 => self.bind1(Sin {}, &value),
            2 => {
                let within_one = self.bind1(Cos {}, &value)?;
                self.bind1(Exp {}, &within_one)
            }
            _ => {
                let within_one = self.bind1(Sin {}, &value)?;
                let not_negative = self.bind1(Abs {}, &within_one)?;
                self.bind1(Exp {}, &not_negative)
            }
        }
    }
}
