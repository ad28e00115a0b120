//! `each[graph=G, size=n, axes=[…], out_axes=[…]] x…`: applies a graph to every index of an axis, independently.

use std::sync::Arc;

use tracewell_array::Tensor;

use super::nested::{Place, check_operands, chosen, first_half, inline_strictly, spread};
use super::{Prim, ReduceSum, each_examples};
use crate::builder::GraphBuilder;
use crate::error::{RuleError, TypeError};
use crate::eval::eval;
use crate::graph::{Atom, Graph, Var};
use crate::params;
use crate::primitive::{Batched, Control, Cx, Example, Jvp, Linearized, Lowering, Operand, Primitive};
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

    /// The derivative is applied to each index, a tangent along the axis of its array.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let active: Vec<bool> = tangents.iter().map(Option::is_some).collect();
        let tangents: Vec<Atom> = tangents.iter().flatten().cloned().collect();
        if cx.linearizing() {
            return self.in_two_parts(cx, primals, tangents, &active);
        }
        let (graph, has_tangent) = cx.walks().jvp(&self.graph, &active)?;
        let each = Each {
            graph: Arc::new(graph),
            size: self.size,
            axes: [self.axes.clone(), chosen(&self.axes, &active)].concat(),
            out_axes: [self.out_axes.clone(), chosen(&self.out_axes, &has_tangent)].concat(),
        };
        let mut primals = cx.bind_all(each, &[primals, &tangents].concat())?;
        let tangents = primals.split_off(self.out_axes.len());
        Ok(Jvp { primals, tangents: spread(tangents, &has_tangent) })
    }

    /// The adjoint is applied to each index. What is the same each time has the sum of the cotangents it has at each.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let linear: Vec<bool> = operands.iter().map(Operand::is_linear).collect();
        let known: Vec<bool> = linear.iter().map(|linear| !linear).collect();
        let given: Vec<bool> = cotangents.iter().map(Option::is_some).collect();
        let (graph, nonzero) = cx.walks().transpose(&self.graph, &linear, &given)?;
        let axes = chosen(&self.axes, &linear);
        let each = Each {
            graph: Arc::new(graph),
            size: self.size,
            axes: [chosen(&self.axes, &known), chosen(&self.out_axes, &given)].concat(),
            out_axes: chosen(&axes, &nonzero).into_iter().map(|axis| axis.max(0)).collect(),
        };
        let known = operands.iter().filter_map(Operand::known);
        let inputs: Vec<Atom> = known.chain(cotangents.iter().flatten()).cloned().collect();
        let found = spread(cx.bind_all(each, &inputs)?, &nonzero);
        let mut found = found.into_iter().zip(axes);
        let mut sum = |(found, axis): (Option<Atom>, i64)| match found {
            Some(each) if axis == -1 => cx.bind(ReduceSum { axes: vec![0] }, &[&each]).map(Some),
            found => Ok(found),
        };
        let next = linear.iter().map(|&linear| if linear { found.next() } else { None });
        next.map(|next| next.map_or(Ok(None), &mut sum)).collect()
    }

    /// One more around it: each index of the batch has all of them.
    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_each(cx, self.clone().into(), size, operands)
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::Control(Control::Each(self.clone())))
    }

    fn examples() -> Vec<Example> {
        each_examples::examples()
    }
}

impl Each {
    /// The derivative as two of these. What the second reads is an operand of the first, a result of it, or the same
    /// each time and computed before; all else goes along the last axis of a new result.
    fn in_two_parts(
        &self,
        cx: &mut Cx<'_>,
        primals: &[Atom],
        tangents: Vec<Atom>,
        active: &[bool],
    ) -> Result<Jvp, RuleError> {
        let Linearized { primal, linear, tangents: has_tangent } =
            cx.walks().linearize(&self.graph, active)?;
        let count = self.out_axes.len();
        let (before, computed) = self.computed_before(cx, &primal, primals)?;
        let inputs = [primal.inputs.as_slice(), &before].concat();
        let operands = [primals, &computed].concat();
        let axes = [self.axes.clone(), vec![-1; before.len()]].concat();

        let whole = primal.part(primal.name.as_str(), &inputs, &primal.outputs);
        let (graph, places) = first_half(whole, count);
        let last = graph.output_types().into_iter().skip(count).map(|ty| ty.rank() as i64);
        let out_axes: Vec<i64> = self.out_axes.iter().copied().chain(last).collect();
        let (size, graph) = (self.size, Arc::new(graph));
        let first = Each { graph, size, axes: axes.clone(), out_axes: out_axes.clone() };
        let mut results = cx.bind_all(first, &operands)?;

        let read = places.into_iter().map(|place| match place {
            Place::Operand(i) => (operands[i].clone(), axes[i]),
            Place::Output(i) => (results[i].clone(), out_axes[i]),
        });
        let (mut operands, mut axes): (Vec<Atom>, Vec<i64>) = read.unzip();
        operands.extend(tangents);
        axes.extend(chosen(&self.axes, active));
        let out_axes = chosen(&self.out_axes, &has_tangent);
        let found = cx.bind_all(Each { graph: Arc::new(linear), size, axes, out_axes }, &operands)?;
        results.truncate(count);
        Ok(Jvp { primals: results, tangents: spread(found, &has_tangent) })
    }

    /// What the first half of a derivative passes out although it is the same each time: its variables, and their
    /// values.
    fn computed_before(
        &self,
        cx: &mut Cx<'_>,
        primal: &Graph,
        primals: &[Atom],
    ) -> Result<(Vec<Var>, Vec<Atom>), RuleError> {
        let shared: Vec<bool> = self.axes.iter().map(|&axis| axis == -1).collect();
        let differs = primal.depends_beyond(&shared);
        let mut before: Vec<Var> = Vec::new();
        for var in primal.outputs[self.out_axes.len()..].iter().filter_map(Atom::var) {
            if !differs[var.0 as usize] && !primal.inputs.contains(&var) && !before.contains(&var) {
                before.push(var);
            }
        }
        if before.is_empty() {
            return Ok((before, Vec::new()));
        }
        let outputs: Vec<Atom> = before.iter().map(|&var| var.into()).collect();
        let once = primal.part(format!("{}_before", primal.name), &chosen(&primal.inputs, &shared), &outputs);
        let computed = inline_strictly(cx, &once, &chosen(primals, &shared))?;
        Ok((before, computed))
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
