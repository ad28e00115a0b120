//! `associative_scan(xs, f)`: running results of an associative function, in a logarithmic number of steps.

use std::sync::Arc;

use tracewell_graph::prim::{Call, Concatenate, Reshape, Reverse};
use tracewell_graph::{Location, Prim};
use tracewell_trace::{Api, Error, Value, bind, raise};

use super::body::{Body, unknown};
use super::checks::check_same;
use super::length::length;
use super::parts::{of_all, one, part};
use crate::outcome::Outcome;
use crate::staging::{Failure, Function, Running, describe, enter, refill, values_of};
use crate::tree::{TreeRef, leaves};

/// `x[0]`, `f(x[0], x[1])`, `f(f(x[0], x[1]), x[2])` … for the elements along the leading axis of `xs`, where `f` is
/// associative.
///
/// `f` is applied to neighbours first, then to neighbours of what that gives, and so on: it is given whole slices, and
/// combines them element by element along the leading axis. (`vmap` makes such a function from one of single
/// elements.) For `n` elements it combines at most `2 n` pairs, in about `2 log2(n)` calls. The order in which elements
/// are combined depends on `n` only.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::from([1.0f32, 2.0, 3.0, 4.0, 5.0]);
/// assert_eq!(associative_scan(&x, |a, b| a * b).to_string(), "[  1.   2.   6.  24. 120.]");
/// ```
#[track_caller]
pub fn associative_scan<X, R, F>(xs: &X, f: F) -> R
where
    X: TreeRef + ?Sized,
    R: Outcome<Ok = X::Owned>,
    F: Fn(&X, &X) -> R,
{
    run(&Function::of::<F>(Api::AssociativeScan, Location::caller()), xs, false, &f)
}

/// The same from the last element to the first: at each place the result of the elements from the last to that one.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::from([1, 2, 3, 4]);
/// assert_eq!(associative_scan_reverse(&x, |a, b| a + b).to_string(), "[10  9  7  4]");
/// ```
#[track_caller]
pub fn associative_scan_reverse<X, R, F>(xs: &X, f: F) -> R
where
    X: TreeRef + ?Sized,
    R: Outcome<Ok = X::Owned>,
    F: Fn(&X, &X) -> R,
{
    run(&Function::of::<F>(Api::AssociativeScan, Location::caller()), xs, true, &f)
}

fn run<X, R, F>(function: &Function, xs: &X, reverse: bool, f: &F) -> R
where
    X: TreeRef + ?Sized,
    R: Outcome<Ok = X::Owned>,
    F: Fn(&X, &X) -> R,
{
    let location = &function.location;
    R::own(enter::<R, R::Ok>(
        function,
        || describe(xs, "xs").option("reverse", reverse.to_string()),
        || {
            let length = length(function.api, xs, None)?;
            let scan = Scan { function, xs, f };
            // One graph, so that outside `jit!` it is compiled as a whole.
            let body =
                Body::stage::<R>(&function.inner(), "associative_scan", &unknown(xs, "xs"), |tracers| {
                    let scanned = flipped(tracers, reverse, location).map_err(Failure::Ours);
                    let scanned = scanned.and_then(|tracers| scan.prefixes(&tracers, length));
                    match scanned.and_then(|found| Ok(flipped(&found, reverse, location)?)) {
                        Ok(found) => R::own(R::success(refill(xs, found))),
                        Err(Failure::Ours(error)) => raise(error, location),
                        Err(Failure::Theirs(failed)) => R::own(failed),
                    }
                })?;
            let operands: Vec<Value> = [body.captured, values_of(xs)].concat();
            let call = Prim::from(Call { graph: Arc::new(body.graph) });
            let results = bind(&call, &operands, location)?;
            Ok(refill(&body.result, results.into_vec()))
        },
    ))
}

/// The arrays backwards, or as they are.
fn flipped(arrays: &[Value], reverse: bool, location: &Location) -> Result<Vec<Value>, Error> {
    if !reverse {
        return Ok(arrays.to_vec());
    }
    of_all(arrays, |x| one(Reverse { axes: vec![0] }, std::slice::from_ref(x), location))
}

struct Scan<'a, X: ?Sized, F> {
    function: &'a Function,
    xs: &'a X,
    f: &'a F,
}

impl<X: TreeRef + ?Sized, F> Scan<'_, X, F> {
    /// The results of the first elements, the first two, and so on.
    fn prefixes<R>(&self, xs: &[Value], n: usize) -> Result<Vec<Value>, Failure<R>>
    where
        R: Outcome<Ok = X::Owned>,
        F: Fn(&X, &X) -> R,
    {
        if n < 2 {
            return Ok(xs.to_vec());
        }
        let location = &self.function.location;
        let cut = |xs: &[Value], start: usize, limit: usize, step: usize| {
            of_all(xs, |x| part(x, start, limit, step, location))
        };
        let pairs = 2 * (n / 2);
        let combined = self.combine(cut(xs, 0, pairs, 2)?, cut(xs, 1, pairs, 2)?)?;
        // Those of an even number of elements, which end at the odd places.
        let odd = self.prefixes(&combined, n / 2)?;
        let mut even = cut(xs, 0, 1, 1)?;
        let later = (n - 1) / 2;
        if later > 0 {
            let rest = self.combine(cut(&odd, 0, later, 1)?, cut(xs, 2, n, 2)?)?;
            let joined = even.iter().zip(&rest);
            even = joined.map(|(first, rest)| join(&[first, rest], location)).collect::<Result<_, _>>()?;
        }
        let places = even.iter().zip(&odd);
        Ok(places.map(|(even, odd)| interleave(even, odd, location)).collect::<Result<_, _>>()?)
    }

    /// The user's function of two slices, which returns one like them.
    fn combine<R>(&self, a: Vec<Value>, b: Vec<Value>) -> Result<Vec<Value>, Failure<R>>
    where
        R: Outcome<Ok = X::Owned>,
        F: Fn(&X, &X) -> R,
    {
        let (a, b) = (refill(self.xs, a), refill(self.xs, b));
        let arguments = [values_of(X::lend(&a)), values_of(X::lend(&b))].concat();
        let running = Running::start(&self.function.as_a("combine"), &arguments);
        let found = (self.f)(X::lend(&a), X::lend(&b)).into_tree().map_err(Failure::Theirs)?;
        running.returned(&found);
        let help = "it is given whole slices, and combines them element by element along the leading axis: \
                    `vmap` a function of single elements";
        let what = "the function of `associative_scan`";
        check_same(what, X::lend(&a), &found, self.function.location.clone(), help)?;
        // What it returns may be weak where what it is given is not.
        let like = leaves(X::lend(&a)).into_iter().map(|leaf| leaf.ty());
        let strict = values_of(&found).into_iter().zip(like).map(|(value, ty)| {
            crate::array::fit(&value, ty.dtype, ty.weak, &ty.shape, &self.function.location)
        });
        Ok(strict.collect::<Result<_, _>>()?)
    }
}

fn join(parts: &[&Value], location: &Location) -> Result<Value, Error> {
    let parts: Vec<Value> = parts.iter().copied().cloned().collect();
    one(Concatenate { axis: 0 }, &parts, location)
}

/// One element of the first, one of the second, and so on; the first may have one more.
fn interleave(even: &Value, odd: &Value, location: &Location) -> Result<Value, Error> {
    let shape = odd.ty().shape;
    let n = shape.size(0);
    let column = |x: &Value| one(Reshape { shape: shape.insert(1, 1) }, std::slice::from_ref(x), location);
    let beside = [column(&part(even, 0, n, 1, location)?)?, column(odd)?];
    let beside = one(Concatenate { axis: 1 }, &beside, location)?;
    let whole = one(Reshape { shape: shape.remove(0).insert(0, 2 * n) }, &[beside], location)?;
    let count = even.ty().shape.size(0);
    if count == n {
        return Ok(whole);
    }
    join(&[&whole, &part(even, n, count, 1, location)?], location)
}
