//! Every pass on graphs of every primitive, with operands that passes look at: the bits of results stay.

use tracewell_array::{DType, Literal, Tensor};
use tracewell_graph::{ArrayType, Atom, Example, Graph, GraphBuilder, Lowering, Prim, Splat, eval, verify};
use tracewell_optimize::{PIPELINE, narrow_from, optimize_with, slabs_of_one};

/// The example with one operand replaced by a literal, twice, and both results.
fn graph(example: &Example, literal_at: usize, number: f64) -> Graph {
    let mut b = GraphBuilder::new();
    let operands: Vec<Atom> = example
        .inputs
        .iter()
        .enumerate()
        .map(|(i, ty)| {
            let literal = Literal::from_f64(ty.dtype, number);
            let splat = Splat { literal, shape: ty.shape.clone(), weak: ty.weak };
            if i == literal_at { Atom::Splat(splat) } else { Atom::Var(b.input(ty.clone())) }
        })
        .collect();
    let mut outputs = b.bind(example.prim.clone(), &operands).expect("an example is typed");
    outputs.extend(b.bind(example.prim.clone(), &operands).expect("an example is typed"));
    b.finish("f", outputs.into_vec())
}

/// Numbers with every special one among them.
fn sample(ty: &ArrayType, seed: usize) -> Tensor {
    const NUMBERS: [f64; 12] =
        [0.0, -0.0, 1.0, -1.0, 0.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 3.25, -7.0, 1e-30, 100.0];
    let literals: Vec<Literal> = (0..ty.shape.len())
        .map(|i| {
            let number = NUMBERS[(i * 5 + seed * 7) % NUMBERS.len()];
            match ty.dtype {
                DType::Bool => Literal::new(number > 0.0),
                // Of which compositions promise nothing.
                dtype if dtype.is_complex() && !number.is_finite() => Literal::from_f64(dtype, -2.5),
                dtype => Literal::from_f64(dtype, number),
            }
        })
        .collect();
    Tensor::from_literals(ty.dtype, ty.shape.clone(), &literals).expect("one literal for each element")
}

fn check(name: &str, graph: &Graph) {
    let inputs: Vec<Tensor> =
        graph.input_types().iter().enumerate().map(|(i, ty)| sample(ty, i + 1)).collect();
    let expected = eval(graph, &inputs).expect("evaluates");
    let is_composed = is_composed(graph);
    let keeps = |pass: &str, result: &Graph| {
        if let Err(errors) = verify(result) {
            panic!("{name} after {pass}: {errors}");
        }
        assert_eq!(result.input_types(), graph.input_types(), "{name} after {pass}");
        let found = eval(result, &inputs).unwrap_or_else(|error| panic!("{name} after {pass}: {error}"));
        assert!(
            same(&found, &expected, is_composed),
            "{name} after {pass}:\n{result}\n{found:?}\n{expected:?}"
        );
    };
    optimize_with(graph, PIPELINE.len(), &mut |pass, result| keeps(pass, result));
    // Examples are short.
    let apart = narrow_from(graph, 1);
    if apart != *graph {
        keeps("narrow axes of any length", &apart);
    }
    let cut = slabs_of_one(graph);
    if cut != *graph {
        keeps("slabs of one image", &cut);
    }
}

/// Bit for bit, but for the sign and payload of a NaN, which no operation promises. A composition that takes the place
/// of its primitive rounds where the primitive, evaluated as a whole, does not; and a composition of the parts of complex
/// numbers promises nothing of infinite ones.
fn same(found: &[Tensor], expected: &[Tensor], is_composed: bool) -> bool {
    let is_nan = |x: Literal| x.dtype().is_inexact() && x.as_complex().is_nan();
    let is_open = |x: Literal| x.dtype().is_complex() && !x.as_complex().is_finite();
    found.len() == expected.len()
        && found.iter().zip(expected).all(|(a, b)| {
            let finite = b.literals().map(|x| x.as_complex().norm()).filter(|x| x.is_finite());
            let near =
                if is_composed { 1e-5 * finite.fold(0.0, |most, x| f64::max(most, x.abs())) } else { 0.0 };
            let is_near = |x: Literal, y: Literal| {
                is_composed && (is_open(y) || (x.as_complex() - y.as_complex()).norm() <= near)
            };
            a.dtype() == b.dtype()
                && a.shape() == b.shape()
                && a.literals()
                    .zip(b.literals())
                    .all(|(x, y)| x == y || (is_nan(x) && is_nan(y)) || is_near(x, y))
        })
}

/// Whether a primitive of the graph is replaced by others.
fn is_composed(graph: &Graph) -> bool {
    graph.equations.iter().any(|equation| {
        let inputs: Vec<ArrayType> = equation.inputs.iter().map(|atom| graph.atom_type(atom)).collect();
        let outputs: Vec<ArrayType> = equation.outputs.iter().map(|&var| graph.ty(var).clone()).collect();
        matches!(equation.prim.rules().lower(&inputs, &outputs), Ok(Lowering::Graph(_)))
    })
}

#[test]
fn every_example() {
    for example in Prim::examples() {
        for number in [0.0, -0.0, 1.0, 2.5] {
            for literal_at in 0..=example.inputs.len() {
                let name = format!("{:?} of {:?}", example.prim, example.inputs);
                check(&name, &graph(&example, literal_at, number));
            }
        }
    }
}

/// Every primitive applied to the result of every other that it can be applied to.
#[test]
fn every_pair() {
    let examples: Vec<Example> = Prim::examples()
        .into_iter()
        .filter(|e| e.inputs.iter().all(|ty| matches!(ty.dtype, DType::F32 | DType::I32 | DType::Bool)))
        .collect();
    for first in &examples {
        let Ok(types) = first.prim.rules().type_rule(&first.inputs) else { continue };
        let alike = |e: &&Example| e.inputs.first() == types.first() && e.inputs.len() <= 2;
        for second in examples.iter().filter(alike).step_by(3) {
            let mut b = GraphBuilder::new();
            let inputs: Vec<Atom> = first.inputs.iter().map(|ty| Atom::Var(b.input(ty.clone()))).collect();
            let middle = b.bind(first.prim.clone(), &inputs).expect("an example is typed").remove(0);
            let mut operands = vec![middle.clone()];
            operands.extend(second.inputs[1..].iter().map(|ty| Atom::Var(b.input(ty.clone()))));
            let outputs = b.bind(second.prim.clone(), &operands).expect("an example is typed");
            let graph = b.finish("f", outputs.into_vec());
            check(&format!("{:?} after {:?}", second.prim, first.prim), &graph);
        }
    }
}
