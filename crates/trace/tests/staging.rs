//! Staging through the crate's own face: what frames record, what they capture, and what they refuse.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::sync::Mutex;

use tracewell_array::Tensor;
use tracewell_graph::prim::{Add, Mul, Neg};
use tracewell_graph::text::write;
use tracewell_graph::{ArrayType, Location, Prim};
use tracewell_trace::{
    Api, Argument, Error, ErrorKind, Executor, Staged, Value, WATCH_TRACERS, apply, ask, bind, current,
    install_executor, is_idle, stage,
};

/// Runs primitives by their reference evaluation.
struct Reference;

impl Executor for Reference {
    fn execute(&self, prim: &Prim, operands: &[Value], _: &[ArrayType]) -> Result<Vec<Tensor>, Error> {
        let operands: Vec<Tensor> = operands.iter().map(|value| value.known().unwrap()).collect();
        prim.rules().eval(&operands).map_err(Error::bug)
    }
}

#[track_caller]
fn here() -> Location {
    Location::caller()
}

fn number(value: f32) -> Value {
    Value::from(Tensor::scalar(value))
}

fn vector(values: &[f32]) -> Value {
    Value::from(Tensor::from_vec(values.to_vec(), [values.len()]).unwrap())
}

fn argument(name: &str, value: &Value) -> Argument {
    Argument { name: name.to_string(), ty: value.ty(), value: value.known() }
}

fn bind1(prim: impl Into<Prim>, operands: &[&Value]) -> Result<Value, Error> {
    install_executor(Reference);
    let operands: Vec<Value> = operands.iter().map(|&value| value.clone()).collect();
    Ok(bind(&prim.into(), &operands, &here())?.remove(0))
}

fn stage1(api: Api, x: &Value, f: impl FnOnce(&Value) -> Result<Value, Error>) -> Result<Staged, Error> {
    stage(api, Some("f"), &here(), &[argument("x", x)], |tracers| Ok(vec![f(&tracers[0])?]))
}

#[test]
fn a_primitive_runs_at_once_where_nothing_is_traced() {
    let sum = bind1(Add {}, &[&number(1.0), &number(2.0)]).unwrap();
    assert_eq!(sum.known().unwrap().item::<f32>().unwrap(), 3.0);
    assert!(is_idle());
}

#[test]
fn a_primitive_is_recorded_where_something_is() {
    let staged = stage1(Api::Jit, &vector(&[1.0, 2.0]), |x| {
        assert!(!is_idle());
        bind1(Mul {}, &[x, &bind1(Neg {}, &[x])?])
    })
    .unwrap();
    assert!(is_idle());
    let expected = "func @f(%0: f32[2]) -> (f32[2]) {\n  %1: f32[2] = neg %0\n  %2: f32[2] = mul %0, %1\n  return %2\n}\n";
    assert_eq!(write(&staged.graph), expected);
    assert!(staged.captured.is_empty() && !staged.asked);
    assert!(staged.values.iter().all(Option::is_none), "an abstract trace computes nothing");
}

#[test]
fn an_array_of_the_program_is_one_constant() {
    let constant = vector(&[3.0, 4.0]);
    let staged = stage1(Api::Jit, &vector(&[1.0, 2.0]), |x| {
        bind1(Mul {}, &[&bind1(Add {}, &[x, &constant])?, &constant])
    })
    .unwrap();
    assert_eq!(write(&staged.graph).matches("constant[").count(), 1);
}

#[test]
fn a_concrete_trace_computes_as_it_records() {
    let staged = stage1(Api::Grad, &number(3.0), |x| bind1(Mul {}, &[x, x])).unwrap();
    let values: Vec<f32> =
        staged.values.iter().map(|value| value.as_ref().unwrap().item().unwrap()).collect();
    assert_eq!(values, [3.0, 9.0]);
}

#[test]
fn a_value_of_the_trace_outside_is_captured_once() {
    let mut inner = None;
    let outer = stage1(Api::Jit, &number(2.0), |x| {
        let staged = stage1(Api::Jit, x, |y| bind1(Mul {}, &[&bind1(Mul {}, &[y, x])?, x]))?;
        let result = apply(&staged.graph, &[staged.captured[0].clone(), x.clone()], &here());
        inner = Some(staged);
        Ok(result?.remove(0))
    })
    .unwrap();
    let inner = inner.unwrap();
    assert_eq!(inner.captured.len(), 1);
    // Captured values are the first inputs.
    let expected = "func @f(%0: f32[], %1: f32[]) -> (f32[]) {\n  %2: f32[] = mul %1, %0\n  %3: f32[] = mul %2, %0\n  return %3\n}\n";
    assert_eq!(write(&inner.graph), expected);
    assert_eq!(outer.graph.equations.len(), 2);
}

#[test]
fn a_derivative_inside_an_abstract_trace_is_abstract() {
    let error = stage1(Api::Jit, &number(2.0), |x| {
        stage1(Api::Grad, x, |y| {
            assert!(!current().unwrap().evaluates());
            ask(y, "item()", &here()).map(Value::from)
        })?;
        Ok(x.clone())
    });
    assert_eq!(error.unwrap_err().kind(), ErrorKind::AbstractValue);
}

#[test]
fn asking_marks_every_trace_around() {
    let mut inner = None;
    let outer = stage1(Api::Grad, &number(2.0), |x| {
        inner = Some(stage1(Api::Jit, x, |y| {
            ask(x, "item()", &here())?;
            Ok(y.clone())
        })?);
        Ok(x.clone())
    })
    .unwrap();
    assert!(outer.asked && inner.unwrap().asked);
}

#[test]
fn a_tracer_is_refused_after_its_trace() {
    let kept = Mutex::new(None);
    stage1(Api::Jit, &number(2.0), |x| {
        *kept.lock().unwrap() = Some(x.clone());
        Ok(x.clone())
    })
    .unwrap();
    let kept = kept.into_inner().unwrap().unwrap();
    assert_eq!(bind1(Neg {}, &[&kept]).unwrap_err().kind(), ErrorKind::LeakedTracer);
    assert_eq!(ask(&kept, "item()", &here()).unwrap_err().kind(), ErrorKind::LeakedTracer);
}

#[test]
fn a_failing_function_leaves_no_frame() {
    let failed = stage1(Api::Jit, &number(2.0), |_| Err(Error::new(ErrorKind::Type, "wrong")));
    assert_eq!(failed.unwrap_err().message(), "wrong");
    assert!(is_idle());
}

#[test]
fn a_watched_trace_knows_what_is_still_alive() {
    let kept = Mutex::new(Vec::new());
    let result = Mutex::new(None);
    let f = |x: &Value| {
        let y = bind1(Neg {}, &[x])?;
        kept.lock().unwrap().push(y.clone());
        *result.lock().unwrap() = Some(y.clone());
        Ok(y)
    };
    assert!(stage1(Api::Jit, &number(2.0), f).unwrap().made.is_none(), "it is not watched");
    let made = WATCH_TRACERS.on(|| stage1(Api::Jit, &number(2.0), f)).unwrap().made.unwrap();
    let held = result.into_inner().unwrap();
    assert_eq!(made.check(&held).unwrap_err().kind(), ErrorKind::LeakedTracer);
    kept.lock().unwrap().clear();
    assert!(made.check(&held).is_ok(), "only the result refers to it");
    assert!(made.check(None).is_err(), "which must be said");
    drop(held);
    assert!(made.check(None).is_ok());
}
