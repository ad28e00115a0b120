//! `scan(init, xs, f)`: a function applied to every element of some arrays, one after the other.

use std::sync::Arc;

use tracewell_graph::{Location, prim};
use tracewell_trace::{Api, Argument, Value, bind};

use super::body::{Body, elements};
use super::carry::Carry;
use super::length::length;
use crate::outcome::Outcome;
use crate::staging::{Failure, Function, and, describe, enter, refill, values_of};
use crate::tree::{Tree, TreeRef};

/// How [`scan_with`] runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScanOptions {
    /// How often the function is applied; needed where there are no arrays to run over, such as `&()`.
    pub length: Option<usize>,
    /// Whether from the last element to the first. What is given out stays at the place of its element.
    pub reverse: bool,
    /// How many applications machine code has side by side: more of them is longer code with fewer jumps.
    pub unroll: usize,
}

impl Default for ScanOptions {
    fn default() -> ScanOptions {
        ScanOptions { length: None, reverse: false, unroll: 1 }
    }
}

/// `f` applied to what is carried and to each element along the leading axis of `xs` in turn: it returns what is
/// carried on, and something for the element. Gives the last of the former, and all of the latter along a leading
/// axis.
///
/// What is carried keeps its structure and types; a number (`Array::weak`) that it starts with takes the type that `f`
/// returns for it. Reverse mode keeps what it needs of every turn, and
/// [`checkpoint`](crate::checkpoint) around the body keeps only what is carried.
///
/// ```
/// use tracewell::prelude::*;
///
/// let xs = Array::from([1.0f32, 2.0, 3.0]);
/// let (last, sums) = scan(Array::from(0.0f32), &xs, |sum, x| (sum + x, sum + x));
/// assert_eq!(last.item::<f32>(), 6.0);
/// assert_eq!(sums.to_string(), "[1. 3. 6.]");
/// ```
#[track_caller]
pub fn scan<C, X, Y, R, F>(init: C, xs: &X, f: F) -> R
where
    C: Tree,
    X: TreeRef + ?Sized,
    Y: Tree,
    R: Outcome<Ok = (C, Y)>,
    F: Fn(&C, &X) -> R,
{
    let function = Function::of::<F>(Api::Scan, Location::caller());
    run(&function, &init, xs, ScanOptions::default(), &f)
}

/// The same backwards, for a length that no array says, or unrolled.
///
/// ```
/// use tracewell::prelude::*;
///
/// let options = ScanOptions { length: Some(5), ..ScanOptions::default() };
/// let (_, powers) = scan_with(Array::from(1.0f32), &(), options, |p, ()| (2.0 * p, p.clone()));
/// assert_eq!(powers.to_string(), "[ 1.  2.  4.  8. 16.]");
/// ```
#[track_caller]
pub fn scan_with<C, X, Y, R, F>(init: C, xs: &X, options: ScanOptions, f: F) -> R
where
    C: Tree,
    X: TreeRef + ?Sized,
    Y: Tree,
    R: Outcome<Ok = (C, Y)>,
    F: Fn(&C, &X) -> R,
{
    let function = Function::of::<F>(Api::Scan, Location::caller());
    run(&function, &init, xs, options, &f)
}

fn run<C, X, Y, R, F>(function: &Function, init: &C, xs: &X, options: ScanOptions, f: &F) -> R
where
    C: Tree,
    X: TreeRef + ?Sized,
    Y: Tree,
    R: Outcome<Ok = (C, Y)>,
    F: Fn(&C, &X) -> R,
{
    let called = || {
        let ScanOptions { length, reverse, unroll } = options;
        let called = and(describe(init, "carry"), xs, "xs");
        let called = called.option("length", length.map_or("-".to_string(), |n| n.to_string()));
        called.option("reverse", reverse.to_string()).option("unroll", unroll.to_string())
    };
    R::own(enter::<R, (C, Y)>(function, called, || {
        let length = length(function.api, xs, options.length)?;
        let element = elements(xs, "x");
        let mut carry = Carry::new(init, "carry");
        let carries = carry.values.len();
        let stage = |carried: &[Argument]| -> Result<Body<(C, Y)>, Failure<R>> {
            let arguments = [carried, &element].concat();
            Body::stage::<R>(function, "body", &arguments, |tracers| {
                let (carried, x) = tracers.split_at(carries);
                f(&refill(init, carried.to_vec()), X::lend(&refill(xs, x.to_vec())))
            })
        };
        let body = carry.settle::<R>(function, "the body of `scan`", stage, |(carried, _)| carried)?;
        let prim = prim::Scan {
            body: Arc::new(body.graph),
            consts: body.captured.len(),
            carries,
            length,
            reverse: options.reverse,
            unroll: options.unroll.max(1),
        };
        let operands: Vec<Value> = [body.captured, carry.values, values_of(xs)].concat();
        let results = bind(&prim.into(), &operands, &function.location)?;
        Ok(refill(&body.result, results.into_vec()))
    }))
}
