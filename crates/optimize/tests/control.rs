//! Every pass keeps every bit of what control flow computes: as it is given, differentiated, transposed and batched.

use tracewell_array::{Literal, Tensor};
use tracewell_graph::{ArrayType, Atom, Example, Graph, GraphBuilder, Prim, eval, text, verify};
use tracewell_optimize::{PIPELINE, optimize_with};
use tracewell_transform::{batch, jvp, linearize, transpose};

/// Uses of control flow.
fn examples() -> impl Iterator<Item = Example> {
    Prim::examples().into_iter().filter(|example| example.prim.is_control())
}

/// The graph of one equation; operands for which `literal` holds are ones, and of `weak` types others.
fn single(example: &Example, weak: impl Fn(usize) -> bool, literal: impl Fn(usize) -> bool) -> Graph {
    let mut b = GraphBuilder::new();
    let types = example.inputs.iter().enumerate();
    let operands: Vec<Atom> = types
        .map(|(i, ty)| match literal(i) {
            true => Atom::fill(ty, 1.0),
            false => Atom::Var(b.input(ArrayType { weak: weak(i), ..ty.clone() })),
        })
        .collect();
    let results = b.bind(example.prim.clone(), &operands).expect("an example is well-typed");
    b.finish("single", results.into_vec())
}

/// Floats between -1 and 1, and small integers, some of them negative.
fn inputs(graph: &Graph) -> Vec<Tensor> {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut literal = |ty: &ArrayType| match ty.dtype.is_float() {
        true => Literal::from_f64(ty.dtype, (next() % 2000) as f64 / 1000.0 - 1.0),
        false => Literal::from_i64(ty.dtype, (next() % 5) as i64 - 1),
    };
    let mut tensor = |ty: &ArrayType| {
        let literals: Vec<Literal> = (0..ty.shape.len()).map(|_| literal(ty)).collect();
        Tensor::from_literals(ty.dtype, ty.shape.clone(), &literals).expect("one for each element")
    };
    graph.input_types().iter().map(&mut tensor).collect()
}

/// Runs all passes, each of which must give a sound graph, and compares what the last gives.
#[track_caller]
fn check(graph: &Graph) {
    verify(graph).unwrap_or_else(|errors| panic!("{errors}"));
    let optimized = optimize_with(graph, PIPELINE.len(), &mut |pass, made| {
        verify(made).unwrap_or_else(|errors| panic!("{pass} of\n{}gives\n{errors}", text::write(graph)));
    });
    let x = inputs(graph);
    let expected = eval(graph, &x).expect("typed");
    let found = eval(&optimized, &x).expect("typed");
    let same = |(a, b): (&Tensor, &Tensor)| a.shape() == b.shape() && a.as_bytes() == b.as_bytes();
    let is_same = found.len() == expected.len() && found.iter().zip(&expected).all(same);
    let texts = || [text::write(graph), text::write(&optimized)].join("becomes\n");
    assert!(is_same, "found {found:?}, expected {expected:?}\n{}", texts());
}

#[test]
fn as_it_is_and_batched() {
    for example in examples() {
        for weak in [false, true] {
            let graph = single(&example, |i| weak && i.is_multiple_of(2), |_| false);
            check(&graph);
            let (batched, _) = batch(&graph, 2, &vec![true; graph.inputs.len()]).expect("it has a batch");
            check(&batched);
        }
    }
}

#[test]
fn with_literals_and_of_single_results() {
    for example in examples() {
        for literal in 0..example.inputs.len() {
            let graph = single(&example, |_| false, |i| i == literal);
            for output in &graph.outputs {
                check(&Graph { outputs: vec![output.clone()], ..graph.clone() });
            }
        }
    }
}

#[test]
fn derivatives() {
    let floats =
        |graph: &Graph| -> Vec<bool> { graph.input_types().iter().map(|ty| ty.dtype.is_float()).collect() };
    for example in examples() {
        let graph = single(&example, |i| i == 0, |_| false);
        // Not all control flow has a derivative in reverse.
        let (Ok((both, _)), Ok(split)) = (jvp(&graph, &floats(&graph)), linearize(&graph, &floats(&graph)))
        else {
            continue;
        };
        let residuals = split.primal.outputs.len() - graph.outputs.len();
        let linear: Vec<bool> = (0..split.linear.inputs.len()).map(|i| i >= residuals).collect();
        let given = vec![true; split.linear.outputs.len()];
        let Ok((adjoint, _)) = transpose(&split.linear, &linear, &given) else { continue };
        let (again, _) = jvp(&adjoint, &floats(&adjoint)).expect("an adjoint has a derivative");
        let (batched, _) = batch(&adjoint, 2, &vec![true; adjoint.inputs.len()]).expect("it has a batch");
        check(&both);
        check(&split.primal);
        // A loop may not end on residuals that are no residuals.
        if text::write(&split.linear).contains("while[") {
            continue;
        }
        for graph in [&split.linear, &adjoint, &again, &batched] {
            check(graph);
        }
    }
}
