//! `map_reduce(init, xs, map, combine)`: a function of every element, and the results combined to one.

use std::sync::Arc;

use tracewell_graph::prim::{self, Call, Reshape};
use tracewell_graph::{Atom, Graph, GraphBuilder, Location, Prim};
use tracewell_trace::{Api, Argument, Error, Value, apply, bind, stage};

use super::body::{Body, elements, function_of, unknown, unnamed};
use super::carry::Carry;
use super::length::length;
use super::parts::{element, of_all, one, part};
use crate::outcome::{Beside, Outcome};
use crate::staging::{Failure, Function, and, describe, enter, refill, values_of};
use crate::tree::{Tree, TreeRef};

/// At most so many blocks are combined independently of each other.
const BLOCKS: usize = 64;

/// `combine` applied to `init` and `map` of every element along the leading axis of `xs`.
///
/// The order in which results are combined depends on the number of elements `n` only, never on threads: elements are
/// cut into blocks of `n / 64`, rounded up, of which the last may be shorter. In a block they are combined one after
/// the other, beginning with its first; then the results of the blocks, beginning with `init`. So `combine` must be
/// associative for the result to be that of a plain loop; floats are so up to rounding. Blocks run on several cores,
/// and no array of all that `map` returns is made.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::arange(1000, F64);
/// let squares = map_reduce(Array::from(0.0f64), &x, |x| x * x, |a, b| a + b);
/// assert_eq!(squares.item::<f64>(), 332833500.0);
/// ```
#[track_caller]
pub fn map_reduce<T, X, Q, R, M, F>(init: T, xs: &X, map: M, combine: F) -> R
where
    T: Tree,
    X: TreeRef + ?Sized,
    R: Outcome<Ok = T>,
    Q: Beside<R, Ok = T>,
    M: Fn(&X) -> Q,
    F: Fn(&T, &T) -> R,
{
    let function = unnamed(Api::MapReduce, Location::caller());
    R::own(enter::<R, T>(
        &function,
        || and(describe(&init, "init"), xs, "xs"),
        || {
            let n = length(function.api, xs, None)?;
            let (start, parts) = parts(&function, &init, xs, &map, &combine)?;
            let results = if n == 0 { start } else { reduce(&function, &parts, n, &start, xs)? };
            Ok(refill(&init, results))
        },
    ))
}

/// Both functions as graphs.
struct Parts {
    map: Graph,
    /// What `map` reads besides an element.
    map_captured: Vec<Value>,
    combine: Graph,
    combine_captured: Vec<Value>,
}

/// Stages both functions for one type of results, and gives the values to start with in that type.
fn parts<T, X, Q, R, M, F>(
    function: &Function,
    init: &T,
    xs: &X,
    map: &M,
    combine: &F,
) -> Result<(Vec<Value>, Parts), Failure<R>>
where
    T: Tree,
    X: TreeRef + ?Sized,
    R: Outcome<Ok = T>,
    Q: Beside<R, Ok = T>,
    M: Fn(&X) -> Q,
    F: Fn(&T, &T) -> R,
{
    let mut carry = Carry::new(init, "init");
    let of_map = function_of::<M>(function);
    let mut mapped = Body::stage_beside::<R, Q>(&of_map, "map", &elements(xs, "x"), |tracers| {
        map(X::lend(&refill(xs, tracers.to_vec())))
    })?;
    let of_combine = function_of::<F>(function);
    let count = carry.values.len();
    loop {
        // What `map` returns stands for the same as what is carried, and its type may change that.
        while !carry.meet(function, "the map function of `map_reduce`", &mut mapped, |result| result)? {}
        let arguments: Vec<Argument> = [carry.arguments("a"), carry.arguments("b")].concat();
        let mut combined = Body::stage::<R>(&of_combine, "combine", &arguments, |tracers| {
            let (a, b) = tracers.split_at(count);
            combine(&refill(init, a.to_vec()), &refill(init, b.to_vec()))
        })?;
        if carry.meet(function, "the combining function of `map_reduce`", &mut combined, |result| result)? {
            let parts = Parts {
                map: mapped.graph,
                map_captured: mapped.captured,
                combine: combined.graph,
                combine_captured: combined.captured,
            };
            return Ok((carry.values, parts));
        }
    }
}

/// Maps and combines at least one element, as one graph, so that outside `jit!` it is compiled as a whole.
fn reduce<X: TreeRef + ?Sized>(
    function: &Function,
    parts: &Parts,
    n: usize,
    start: &[Value],
    xs: &X,
) -> Result<Vec<Value>, Error> {
    let (location, count) = (&function.location, start.len());
    let started = start.iter().map(|v| Argument { name: "init".to_string(), ty: v.ty(), value: None });
    let arguments: Vec<Argument> = started.chain(unknown(xs, "xs")).collect();
    let staged = stage(function.api, None, location, &arguments, |tracers| {
        let (start, xs) = tracers.split_at(count);
        parts.blocks(n, start, xs, location)
    })?;
    let operands: Vec<Value> = [staged.captured.as_slice(), start, &values_of(xs)].concat();
    let call = Prim::from(Call { graph: Arc::new(staged.graph) });
    Ok(bind(&call, &operands, location)?.into_vec())
}

impl Parts {
    /// All elements, in blocks.
    fn blocks(
        &self,
        n: usize,
        start: &[Value],
        xs: &[Value],
        location: &Location,
    ) -> Result<Vec<Value>, Error> {
        let size = n.div_ceil(BLOCKS.min(n));
        let (count, rest) = (n / size, n % size);
        let whole = of_all(xs, |x| {
            let x = part(x, 0, count * size, 1, location)?;
            let shape = x.ty().shape.remove(0).insert(0, size).insert(0, count);
            one(Reshape { shape }, &[x], location)
        })?;
        let arguments: Vec<Argument> = whole
            .iter()
            .map(|x| {
                let ty = x.ty();
                Argument { name: "block".to_string(), ty: ty.with_shape(ty.shape.remove(0)), value: None }
            })
            .collect();
        let block = stage(Api::MapReduce, Some("block"), location, &arguments, |block| {
            self.block(size, block, location)
        })?;
        let shared = std::iter::repeat_n(-1, block.captured.len());
        let each = prim::Each {
            axes: shared.chain(std::iter::repeat_n(0, whole.len())).collect(),
            out_axes: vec![0; block.graph.outputs.len()],
            graph: Arc::new(block.graph),
            size: count,
        };
        let of_blocks = bind(&each.into(), &[block.captured, whole].concat(), location)?.into_vec();
        let combine = prim::Scan {
            body: Arc::new(self.combine.clone()),
            consts: self.combine_captured.len(),
            carries: start.len(),
            length: count,
            reverse: false,
            unroll: 1,
        };
        let operands = [self.combine_captured.as_slice(), start, &of_blocks].concat();
        let result = bind(&combine.into(), &operands, location)?.into_vec();
        if rest == 0 {
            return Ok(result);
        }
        let rest_of_xs = of_all(xs, |x| part(x, count * size, n, 1, location))?;
        let last = self.block(rest, &rest_of_xs, location)?;
        apply(&self.combine, &[self.combine_captured.as_slice(), &result, &last].concat(), location)
    }

    /// One block of at least one element: the first starts it.
    fn block(&self, size: usize, xs: &[Value], location: &Location) -> Result<Vec<Value>, Error> {
        let first = of_all(xs, |x| element(x, 0, location))?;
        let first = apply(&self.map, &[self.map_captured.as_slice(), &first].concat(), location)?;
        if size == 1 {
            return Ok(first);
        }
        let rest = of_all(xs, |x| part(x, 1, size, 1, location))?;
        let scan = prim::Scan {
            body: Arc::new(self.step()),
            consts: self.map_captured.len() + self.combine_captured.len(),
            carries: first.len(),
            length: size - 1,
            reverse: false,
            unroll: 1,
        };
        let consts = [self.map_captured.as_slice(), &self.combine_captured].concat();
        Ok(bind(&scan.into(), &[consts, first, rest].concat(), location)?.into_vec())
    }

    /// What is done with one more element of a block: it is mapped and combined with those before.
    fn step(&self) -> Graph {
        let mut b = GraphBuilder::new();
        let (map, combine) = (self.map.input_types(), self.combine.input_types());
        let (map_captured, x) = map.split_at(self.map_captured.len());
        let (combine_captured, both) = combine.split_at(self.combine_captured.len());
        let mut inputs = |types: &[tracewell_graph::ArrayType]| -> Vec<Atom> {
            types.iter().map(|ty| b.input(ty.clone()).into()).collect()
        };
        let (of_map, of_combine) = (inputs(map_captured), inputs(combine_captured));
        let (before, x) = (inputs(&both[..both.len() / 2]), inputs(x));
        let mapped = b.inline(&self.map, &[of_map, x].concat());
        let outputs = b.inline(&self.combine, &[of_combine, before, mapped].concat());
        b.finish("step", outputs)
    }
}
