//! A loop that sums up, and its code before registers.

use tracewell_array::DType;
use tracewell_kernel::{Accumulator, Combine, Kernel, Region, Size, Stmt, Value, lanes_of};

use super::body::Body;
use super::leaf::Leaf;
use super::nest::Nest;
use super::sum::{Apart, Summed};
use crate::hoist::{Iterations, invariant, is_straight};
use crate::plan::laned;

/// A `reduce`, with what its code is made from.
pub(crate) struct Reduction<'k> {
    var: Value,
    pub(crate) extent: Size,
    pub(crate) accumulators: &'k [Accumulator],
    pub(crate) region: &'k Region,
    /// Of each statement, whether it is done before the loop.
    pub(crate) hoisted: Vec<bool>,
    laned: Vec<bool>,
}

impl<'k> Reduction<'k> {
    /// `None` if it is something else, or has other loops in it.
    pub(crate) fn new(kernel: &Kernel, stmt: &'k Stmt) -> Option<Reduction<'k>> {
        let Stmt::Reduce { var, extent, accumulators, body: region } = stmt else { return None };
        is_straight(region).then(|| Reduction {
            var: *var,
            extent: *extent,
            accumulators,
            region,
            hoisted: invariant(kernel, region, &[*var], Iterations::Independent),
            laned: laned(kernel, *var, region),
        })
    }
}

impl<'k> Nest<'k> {
    /// The loop, and its sums while their lanes are apart.
    pub(crate) fn summed_up<'b>(&self, reduction: &'b Reduction<'k>) -> Option<(Body<'b>, Leaf, Apart)> {
        let (kernel, level, broken) = (self.kernel, self.level, self.broken);
        let Reduction { var, extent, accumulators, region, hoisted, laned } = reduction;
        let combined: Vec<(Combine, DType)> =
            accumulators.iter().map(|a| (a.combine, kernel.dtype(a.out))).collect();
        let lanes = lanes_of(combined.iter().map(|(_, dtype)| *dtype));
        let mut body = Body::new(kernel, level, *var, region, hoisted, laned)?;
        let literal = |value: Value| self.constants.get(&value).copied();
        let (accumulated, extent) = (&combined[..], *extent);
        let summed =
            Summed { kernel, level, broken, literal: &literal, accumulators: accumulated, lanes, extent };
        let leaf = summed.leaf(&mut body)?;
        let (outs, registers) = (accumulators.iter().map(|a| a.out).collect(), leaf.accumulators.len());
        let apart = Apart { outs, accumulators: combined, lanes, registers, rows: 1, has_values: false };
        Some((body, leaf, apart))
    }
}
