//! Evaluation in which every step is rounded a little differently: what an honest other way to run a graph may give.

use tracewell_array::{DType, Literal, Tensor};
use tracewell_graph::{ArrayType, Atom, Graph, Lowering};

/// Evaluates with every computed float off by a unit or two in its last place, up or down as the noise says.
pub fn eval_roughly(graph: &Graph, inputs: &[Tensor], noise: &mut u64) -> Vec<Tensor> {
    let mut values: Vec<Tensor> = inputs.to_vec();
    let value = |values: &[Tensor], atom: &Atom| match atom {
        Atom::Var(var) => values[var.0 as usize].clone(),
        Atom::Splat(splat) => Tensor::full(splat.literal, splat.shape.clone()),
    };
    for equation in &graph.equations {
        let operands: Vec<Tensor> = equation.inputs.iter().map(|atom| value(&values, atom)).collect();
        let types = |tensors: &[Tensor]| tensors.iter().map(ArrayType::of).collect::<Vec<_>>();
        let results = equation.prim.rules().eval(&operands).expect("well-typed");
        let lowering = equation.prim.rules().lower(&types(&operands), &types(&results));
        if let Ok(Lowering::Graph(inner)) = lowering {
            values.extend(eval_roughly(&inner, &operands, noise));
            continue;
        }
        let exact = matches!(lowering, Ok(Lowering::View(_) | Lowering::Constant(_)));
        let moved = |result: Tensor| {
            if exact || !result.dtype().is_float() { result } else { shake(&result, noise) }
        };
        values.extend(results.into_iter().map(moved));
    }
    graph.outputs.iter().map(|atom| value(&values, atom)).collect()
}

fn shake(tensor: &Tensor, noise: &mut u64) -> Tensor {
    let unit = if tensor.dtype() == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    let mut rough = |x: Literal| {
        *noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let steps = ((*noise >> 60) % 5) as f64 - 2.0;
        Literal::from_f64(x.dtype(), x.as_f64() * (1.0 + steps * unit))
    };
    let literals: Vec<Literal> = tensor.literals().map(&mut rough).collect();
    Tensor::from_literals(tensor.dtype(), tensor.shape().clone(), &literals).expect("as many as before")
}
