//! `each[graph=G, size=n, axes=[…], out_axes=[…]] x…`: applies a graph to every index of an axis, independently.

use std::sync::Arc;

use tracewell_array::Tensor;

use super::Prim;
use super::nested::check_operands;
use crate::builder::GraphBuilder;
use crate::error::{RuleError, TypeError};
use crate::eval::eval;
use crate::graph::{Atom, Graph};
use crate::params;
use crate::primitive::{Batched, Control, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `each[graph=G, size=n, axes=[…], out_axes=[…]] x…`: `G` applied to element `i` along an axis of each operand,
    /// for each `i` below `n`, independently; the results along an axis each. An axis of -1 is none: that operand is
    /// the same each time.
    pub struct Each {
        /// What is applied.
        graph: Arc<Graph>,
        /// How often.
        size: usize,
        /// For each operand, its first or last axis, or -1.
        axes: Vec<i64>,
        /// For each result, its first or last axis.
        out_axes: Vec<i64>,
    }
}

impl Primitive for Each {
    fn name(&self) -> &str {
        "each"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        let wrong = |message: String| Err(TypeError::new("each", message));
        if inputs.len() != self.axes.len() || self.graph.outputs.len() != self.out_axes.len() {
            return wrong(format!("it has {} operands, and axes for {}", inputs.len(), self.axes.len()));
        }
        let mut elements = Vec::with_capacity(inputs.len());
        for (ty, &axis) in inputs.iter().zip(&self.axes) {
            if axis == -1 {
                elements.push(ty.clone());
                continue;
            }
            let at = usize::try_from(axis).ok().filter(|&a| a < ty.rank() && (a == 0 || a + 1 == ty.rank()));
            match at {
                Some(at) if ty.shape.size(at) == self.size => {
                    elements.push(ty.with_shape(ty.shape.remove(at)))
                }
                _ => return wrong(format!("{ty} has no first or last axis {axis} of size {}", self.size)),
            }
        }
        check_operands("each", &self.graph, &elements)?;
        let mut outputs = self.graph.output_types();
        for (ty, &axis) in outputs.iter_mut().zip(&self.out_axes) {
            match usize::try_from(axis).ok().filter(|&a| a == 0 || a == ty.rank()) {
                Some(at) => *ty = ty.with_shape(ty.shape.insert(at, self.size)),
                None => {
                    return wrong(format!("axis {axis} would be neither the first nor the last of a result"));
                }
            }
        }
        Ok(outputs)
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let types = self.graph.output_types();
        let mut made: Vec<Vec<Tensor>> = vec![Vec::new(); types.len()];
        for i in 0..self.size {
            let elements: Vec<Tensor> =
                inputs.iter().zip(&self.axes).map(|(x, &axis)| element(x, axis, i)).collect();
            for (all, one) in made.iter_mut().zip(eval(&self.graph, &elements)?) {
                all.push(one);
            }
        }
        let whole = made.iter().zip(&types).zip(&self.out_axes).map(|((parts, ty), &axis)| {
            let shape = ty.shape.insert(axis as usize, self.size);
            let literals: Vec<_> = if axis == 0 {
                parts.iter().flat_map(Tensor::literals).collect()
            } else {
                (0..ty.shape.len()).flat_map(|e| parts.iter().map(move |part| part.literal(e))).collect()
            };
            Tensor::from_literals(ty.dtype, shape, &literals).map_err(|e| e.to_string())
        });
        whole.collect()
    }

    fn jvp(&self, _: &mut Cx<'_>, _: &[Atom], _: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        Err(RuleError::not_differentiable("each", "TODO"))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("each"))
    }

    fn batch(&self, _: &mut Cx<'_>, _: usize, _: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        Err(RuleError::Unsupported { primitive: "each".into(), why: "TODO".into() })
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::Control(Control::Each(self.clone())))
    }

    fn examples() -> Vec<Example> {
        Vec::new()
    }
}

/// Element `i` along an axis, the first or the last.
fn element(x: &Tensor, axis: i64, i: usize) -> Tensor {
    let Ok(axis) = usize::try_from(axis) else { return x.clone() };
    let shape = x.shape().remove(axis);
    let (size, len) = (x.shape().size(axis), shape.len());
    let place = |e: usize| if axis == 0 { i * len + e } else { e * size + i };
    let literals: Vec<_> = (0..len).map(|e| x.literal(place(e))).collect();
    Tensor::from_literals(x.dtype(), shape, &literals).expect("one literal for each element")
}

/// A primitive applied to each index of a batch, one by one.
pub(super) fn batch_each(
    cx: &mut Cx<'_>,
    prim: Prim,
    size: usize,
    operands: &[Batched],
) -> Result<Vec<Batched>, RuleError> {
    let name = prim.name().to_string();
    let mut b = GraphBuilder::new();
    let inputs = operands.iter().map(|operand| {
        let ty = cx.ty(&operand.atom);
        let element = if operand.batched { ty.with_shape(ty.shape.remove(0)) } else { ty };
        Atom::Var(b.input(element))
    });
    let inputs: Vec<Atom> = inputs.collect();
    let outputs = b.bind(prim, &inputs)?.into_vec();
    let each = Each {
        axes: operands.iter().map(|operand| if operand.batched { 0 } else { -1 }).collect(),
        out_axes: vec![0; outputs.len()],
        graph: Arc::new(b.finish(name, outputs)),
        size,
    };
    let atoms: Vec<Atom> = operands.iter().map(|operand| operand.atom.clone()).collect();
    Ok(cx.bind_all(each, &atoms)?.into_iter().map(Batched::yes).collect())
}
