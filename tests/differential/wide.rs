//! How exact compiled results are: their distance from what the graph gives if every float in it is an `f64`.
//!
//! A measurement, not a judgement: subtractions of nearly equal numbers lose digits in any program. What is judged is
//! that most graphs lose few.

use std::sync::Arc;

use tracewell_array::{DType, Tensor};
use tracewell_graph::{Atom, Graph, GraphBuilder, ParamValue, Prim, Splat, eval};

/// The largest distance of the float results from those of the wide graph, each relative to the largest element of
/// its array, in units of the coarsest float's precision. `None` if there is nothing to compare.
pub fn error(graph: &Graph, inputs: &[Tensor], found: &[Tensor]) -> Option<f64> {
    let wide = widen(graph)?;
    let inputs: Vec<Tensor> = inputs.iter().map(widened).collect();
    let exact = eval(&wide, &inputs).ok()?;
    let mut worst: Option<f64> = None;
    for (found, exact) in found.iter().zip(&exact).filter(|(found, _)| found.dtype() == DType::F32) {
        let finite =
            |t: &Tensor| t.literals().map(|x| x.as_f64()).filter(|x| x.is_finite()).collect::<Vec<f64>>();
        let scale = finite(exact).iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        if scale < f64::from(f32::MIN_POSITIVE) {
            continue;
        }
        for (x, y) in found.literals().zip(exact.literals()) {
            let (x, y) = (x.as_f64(), y.as_f64());
            if x.is_finite() && y.is_finite() {
                let units = (x - y).abs() / scale / f64::from(f32::EPSILON);
                worst = Some(worst.map_or(units, |worst| worst.max(units)));
            }
        }
    }
    worst
}

/// The graph with `f64` for `f32` everywhere; `None` where the element type is part of what it computes.
fn widen(graph: &Graph) -> Option<Graph> {
    let mut builder = GraphBuilder::new();
    let mut values: Vec<Option<Atom>> = vec![None; graph.types.len()];
    for &var in &graph.inputs {
        let ty = graph.ty(var);
        let wide = tracewell_graph::ArrayType { dtype: wider(ty.dtype), ..ty.clone() };
        values[var.0 as usize] = Some(Atom::Var(builder.input(wide)));
    }
    let look = |values: &[Option<Atom>], atom: &Atom| match atom {
        Atom::Var(var) => values[var.0 as usize].clone(),
        Atom::Splat(splat) => {
            let literal = splat.literal.convert(wider(splat.literal.dtype()));
            Some(Atom::Splat(Splat { literal, ..splat.clone() }))
        }
    };
    for equation in &graph.equations {
        let operands: Option<Vec<Atom>> = equation.inputs.iter().map(|atom| look(&values, atom)).collect();
        let results = builder.bind(wide_prim(&equation.prim)?, &operands?).ok()?;
        for (&var, result) in equation.outputs.iter().zip(results) {
            values[var.0 as usize] = Some(result);
        }
    }
    let outputs: Option<Vec<Atom>> = graph.outputs.iter().map(|atom| look(&values, atom)).collect();
    Some(builder.finish(graph.name.clone(), outputs?))
}

/// The primitive with `f64` for `f32` in its parameters.
fn wide_prim(prim: &Prim) -> Option<Prim> {
    // What it computes depends on the bits of its element type.
    if ["bitcast", "nextafter"].contains(&prim.name()) {
        return None;
    }
    let mut params: Vec<(String, ParamValue)> = Vec::new();
    let mut whole = true;
    let mut wide_graph = |graph: Arc<Graph>| match widen(&graph) {
        Some(wide) => Arc::new(wide),
        None => {
            whole = false;
            graph
        }
    };
    prim.rules().each_param(&mut |name, value| {
        let wide = match value {
            ParamValue::DType(dtype) => ParamValue::DType(wider(dtype)),
            ParamValue::Tensor(tensor) => ParamValue::Tensor(widened(&tensor)),
            ParamValue::Graph(graph) => ParamValue::Graph(wide_graph(graph)),
            ParamValue::Graphs(graphs) => {
                ParamValue::Graphs(graphs.into_iter().map(&mut wide_graph).collect())
            }
            other => other,
        };
        params.push((name.to_owned(), wide));
    });
    Prim::from_params(prim.name(), &params).filter(|_| whole)
}

fn wider(dtype: DType) -> DType {
    match dtype {
        DType::F32 => DType::F64,
        DType::C64 => DType::C128,
        other => other,
    }
}

fn widened(tensor: &Tensor) -> Tensor {
    let dtype = wider(tensor.dtype());
    if tensor.dtype() == dtype {
        return tensor.clone();
    }
    let literals: Vec<_> = tensor.literals().map(|x| x.convert(dtype)).collect();
    Tensor::from_literals(dtype, tensor.shape().clone(), &literals).expect("as many as before")
}
