//! Parts of arrays along their leading axes, for what is made of primitives here.

use tracewell_graph::prim::{Reshape, Slice};
use tracewell_graph::{Location, Prim};
use tracewell_trace::{Error, Value, bind};

/// Applies a primitive of one result.
pub(super) fn one(prim: impl Into<Prim>, operands: &[Value], location: &Location) -> Result<Value, Error> {
    Ok(bind(&prim.into(), operands, location)?.remove(0))
}

/// Every `step`-th element from `start` up to, not including, `limit`.
pub(super) fn part(
    x: &Value,
    start: usize,
    limit: usize,
    step: usize,
    location: &Location,
) -> Result<Value, Error> {
    let shape = x.ty().shape;
    if start == 0 && limit == shape.size(0) && step == 1 {
        return Ok(x.clone());
    }
    let mut slice = Slice::along(&shape, 0, start, limit);
    slice.step[0] = step;
    one(slice, std::slice::from_ref(x), location)
}

/// One element; the leading axis disappears.
pub(super) fn element(x: &Value, at: usize, location: &Location) -> Result<Value, Error> {
    let shape = x.ty().shape.remove(0);
    let slice = part(x, at, at + 1, 1, location)?;
    one(Reshape { shape }, &[slice], location)
}

/// The same of each.
pub(super) fn of_all(all: &[Value], f: impl Fn(&Value) -> Result<Value, Error>) -> Result<Vec<Value>, Error> {
    all.iter().map(f).collect()
}
