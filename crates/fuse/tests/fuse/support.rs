//! Running a graph both ways and comparing.

use tracewell_array::{Complex64, DType, Literal, Tensor};
use tracewell_fuse::{Bands, Options, fuse};
use tracewell_graph::{ArrayType, Atom, Example, Graph, GraphBuilder, eval};
use tracewell_kernel::{Program, eval_program, verify_program};

/// A graph of one equation.
pub(crate) fn single(example: &Example) -> Graph {
    let mut b = GraphBuilder::new();
    let inputs: Vec<Atom> = example.inputs.iter().map(|ty| Atom::Var(b.input(ty.clone()))).collect();
    let outputs = b.bind(example.prim.clone(), &inputs).expect("an example is typed");
    b.finish("single", outputs.into_vec())
}

/// The verified program of a graph.
pub(crate) fn program(name: &str, graph: &Graph, options: &Options) -> Program {
    let program = fuse(graph, options).unwrap_or_else(|error| panic!("{name}: {error}"));
    if let Err(errors) = verify_program(&program) {
        panic!("{name}: {errors}\n{program}");
    }
    program
}

/// Checks that a graph and its programs give the same results.
pub(crate) fn agree(name: &str, graph: &Graph) {
    let inputs: Vec<Tensor> =
        graph.input_types().iter().enumerate().map(|(i, ty)| sample(ty, i as u64 + 1)).collect();
    let expected = eval(graph, &inputs).unwrap_or_else(|error| panic!("{name}: {error}"));
    // As narrow as bands can be.
    let bands = Bands { rows: 1, turn: 1, all: 0, most: 8, bytes: usize::MAX };
    let default = Options::default().bands;
    for (fusion, donated, bands) in
        [(true, true, &default), (true, false, &Some(bands)), (false, true, &default)]
    {
        let options = Options { fusion, donated: vec![donated; inputs.len()], bands: bands.clone() };
        let program = program(name, graph, &options);
        // Programs know complex numbers by their parts.
        let parts: Vec<Tensor> = inputs.iter().map(Tensor::as_parts).collect();
        let found =
            eval_program(&program, &parts).unwrap_or_else(|error| panic!("{name}: {error}\n{program}"));
        assert_eq!(found.len(), expected.len(), "{name}");
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            if let Some(difference) = differ(found, &expected.as_parts()) {
                panic!("{name}: result {i} with fusion {fusion}: {difference}\n{program}");
            }
        }
    }
}

/// The first difference of two arrays of as many elements, beyond rounding.
fn differ(found: &Tensor, expected: &Tensor) -> Option<String> {
    if found.dtype() != expected.dtype() || found.len() != expected.len() {
        return Some(format!(
            "{}[{}] is not {}{}",
            found.dtype(),
            found.len(),
            expected.dtype(),
            expected.shape()
        ));
    }
    let tolerance = if expected.dtype() == DType::F32 { 3e-5 } else { 1e-11 };
    for i in 0..found.len() {
        let (a, b) = (found.literal(i), expected.literal(i));
        let (x, y) = (a.as_f64(), b.as_f64());
        let near =
            (x.is_nan() && y.is_nan()) || x == y || (x - y).abs() <= tolerance * (1.0 + x.abs().max(y.abs()));
        let same = if expected.dtype().is_float() { near } else { a == b };
        if !same {
            return Some(format!("element {i} is {a}, not {b}"));
        }
    }
    None
}

/// An array of unremarkable numbers, the same in every run.
pub(crate) fn sample(ty: &ArrayType, seed: u64) -> Tensor {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 40) as f64) / f64::from(1u32 << 24)
    };
    let literals: Vec<Literal> = (0..ty.shape.len())
        .map(|_| match ty.dtype {
            DType::Bool => Literal::new(next() < 0.5),
            dtype if dtype.is_float() => Literal::from_f64(dtype, next() * 2.5 + 0.25),
            dtype if dtype.is_complex() => {
                Literal::from_complex(dtype, Complex64::new(next() * 2.5 + 0.25, next() - 0.5))
            }
            dtype => Literal::from_i64(dtype, (next() * 20.0) as i64 + 1),
        })
        .collect();
    Tensor::from_literals(ty.dtype, ty.shape.clone(), &literals).expect("one literal for each element")
}
