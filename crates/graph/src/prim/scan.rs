//! `scan[body=B, consts=m, carries=n, length=L, …] c…, x…, xs…`: applies a graph to every element of some arrays.

use std::ops::Range;
use std::sync::Arc;

use tracewell_array::Tensor;

use super::nested::{check_operands, check_types};
use super::{scan_batch, scan_examples, scan_jvp, scan_transpose};
use crate::error::{RuleError, TypeError};
use crate::eval::eval;
use crate::graph::{Atom, Graph, Var};
use crate::params;
use crate::primitive::{Batched, Control, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `scan[body=B, consts=m, carries=n, length=L, reverse=R, unroll=U] c…, x…, xs…`: for each element of the leading
    /// axes of `xs`, `(x…, y…) = B(c…, x…, xs[i]…)`. Gives the last `x` and every `y`.
    pub struct Scan {
        /// From the constants, what is carried and one element of each `xs` to what is carried on and one element of
        /// each `ys`.
        body: Arc<Graph>,
        /// How many operands are the same each time.
        consts: usize,
        /// How many are carried.
        carries: usize,
        /// How often the graph is applied.
        length: usize,
        /// Whether from the last element to the first.
        reverse: bool,
        /// How many applications machine code has side by side.
        unroll: usize,
    }
}

impl Scan {
    /// The numbers of the operands that are the same each time, of those that are carried, and of those whose elements
    /// are taken, where there are so many in all.
    pub fn groups(&self, operands: usize) -> [Range<usize>; 3] {
        let whole = self.consts + self.carries;
        [0..self.consts, self.consts..whole, whole..operands]
    }

    /// Flags of operands, with those of what is carried replaced.
    pub(super) fn with_carried(&self, flags: &[bool], carried: &[bool]) -> Vec<bool> {
        let mut flags = flags.to_vec();
        flags[self.consts..self.consts + self.carries].copy_from_slice(carried);
        flags
    }

    /// The element that is taken in turn `turn`.
    fn element(&self, turn: usize) -> usize {
        if self.reverse { self.length - 1 - turn } else { turn }
    }
}

impl Primitive for Scan {
    fn name(&self) -> &str {
        "scan"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        let whole = self.consts + self.carries;
        if inputs.len() < whole || self.body.outputs.len() < self.carries {
            return Err(TypeError::new(
                "scan",
                format!("a scan takes at least {whole} operands, found {}", inputs.len()),
            ));
        }
        let mut elements = inputs[..whole].to_vec();
        for xs in &inputs[whole..] {
            if xs.rank() == 0 || xs.shape.size(0) != self.length {
                let message = format!("a scan of length {} cannot walk along {xs}", self.length);
                return Err(TypeError::new("scan", message));
            }
            elements.push(xs.with_shape(xs.shape.remove(0)));
        }
        check_operands("scan", &self.body, &elements)?;
        let carried = self.body.input_types()[self.consts..whole].to_vec();
        let mut outputs = self.body.output_types();
        check_types("scan", "body", &carried, &outputs[..self.carries])?;
        for ty in &mut outputs[self.carries..] {
            *ty = ty.with_shape(ty.shape.insert(0, self.length));
        }
        outputs.splice(..self.carries, carried);
        Ok(outputs)
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let (consts, rest) = inputs.split_at(self.consts);
        let (carries, xs) = rest.split_at(self.carries);
        let mut carries = carries.to_vec();
        let types = self.body.output_types().split_off(self.carries);
        let mut ys: Vec<Vec<Option<Tensor>>> = vec![vec![None; self.length]; types.len()];
        for turn in 0..self.length {
            let i = self.element(turn);
            let mut operands = [consts, &carries].concat();
            for x in xs {
                let slice = x.slice_leading(i, 1).and_then(|s| s.reshape(x.shape().remove(0)));
                operands.push(slice.map_err(|e| e.to_string())?);
            }
            carries = eval(&self.body, &operands)?;
            for (y, made) in ys.iter_mut().zip(carries.split_off(self.carries)) {
                y[i] = Some(made);
            }
        }
        let stacked = ys.into_iter().zip(types).map(|(ys, ty)| {
            let literals: Vec<_> = ys.iter().flatten().flat_map(Tensor::literals).collect();
            Tensor::from_literals(ty.dtype, ty.shape.insert(0, self.length), &literals)
                .map_err(|e| e.to_string())
        });
        let stacked: Vec<Tensor> = stacked.collect::<Result<_, _>>()?;
        Ok(carries.into_iter().chain(stacked).collect())
    }

    /// A scan of the body's derivative; when linearizing, two scans with residuals between.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        scan_jvp::jvp(self, cx, primals, tangents)
    }

    /// A scan of the body's adjoint in the other direction.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        scan_transpose::transpose(self, cx, operands, cotangents)
    }

    /// A scan of the batched body.
    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        scan_batch::batch(self, cx, size, operands)
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::Control(Control::Scan(self.clone())))
    }

    fn examples() -> Vec<Example> {
        scan_examples::examples()
    }
}

/// What a walk makes of a body once it agrees with itself about what is carried: where a turn gives a flag to something
/// carried, the next turn has it too. `walk` takes the flags of what is carried to the flags after a turn.
pub(super) fn settle<T>(
    mut carried: Vec<bool>,
    mut walk: impl FnMut(&[bool]) -> Result<(T, Vec<bool>), RuleError>,
) -> Result<(T, Vec<bool>), RuleError> {
    loop {
        let (made, after) = walk(&carried)?;
        let more: Vec<bool> = carried.iter().zip(&after).map(|(before, after)| *before || *after).collect();
        if more == carried {
            return Ok((made, carried));
        }
        carried = more;
    }
}

/// A graph whose inputs are those of another in a new order, which names each once, and whose outputs are made of its
/// outputs.
pub(super) fn regrouped(
    graph: &Graph,
    order: &[usize],
    outputs: impl FnOnce(Vec<Atom>) -> Vec<Atom>,
) -> Graph {
    debug_assert_eq!(order.len(), graph.inputs.len(), "each input is named once");
    let inputs: Vec<Var> = order.iter().map(|&i| graph.inputs[i]).collect();
    graph.part(graph.name.as_str(), &inputs, &outputs(graph.outputs.clone()))
}
