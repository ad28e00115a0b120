//! Uses of `each` that reach every case of its rules. They add and multiply only, so that results differ no more than
//! the order of a sum makes them.

use std::sync::Arc;

use tracewell_array::{DType, Shape};
use tracewell_kernel::Comparison;

use super::{Add, Compare, DynamicSlice, Each, Min, Mul, ReduceSum, Scan, While};
use crate::builder::GraphBuilder;
use crate::error::TypeError;
use crate::graph::{Atom, Graph};
use crate::primitive::Example;
use crate::ty::ArrayType;

/// All of them.
pub(super) fn examples() -> Vec<Example> {
    let mut all = Vec::new();
    for dtype in [DType::F32, DType::F64] {
        for size in [4, 1, 0] {
            all.push(first_and_last(dtype, size));
            all.push(shared_work(dtype, size));
        }
        all.extend([reduced(dtype), nested(dtype), looked_up(dtype), scanned(dtype), repeated(dtype)]);
    }
    all.extend([DType::I32, DType::I64].map(|dtype| first_and_last(dtype, 3)));
    all
}

/// An example from a graph written with a builder, its operands and the axes.
fn example(
    operands: &[(ArrayType, i64)],
    size: usize,
    out_axes: &[i64],
    write: impl FnOnce(&mut GraphBuilder, &[Atom]) -> Result<Vec<Atom>, TypeError>,
) -> Example {
    let mut b = GraphBuilder::new();
    let element = |(ty, axis): &(ArrayType, i64)| match usize::try_from(*axis) {
        Ok(axis) => ty.with_shape(ty.shape.remove(axis)),
        Err(_) => ty.clone(),
    };
    let inputs: Vec<Atom> = operands.iter().map(|operand| b.input(element(operand)).into()).collect();
    let outputs = write(&mut b, &inputs).expect("typed");
    let (inputs, axes) = operands.iter().cloned().unzip();
    let graph = Arc::new(b.finish("example", outputs));
    Example { prim: Each { graph, size, axes, out_axes: out_axes.to_vec() }.into(), inputs }
}

/// `x·y·x` and `x·y + z`, along the first axis and the last; `z` is the same each time.
fn first_and_last(dtype: DType, size: usize) -> Example {
    let operands = [
        (ArrayType::new(dtype, [size, 3]), 0),
        (ArrayType::new(dtype, [3, size]), 1),
        (ArrayType::new(dtype, [3]), -1),
    ];
    example(&operands, size, &[0, 1], |b, x| {
        let product = b.bind1(Mul {}, &x[..2])?;
        let square = b.bind1(Mul {}, &[product.clone(), x[0].clone()])?;
        let sum = b.bind1(Add {}, &[product, x[2].clone()])?;
        Ok(vec![square, sum])
    })
}

/// `w·w·x` and `w` itself, for numbers `x` and an array `w` that is the same each time.
fn shared_work(dtype: DType, size: usize) -> Example {
    let operands = [(ArrayType::new(dtype, [2]), -1), (ArrayType::new(dtype, [2, size]), 1)];
    example(&operands, size, &[1, 0], |b, x| {
        let square = b.bind1(Mul {}, &[x[0].clone(), x[0].clone()])?;
        let product = b.bind1(Mul {}, &[square, x[1].clone()])?;
        Ok(vec![product, x[0].clone()])
    })
}

/// The sum of `x·w·x`: a reduction for each index.
fn reduced(dtype: DType) -> Example {
    let operands = [(ArrayType::new(dtype, [5, 3]), 1), (ArrayType::new(dtype, [5]), -1)];
    example(&operands, 3, &[0], |b, x| {
        let product = b.bind1(Mul {}, x)?;
        let product = b.bind1(Mul {}, &[product, x[0].clone()])?;
        Ok(vec![b.bind1(ReduceSum { axes: vec![0] }, &[product])?])
    })
}

/// `x·x·w` for each number of each row.
fn nested(dtype: DType) -> Example {
    let operands = [(ArrayType::new(dtype, [2, 3]), 0), (ArrayType::new(dtype, [2]), 0)];
    example(&operands, 2, &[1], |b, x| {
        let number = ArrayType::new(dtype, Shape::scalar());
        let graph = graph_of(&[&number, &number], |b, x| {
            let square = b.bind1(Mul {}, &[x[0].clone(), x[0].clone()])?;
            Ok(vec![b.bind1(Mul {}, &[square, x[1].clone()])?])
        })?;
        Ok(b.bind(Each { graph, size: 3, axes: vec![0, -1], out_axes: vec![0] }, x)?.into_vec())
    })
}

/// An element of `x` at each of some places.
fn looked_up(dtype: DType) -> Example {
    let operands = [(ArrayType::new(dtype, [5]), -1), (ArrayType::new(DType::I32, [4]), 0)];
    example(&operands, 4, &[0], |b, x| Ok(vec![b.bind1(DynamicSlice { sizes: vec![1] }, x)?]))
}

/// A graph from its input types.
fn graph_of(
    types: &[&ArrayType],
    write: impl FnOnce(&mut GraphBuilder, &[Atom]) -> Result<Vec<Atom>, TypeError>,
) -> Result<Arc<Graph>, TypeError> {
    let mut b = GraphBuilder::new();
    let inputs: Vec<Atom> = types.iter().map(|&ty| b.input(ty.clone()).into()).collect();
    let outputs = write(&mut b, &inputs)?;
    Ok(Arc::new(b.finish("inner", outputs)))
}

/// `c = c·x + x` for every `x` of a column, and each `c·x`: a loop for each index.
fn scanned(dtype: DType) -> Example {
    let operands = [(ArrayType::new(dtype, [3]), 0), (ArrayType::new(dtype, [4, 3]), 1)];
    example(&operands, 3, &[0, 1], |b, x| {
        let number = ArrayType::new(dtype, Shape::scalar());
        let body = graph_of(&[&number, &number], |b, x| {
            let product = b.bind1(Mul {}, x)?;
            let sum = b.bind1(Add {}, &[product.clone(), x[1].clone()])?;
            Ok(vec![sum, product])
        })?;
        let scan = Scan { body, consts: 0, carries: 1, length: 4, reverse: false, unroll: 1 };
        Ok(b.bind(scan, x)?.into_vec())
    })
}

/// `x = x·w`, for each index as often as an integer says, but at most three times.
fn repeated(dtype: DType) -> Example {
    let operands = [
        (ArrayType::new(DType::I32, [3]), 0),
        (ArrayType::new(dtype, [2]), -1),
        (ArrayType::new(dtype, [2, 3]), 1),
    ];
    example(&operands, 3, &[0, 1], |b, x| {
        let (int, pair) = (ArrayType::new(DType::I32, Shape::scalar()), ArrayType::new(dtype, [2]));
        let cond = graph_of(&[&int, &int, &pair], |b, x| {
            let most = b.bind1(Min {}, &[x[0].clone(), Atom::fill(&int, 3.0)])?;
            Ok(vec![b.bind1(Compare { comparison: Comparison::Lt }, &[x[1].clone(), most])?])
        })?;
        let body = graph_of(&[&pair, &int, &pair], |b, x| {
            let next = b.bind1(Add {}, &[x[1].clone(), Atom::fill(&int, 1.0)])?;
            Ok(vec![next, b.bind1(Mul {}, &[x[2].clone(), x[0].clone()])?])
        })?;
        let [times, w, x] = x else { unreachable!("three operands") };
        let operands = [times.clone(), w.clone(), Atom::fill(&int, 0.0), x.clone()];
        Ok(b.bind(While { cond, body, cond_consts: 1, body_consts: 1 }, &operands)?.into_vec())
    })
}
