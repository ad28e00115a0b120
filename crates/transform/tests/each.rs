//! What an `each` keeps between the two halves of its derivative.

use tracewell_array::DType;
use tracewell_graph::text::{NoCustom, read};
use tracewell_graph::{ArrayType, Graph};
use tracewell_transform::linearize;

/// `exp(w)·sin(x)` for each of five columns `x`; `w` is the same each time.
fn columns() -> Graph {
    let text = "func @columns(%0: f64[2], %1: f64[2,5]) -> (f64[2,5]) {
        %2: f64[2,5] = each[graph=func @column(%0: f64[2], %1: f64[2]) -> (f64[2]) {
            %2: f64[2] = exp %0
            %3: f64[2] = sin %1
            %4: f64[2] = mul %2, %3
            return %4
        }, size=5, axes=[-1,1], out_axes=[1]] %0, %1
        return %2
    }";
    read(text, &NoCustom).expect("it reads")
}

fn residuals(graph: &Graph, active: &[bool]) -> (Graph, Vec<ArrayType>) {
    let primal = linearize(graph, active).expect("it has a derivative").primal;
    let mut types = primal.output_types().split_off(graph.outputs.len());
    types.sort_by_key(|ty| ty.shape.len());
    (primal, types)
}

/// What is the same each time is computed and kept once; what differs goes along the last axis.
#[test]
fn residuals_of_what_is_shared_are_shared() {
    let (primal, kept) = residuals(&columns(), &[false, true]);
    let types = [ArrayType::new(DType::F64, [2]), ArrayType::new(DType::F64, [2, 5])];
    assert_eq!(kept, types, "{primal}");
    assert_eq!(primal.to_string().matches("= exp ").count(), 1, "{primal}");
}

/// An operand that is read again is not copied.
#[test]
fn operands_are_not_kept_twice() {
    let text = "func @products(%0: f64[5], %1: f64[5]) -> (f64[5]) {
        %2: f64[5] = each[graph=func @product(%0: f64[], %1: f64[]) -> (f64[]) {
            %2: f64[] = mul %0, %1
            return %2
        }, size=5, axes=[0,0], out_axes=[0]] %0, %1
        return %2
    }";
    let (primal, kept) = residuals(&read(text, &NoCustom).expect("it reads"), &[true, true]);
    assert_eq!(kept.len(), 2, "{primal}");
    assert_eq!(primal.equations[0].outputs.len(), 1, "{primal}");
}
