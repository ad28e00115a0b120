//! What can be computed now: elementwise functions of literals and small constants, and views of them.
//!
//! Folding must keep the bits that compiled code would compute, so a function is evaluated by its expansion into
//! kernel operations, and folded only where the reference evaluation of its primitive agrees to the bit.
//!
//! Deliberately absent: reductions and products of floats, whose order belongs to the program; results that are
//! not numbers, whose bits belong to the machine; and results larger than their operands, which are better
//! computed where they are read.

use rustc_hash::FxHashMap;
use smallvec::smallvec;
use tracewell_array::{DType, Tensor};
use tracewell_graph::prim::Constant;
use tracewell_graph::{ArrayType, Atom, Equation, Graph, GraphBuilder, Lowering, MapFn, Splat, Var, View};
use tracewell_kernel::{Cells, Index, KernelBuilder, Size, Value, eval_kernel};

use crate::rebuild::{Results, keep, rebuild};

/// Elements of the largest constant that is folded.
const MAX_ELEMENTS: usize = 4096;
/// Steps after which the evaluation of a scalar function with loops is given up.
const MAX_STEPS: u64 = 1 << 22;

/// Computes what depends on literals and small constants alone.
pub fn fold(graph: &Graph) -> Graph {
    let mut constants: FxHashMap<Var, Tensor> = FxHashMap::default();
    rebuild(graph, |builder, equation, operands| {
        let Some(tensors) = known(&constants, &operands) else {
            return keep(builder, graph, equation, &operands);
        };
        let [out] = equation.outputs.as_slice() else {
            return keep(builder, graph, equation, &operands);
        };
        let ty = graph.ty(*out);
        match folded(equation, &operands, &tensors, builder, ty) {
            Some(value) => fill(builder, &mut constants, value, ty)
                .unwrap_or_else(|| keep(builder, graph, equation, &operands)),
            None => keep(builder, graph, equation, &operands),
        }
    })
}

/// The operands as tensors, filled ones of a single element; `None` if one is not known or too large.
fn known(constants: &FxHashMap<Var, Tensor>, operands: &[Atom]) -> Option<Vec<Tensor>> {
    operands
        .iter()
        .map(|atom| match atom {
            Atom::Var(var) => constants.get(var).cloned(),
            Atom::Splat(splat) => Some(Tensor::full(splat.literal, [])),
        })
        .collect()
}

/// The result as a tensor, of a single element where it is the same everywhere.
fn folded(
    equation: &Equation,
    operands: &[Atom],
    tensors: &[Tensor],
    builder: &GraphBuilder,
    ty: &ArrayType,
) -> Option<Tensor> {
    let types: Vec<ArrayType> = operands.iter().map(|a| builder.ty(a)).collect();
    // A lowering of complex numbers is about their parts in memory.
    if ty.dtype.is_complex() || types.iter().any(|ty| ty.dtype.is_complex()) {
        return None;
    }
    let is_uniform = !operands.iter().any(|a| matches!(a, Atom::Var(_)));
    match equation.prim.rules().lower(&types, std::slice::from_ref(ty)).ok()? {
        Lowering::Constant(tensor) => Some(tensor),
        Lowering::Map(f) if is_uniform || ty.shape.len() <= MAX_ELEMENTS => {
            let count = if is_uniform { 1 } else { ty.shape.len() };
            let expanded = evaluate(&f, tensors, ty.dtype, count)?;
            let whole: Vec<Tensor> = tensors.iter().map(|t| spread(t, count)).collect();
            let reference = equation.prim.rules().eval(&whole).ok()?.pop()?;
            let is_number = expanded.literals().all(|l| !l.as_f64().is_nan());
            (is_number && expanded.as_bytes() == reference.as_bytes()).then_some(expanded)
        }
        Lowering::View(_) if is_uniform => Some(tensors[0].clone()),
        Lowering::View(view) if ty.shape.len() <= MAX_ELEMENTS => {
            let larger = matches!(view, View::Axes(_)) && ty.shape.len() > tensors[0].len();
            if larger { None } else { equation.prim.rules().eval(tensors).ok()?.pop() }
        }
        _ => None,
    }
}

/// A tensor of one element repeated; any other as it is, flat.
fn spread(tensor: &Tensor, count: usize) -> Tensor {
    if tensor.rank() == 0 && count != 1 {
        return Tensor::full(tensor.literal(0), [count]);
    }
    tensor.reshape([count]).expect("as many elements as the result")
}

/// An elementwise function by its expansion.
fn evaluate(f: &MapFn, tensors: &[Tensor], dtype: DType, count: usize) -> Option<Tensor> {
    let mut builder = KernelBuilder::new();
    let inputs: Vec<_> = tensors.iter().map(|t| builder.param(t.dtype(), false)).collect();
    let output = builder.param(dtype, true);
    builder.each(Size::Const(count as i64), |b, var| {
        let at = |stride: i64| Index { offset: Size::Const(0), terms: smallvec![(var, Size::Const(stride))] };
        let args: Vec<Value> = inputs
            .iter()
            .zip(tensors)
            .map(|(&buffer, tensor)| b.load(buffer, if tensor.rank() == 0 { Index::at(0) } else { at(1) }))
            .collect();
        let value = f(b, &args);
        b.store(output, at(1), value);
    });
    let mut cells: Vec<Cells> = tensors.iter().map(Cells::of).collect();
    cells.push(Cells::undefined(dtype, count));
    eval_kernel(&builder.finish("fold"), &mut cells, &[], MAX_STEPS).ok()?;
    cells.pop()?.tensor()
}

/// The result in the new graph: a literal where all elements are equal, else a constant.
fn fill(
    builder: &mut GraphBuilder,
    constants: &mut FxHashMap<Var, Tensor>,
    value: Tensor,
    ty: &ArrayType,
) -> Option<Results> {
    if value.dtype() != ty.dtype {
        return None;
    }
    let small = value.len() <= MAX_ELEMENTS;
    if !value.is_empty() && small {
        let first = value.literal(0);
        if value.literals().all(|l| l == first) {
            let splat = Splat { literal: first, shape: ty.shape.clone(), weak: ty.weak };
            return Some(smallvec![Atom::Splat(splat)]);
        }
    }
    // A constant is never weak; one of the operands of this one was.
    if ty.weak {
        return None;
    }
    let value = value.reshape(ty.shape.clone()).ok()?;
    let result = builder.push(Constant { value: value.clone() }.into(), &[], [ty.clone()]).remove(0);
    if let (Atom::Var(var), true) = (&result, small) {
        constants.insert(*var, value);
    }
    Some(smallvec![result])
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::testing::check;

    #[test]
    fn literals_and_small_constants() {
        check(
            fold,
            "(%0: f32[4]) -> (f32[4], f32[2], bool[2,2], i32[2,3])",
            "%1: f32[4] = mul 2.0:f32[4], 3.0:f32[4]
            %2: f32[4] = add %0, %1
            %3: f32[2] = constant[value=f32[2]{1.0,2.5}]
            %4: f32[2] = add %3, 0.5:f32[2]
            %5: bool[2,2] = compare[comparison=lt] 1:i32[2,2], 2:i32[2,2]
            %6: i32[3,2] = constant[value=i32[3,2]{1,2,3,4,5,6}]
            %7: i32[2,3] = permute[axes=[1,0]] %6
            return %2, %4, %5, %7",
            expect![[r#"
                %1: f32[4] = add %0, 6.0:f32[4]
                %2: f32[2] = constant[value=f32[2]{1.0,2.5}]
                %3: f32[2] = constant[value=f32[2]{1.5,3.0}]
                %4: i32[3,2] = constant[value=i32[3,2]{1,2,3,4,5,6}]
                %5: i32[2,3] = constant[value=i32[2,3]{1,3,5,2,4,6}]
                return %1, %3, true:bool[2,2], %5
            "#]],
        );
    }

    #[test]
    fn what_is_not_folded() {
        check(
            fold,
            "() -> (f32[2], f32[], f32[5])",
            "%0: f32[2] = div 0.0:f32[2], 0.0:f32[2]
            %1: f32[] = reduce_sum[axes=[0]] 0.1:f32[7]
            %2: f32[1] = constant[value=f32[1]{1.0}]
            %3: f32[2] = constant[value=f32[2]{1.0,2.0}]
            %4: f32[2,5] = broadcast[shape=[2,5], axes=[0]] %3
            %5: f32[5] = reduce_sum[axes=[0]] %4
            return %0, %1, %5",
            expect![[r#"
                %0: f32[2] = div 0.0:f32[2], 0.0:f32[2]
                %1: f32[] = reduce_sum[axes=[0]] 0.1:f32[7]
                %2: f32[2] = constant[value=f32[2]{1.0,2.0}]
                %3: f32[2,5] = broadcast[shape=[2,5], axes=[0]] %2
                %4: f32[5] = reduce_sum[axes=[0]] %3
                return %0, %1, %4
            "#]],
        );
    }

    #[test]
    fn uniform_constants_become_literals() {
        check(
            fold,
            "(%0: f32[2]) -> (f32[2])",
            "%1: f32[2] = constant[value=f32[2]{3.0,3.0}]
            %2: f32[2] = add %0, %1
            return %2",
            expect![[r#"
                %1: f32[2] = add %0, 3.0:f32[2]
                return %1
            "#]],
        );
    }
}
