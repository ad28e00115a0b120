//! `fori_loop(range, init, body)`: a function repeated for every number of a range.

use std::ops::Range;
use std::sync::Arc;

use tracewell_array::{DType, Literal, Shape};
use tracewell_graph::prim::{self, Add, Compare};
use tracewell_graph::{ArrayType, Atom, Graph, GraphBuilder, Location, Splat};
use tracewell_kernel::Comparison;
use tracewell_trace::{Api, Argument, Error, ErrorKind, Value, bind};

use super::body::{Body, extended};
use super::carry::Carry;
use super::checks::check_integer;
use crate::array::{Array, common_dtype, fit};
use crate::outcome::Outcome;
use crate::staging::{Failure, Function, and, describe, enter, refill};
use crate::tree::Tree;

/// What [`fori_loop`] runs over: a range of Rust integers, whose length is then known to the compiler, or one of
/// integer scalars, which may be traced.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a range to loop over",
    label = "neither a range of integers nor one of arrays",
    note = "both ends are Rust integers, as in `0..n`, or both are arrays, as in `Array::from(0)..n`"
)]
pub trait LoopRange {
    /// Its ends.
    #[doc(hidden)]
    fn ends(self) -> Ends;
}

/// The ends of a range.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum Ends {
    /// Known while tracing.
    Numbers(i128, i128),
    /// Known when the loop runs.
    Arrays(Array, Array),
}

macro_rules! integer_ranges {
    ($($int:ty),*) => {$(
        impl LoopRange for Range<$int> {
            fn ends(self) -> Ends {
                Ends::Numbers(self.start as i128, self.end as i128)
            }
        }
    )*};
}
integer_ranges!(i32, i64, isize, u8, u32, u64, usize);

impl LoopRange for Range<Array> {
    fn ends(self) -> Ends {
        Ends::Arrays(self.start, self.end)
    }
}

impl LoopRange for Range<&Array> {
    fn ends(self) -> Ends {
        Ends::Arrays(self.start.clone(), self.end.clone())
    }
}

/// `body(i, s)` for every `i` of a range, where `s` is what the turn before returned, and `init` in the first.
///
/// `i` is an `i32` scalar, or an `i64` where the range needs it. A range of Rust integers is a loop of known length, a
/// [`scan`](crate::scan); one of arrays is a [`while_loop`](crate::while_loop). What is carried keeps its structure and
/// types.
///
/// ```
/// use tracewell::prelude::*;
///
/// let factorial = fori_loop(1..6, Array::from(1), |i, product| product * i);
/// assert_eq!(factorial.item::<i32>(), 120);
///
/// // A range that is only known when the loop runs.
/// jit! {
///     fn triangle(n: &Array) -> Array {
///         fori_loop(Array::from(0)..n + 1, Array::from(0), |i, sum| sum + i)
///     }
/// }
/// assert_eq!(triangle(&Array::from(100)).item::<i32>(), 5050);
/// ```
#[track_caller]
pub fn fori_loop<N, S, R, F>(range: N, init: S, body: F) -> R
where
    N: LoopRange,
    S: Tree,
    R: Outcome<Ok = S>,
    F: Fn(&Array, &S) -> R,
{
    let function = Function::of::<F>(Api::ForiLoop, Location::caller());
    let ends = range.ends();
    let called = || match &ends {
        Ends::Numbers(start, end) => describe(&init, "carry").option("range", format!("{start}..{end}")),
        Ends::Arrays(start, end) => and(and(describe(&init, "carry"), start, "start"), end, "end"),
    };
    R::own(enter::<R, S>(&function, called, || match ends.clone() {
        Ends::Numbers(start, end) => count(&function, start, end, &init, &body),
        Ends::Arrays(start, end) => count_to(&function, &start, &end, &init, &body),
    }))
}

/// A range of known length is a scan over nothing.
fn count<S, R, F>(function: &Function, start: i128, end: i128, init: &S, body: &F) -> Result<S, Failure<R>>
where
    S: Tree,
    R: Outcome<Ok = S>,
    F: Fn(&Array, &S) -> R,
{
    let fits = |dtype: DType| match dtype {
        DType::I32 => i32::try_from(start).is_ok() && i32::try_from(end).is_ok(),
        _ => i64::try_from(start).is_ok() && i64::try_from(end).is_ok(),
    };
    let Some(dtype) = [DType::I32, DType::I64].into_iter().find(|&dtype| fits(dtype)) else {
        let message = format!("`fori_loop` cannot count over {start}..{end} in i64");
        return Err(Error::new(ErrorKind::Type, message).help("count over fewer numbers").into());
    };
    let (carry, body) = stage(function, dtype, init, body)?;
    let length = usize::try_from(end - start).unwrap_or(0);
    let consts = body.captured.len();
    let graph = counting(&body.graph, consts)?;
    let carries = 1 + carry.values.len();
    let scan = prim::Scan { body: Arc::new(graph), consts, carries, length, reverse: false, unroll: 1 };
    let operands = [body.captured, vec![number(dtype, start as i64)], carry.values].concat();
    let mut results = bind(&scan.into(), &operands, &function.location)?.into_vec();
    results.remove(0);
    Ok(refill(init, results))
}

/// A range of unknown length is a while.
fn count_to<S, R, F>(
    function: &Function,
    start: &Array,
    end: &Array,
    init: &S,
    body: &F,
) -> Result<S, Failure<R>>
where
    S: Tree,
    R: Outcome<Ok = S>,
    F: Fn(&Array, &S) -> R,
{
    let location = &function.location;
    for (what, end) in [("start", start), ("end", end)] {
        let what = format!("the {what} of the range of `fori_loop`");
        check_integer(&what, &end.ty(), "`.convert(I32)` a scalar; a range of Rust integers is one too")?;
    }
    let (dtype, _) = common_dtype(&[start.ty(), end.ty()]);
    let scalar = Shape::scalar();
    let start = fit(start.value(), dtype, false, &scalar, location)?;
    let end = fit(end.value(), dtype, false, &scalar, location)?;
    let (carry, body) = stage(function, dtype, init, body)?;
    let types: Vec<ArrayType> =
        [end.ty(), start.ty()].into_iter().chain(carry.values.iter().map(Value::ty)).collect();
    let prim = prim::While {
        cond: Arc::new(is_before(&types)?),
        body: Arc::new(counting(&body.graph, body.captured.len())?),
        cond_consts: 1,
        body_consts: body.captured.len(),
    };
    let operands = [vec![end], body.captured, vec![start], carry.values].concat();
    let mut results = bind(&prim.into(), &operands, location)?.into_vec();
    results.remove(0);
    Ok(refill(init, results))
}

/// The body, staged for a counter and what is carried.
fn stage<'t, S, R, F>(
    function: &Function,
    dtype: DType,
    init: &'t S,
    body: &F,
) -> Result<(Carry<'t, S>, Body<S>), Failure<R>>
where
    S: Tree,
    R: Outcome<Ok = S>,
    F: Fn(&Array, &S) -> R,
{
    let mut carry = Carry::new(init, "carry");
    let counter = Argument { name: "i".to_string(), ty: ArrayType::new(dtype, []), value: None };
    let stage = |carried: &[Argument]| {
        let arguments = [std::slice::from_ref(&counter), carried].concat();
        Body::stage::<R>(function, "body", &arguments, |tracers| {
            let i = Array::from_value(tracers[0].clone());
            body(&i, &refill(init, tracers[1..].to_vec()))
        })
    };
    let body = carry.settle::<R>(function, "the body of `fori_loop`", stage, |result| result)?;
    Ok((carry, body))
}

/// The body with the counter carried on, which is its first input after what it captures.
fn counting(graph: &Graph, captured: usize) -> Result<Graph, Error> {
    extended(graph, |b, inputs, mut outputs| {
        let i = &inputs[captured];
        let one = Atom::fill(&b.ty(i), 1.0);
        outputs.insert(0, b.bind1(Add {}, &[i.clone(), one])?);
        Ok(outputs)
    })
}

/// Whether the counter is before the end: a graph of the end, the counter and what is carried.
fn is_before(types: &[ArrayType]) -> Result<Graph, Error> {
    let mut b = GraphBuilder::new();
    let inputs: Vec<Atom> = types.iter().map(|ty| b.input(ty.clone()).into()).collect();
    let less = Compare { comparison: Comparison::Lt };
    let holds = b.bind1(less, &[inputs[1].clone(), inputs[0].clone()])?;
    Ok(b.finish("cond", vec![holds]))
}

fn number(dtype: DType, n: i64) -> Value {
    Value::Splat(Splat { literal: Literal::from_i64(dtype, n), shape: Shape::scalar(), weak: false })
}
