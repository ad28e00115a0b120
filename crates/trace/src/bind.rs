//! The one way a primitive is applied: run at once where nothing is traced, recorded where something is.
//!
//! The face runs one that was run before by itself where [`is_plain`], and comes here otherwise.

use smallvec::SmallVec;
use std::sync::Arc;
use std::time::Instant;

use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Location, Prim, TypeError};

use crate::error::{Cause, Error, ErrorKind};
use crate::executor::executor;
use crate::frame::{Frame, current, is_idle};
use crate::leak::leaked;
use crate::observe::{Event, Executed, is_execution_observed, is_observed, notify};
use crate::stage::Finer;
use crate::value::{Tracer, Value};

/// Results of a primitive; most have one.
pub type Values = SmallVec<[Value; 1]>;

/// Applies a primitive on behalf of a user's line.
pub fn bind(prim: &Prim, operands: &[Value], location: &Location) -> Result<Values, Error> {
    bind_known(prim, operands, None, location)
}

/// Applies a primitive whose results may be known already: they are recorded, not computed again.
pub fn bind_known(
    prim: &Prim,
    operands: &[Value],
    known: Option<Vec<Tensor>>,
    location: &Location,
) -> Result<Values, Error> {
    let is_known = known.is_some();
    if !is_known
        && is_plain()
        && !operands.iter().any(|operand| operand.tracer().is_some())
        && let Some(results) = executor().ok().and_then(|executor| executor.execute_again(prim, operands))
    {
        return results.map_err(|error| attempted(error, prim, operands));
    }
    record_or_run(prim, operands, known, is_known, location).map_err(|error| attempted(error, prim, operands))
}

/// Applies a primitive; where it would be evaluated as it is recorded, `finer` is run in its place.
///
/// The first results of `finer` are those of the primitive, and all of them are remembered in
/// [`Staged::finer`](crate::Staged): what a derivative will ask for is computed in one go with the results.
pub fn bind_finer(
    prim: &Prim,
    finer: Prim,
    operands: &[Value],
    location: &Location,
) -> Result<Values, Error> {
    let frame = current();
    let known: Option<SmallVec<[Value; 3]>> = operands.iter().map(Value::untraced).collect();
    let (Some(frame), Some(known)) = (frame.filter(|frame| frame.evaluates()), known) else {
        return bind(prim, operands, location);
    };
    run_finer(prim, finer, operands, &known, &frame, location)
        .map_err(|error| attempted(error, prim, operands))
}

fn run_finer(
    prim: &Prim,
    finer: Prim,
    operands: &[Value],
    known: &[Value],
    frame: &Frame,
    location: &Location,
) -> Result<Values, Error> {
    let types: SmallVec<[ArrayType; 3]> = operands.iter().map(Value::ty).collect();
    let count = prim.rules().type_rule(&types)?.len();
    let all = execute(&finer, known, &finer.rules().type_rule(&types)?, location)?;
    let results = record_or_run(prim, operands, Some(all[..count].to_vec()), false, location)?;
    if let Some(tracer) = results.first().and_then(Value::tracer) {
        frame.remember(Finer { var: tracer.var(), prim: finer, values: all });
    }
    Ok(results)
}

/// Whether nothing is traced, and nobody watches: then a primitive on data is just run.
#[inline]
pub fn is_plain() -> bool {
    is_idle() && !is_observed() && !is_execution_observed()
}

/// The error with the primitive that failed.
#[cold]
fn attempted(error: Error, prim: &Prim, operands: &[Value]) -> Error {
    error.caused_by(|| Cause::Bind { prim: prim.clone(), operands: operands.to_vec() })
}

/// Records the primitive or runs it; `is_known` is what observers are told.
fn record_or_run(
    prim: &Prim,
    operands: &[Value],
    known: Option<Vec<Tensor>>,
    is_known: bool,
    location: &Location,
) -> Result<Values, Error> {
    let types: SmallVec<[ArrayType; 3]> = operands.iter().map(Value::ty).collect();
    let result_types = prim.rules().type_rule(&types)?;
    let results: Values = match target(operands)? {
        Some(frame) => {
            let mut atoms: SmallVec<[_; 3]> = SmallVec::new();
            for operand in operands {
                atoms.push(frame.atom(operand)?);
            }
            let values = if known.is_some() {
                known
            } else {
                evaluate(&frame, prim, operands, &result_types, location)?
            };
            let tracers = frame.record(prim, &atoms, &result_types, values, location);
            tracers.into_iter().map(Value::Traced).collect()
        }
        None => {
            let tensors = match known {
                Some(known) => known,
                None => execute(prim, operands, &result_types, location)?,
            };
            tensors.into_iter().zip(&result_types).map(|(t, ty)| Value::Known(t, ty.weak)).collect()
        }
    };
    if is_observed() {
        notify(&Event::Bind { prim, operands, results: &results, known: is_known, location });
    }
    Ok(results)
}

/// The frame that records: the innermost of this thread, or on a thread without one (a worker inside a traced
/// function) the innermost among the operands.
fn target(operands: &[Value]) -> Result<Option<Arc<Frame>>, Error> {
    let of_operands = operands.iter().filter_map(Value::tracer);
    if let Some(tracer) = of_operands.clone().find(|t| t.frame().is_closed()) {
        notify(&Event::Leak { tracer });
        return Err(leaked(tracer));
    }
    Ok(current().or_else(|| of_operands.map(Tracer::frame).max_by_key(|f| f.id()).cloned()))
}

/// The results' data, where the frame evaluates and every operand's data is known.
fn evaluate(
    frame: &Frame,
    prim: &Prim,
    operands: &[Value],
    results: &[ArrayType],
    location: &Location,
) -> Result<Option<Vec<Tensor>>, Error> {
    if !frame.evaluates() {
        return Ok(None);
    }
    let known: Option<SmallVec<[Value; 3]>> = operands.iter().map(Value::untraced).collect();
    match known {
        Some(known) => Ok(Some(execute(prim, &known, results, location)?)),
        None => Ok(None),
    }
}

/// Runs a primitive on known data, and tells who wants to know.
fn execute(
    prim: &Prim,
    operands: &[Value],
    types: &[ArrayType],
    location: &Location,
) -> Result<Vec<Tensor>, Error> {
    if !is_execution_observed() {
        return executor()?.execute(prim, operands, types);
    }
    let start = Instant::now();
    let results = executor()?.execute(prim, operands, types)?;
    let nanoseconds = start.elapsed().as_nanos() as u64;
    let what = Executed::Primitive(prim);
    notify(&Event::Executed { what, operands, results: &results, nanoseconds, location });
    Ok(results)
}

impl From<TypeError> for Error {
    fn from(error: TypeError) -> Error {
        let made = Error::new(ErrorKind::Type, error.message);
        match error.help {
            Some(help) => made.help(help),
            None => made,
        }
    }
}
