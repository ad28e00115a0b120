//! `switch(i, branches)`: one of several functions, by a number that is not known while tracing.

use std::sync::Arc;

use tracewell_array::DType;
use tracewell_graph::prim::{self, Clamp, Convert};
use tracewell_graph::{Graph, GraphBuilder, Location, Splat};
use tracewell_trace::{Api, Error, ErrorKind, Value, bind};

use super::body::{Body, unnamed};
use super::branches::unify;
use super::checks::check_integer;
use super::parts::one;
use crate::array::Array;
use crate::outcome::Outcome;
use crate::staging::{Function, describe, enter, refill};
use crate::tree::Tree;

/// What the function of this number returns. A number below 0 is taken as 0, one that is too large as the last.
///
/// All are traced, and return one structure and types. They use what they capture. Only the chosen one is computed.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::from([1.0f32, 4.0]);
/// let f = |i: i32| switch(&Array::from(i), &[&|| x.clone(), &|| x.sqrt(), &|| -&x]);
/// assert_eq!(f(1).to_string(), "[1. 2.]");
/// assert_eq!(f(7).to_string(), "[-1. -4.]");
/// ```
#[track_caller]
pub fn switch<R: Outcome>(index: &Array, branches: &[&dyn Fn() -> R]) -> R {
    let function = unnamed(Api::Switch, Location::caller());
    R::own(enter::<R, R::Ok>(
        &function,
        || describe(index, "index").option("branches", branches.len().to_string()),
        || {
            if branches.is_empty() {
                let error = Error::new(ErrorKind::Structure, "`switch` has no branches to choose from");
                return Err(error.help("give it at least one function").into());
            }
            let help = match index.dtype() {
                DType::Bool => "to choose by a bool use `cond`, or `.convert(I32)`",
                dtype if dtype.is_float() => "`.convert(I32)` it",
                _ => "take one number of it with `slice`; to choose for each example, `vmap` the function",
            };
            check_integer("the index of `switch`", &index.ty(), help)?;
            let mut bodies = Vec::with_capacity(branches.len());
            for branch in branches {
                bodies.push(Body::stage::<R>(&function, "branch", &[], |_| branch())?);
            }
            let names: Vec<String> = (0..branches.len()).map(|i| format!("branch {i}")).collect();
            unify(&function, &mut bodies, &names)?;
            let index = clamped(index.value(), branches.len(), &function.location)?;
            Ok(bind_switch(&function, index, bodies)?)
        },
    ))
}

/// The number as the `i32` that the primitive takes. A type that holds others is clamped first, so that none becomes
/// another number on the way.
fn clamped(index: &Value, count: usize, location: &Location) -> Result<Value, Error> {
    let ty = index.ty();
    let mut index = index.clone();
    if matches!(ty.dtype, DType::I64 | DType::U32) {
        let number = |n: usize| {
            let literal = tracewell_array::Literal::from_i64(ty.dtype, n as i64);
            Value::Splat(Splat { literal, shape: ty.shape.clone(), weak: ty.weak })
        };
        index = one(Clamp {}, &[number(0), index, number(count - 1)], location)?;
    }
    if ty.dtype == DType::I32 {
        return Ok(index);
    }
    one(Convert { dtype: DType::I32, weak: false }, &[index], location)
}

/// How an error names a branch: by its function's name, or by its place.
pub(super) fn branch_name(function: &Function, place: &str) -> String {
    match &function.name {
        Some(name) => format!("`{name}`"),
        None => place.to_string(),
    }
}

/// Applies the branch that an `i32` scalar chooses, of branches of one type.
pub(super) fn bind_switch<T: Tree>(
    function: &Function,
    index: Value,
    bodies: Vec<Body<T>>,
) -> Result<T, Error> {
    let mut operands: Vec<Value> = Vec::new();
    // For each branch, which of the operands its inputs are.
    let mut places: Vec<Vec<usize>> = Vec::with_capacity(bodies.len());
    for body in &bodies {
        let mut of_branch = Vec::with_capacity(body.captured.len());
        for value in &body.captured {
            let known = operands.iter().position(|operand| is_same(operand, value));
            of_branch.push(known.unwrap_or(operands.len()));
            if known.is_none() {
                operands.push(value.clone());
            }
        }
        places.push(of_branch);
    }
    let branches =
        bodies.iter().zip(&places).map(|(body, places)| with_inputs(&body.graph, &operands, places));
    let prim = prim::Switch { branches: branches.collect() };
    let Some(first) = bodies.first() else { return Err(Error::bug("a switch without branches")) };
    operands.insert(0, index);
    let results = bind(&prim.into(), &operands, &function.location)?;
    Ok(refill(&first.result, results.into_vec()))
}

/// The graph as one of all operands, of which it reads some.
fn with_inputs(graph: &Graph, operands: &[Value], places: &[usize]) -> Arc<Graph> {
    let mut b = GraphBuilder::new();
    let inputs: Vec<_> = operands.iter().map(|operand| b.input(operand.ty())).collect();
    let read: Vec<_> = places.iter().map(|&place| inputs[place].into()).collect();
    let outputs = b.inline(graph, &read);
    Arc::new(b.finish(graph.name.clone(), outputs))
}

/// Whether both are one value: of a trace, or of one buffer.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Traced(a), Value::Traced(b)) => Arc::ptr_eq(a.frame(), b.frame()) && a.var() == b.var(),
        (Value::Known(a, weak), Value::Known(b, other)) => {
            a.as_ptr() == b.as_ptr() && a.dtype() == b.dtype() && a.shape() == b.shape() && weak == other
        }
        _ => false,
    }
}
