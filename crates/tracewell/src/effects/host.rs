//! Functions of arrays as functions on buffers: how the runtime calls back into the user's program.
//!
//! Invariant: whatever the user's function does, this returns. A mistake or a panic in it is an error.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tracewell_array::Tensor;
use tracewell_graph::prim::Callback;
use tracewell_graph::{ArrayType, HostFunction, Location};
use tracewell_kernel::{BufferFn, BufferMut, BufferRef, CallError};
use tracewell_trace::{Api, Error, ErrorKind, Value, boundary, outside};

use crate::array::{Array, bind_here, or_raise};
use crate::repro::{LISTENING, hear};

/// A function of known arrays that may fail.
type OnArrays = Box<dyn Fn(&[Array]) -> Result<Vec<Array>, Error> + Send + Sync>;

/// A function of arrays, called with buffers.
struct Host {
    name: String,
    /// The line that asked for it.
    location: Location,
    function: OnArrays,
}

impl BufferFn for Host {
    fn name(&self) -> &str {
        &self.name
    }

    fn call(&self, inputs: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) -> Result<(), CallError> {
        let array = |input: &BufferRef<'_>| {
            let tensor = Tensor::from_bytes(input.dtype, input.shape.clone(), input.bytes)?;
            Ok(Array::from_value(Value::Known(tensor, false)))
        };
        let arrays: Vec<Array> = inputs.iter().map(array).collect::<Result<_, CallError>>()?;
        // What was printed is not printed once more.
        if LISTENING.is_on() && outputs.is_empty() && self.name.starts_with("debug_print ") {
            return Ok(());
        }
        let results = self.run(&arrays).map_err(|error| error.at(self.location.clone()).while_running());
        let known = |all: &Vec<Array>| all.iter().map(|array| array.value().known()).collect();
        hear(&self.name, inputs, || results.as_ref().ok().and_then(known));
        let results = results?;
        for (result, output) in results.iter().zip(outputs) {
            let known = result.value().known().ok_or_else(|| Error::bug("a callback gave a tracer"))?;
            output.bytes.copy_from_slice(known.as_bytes());
        }
        Ok(())
    }
}

impl Host {
    /// Calls the function as if nothing were traced, though this thread may be tracing.
    fn run(&self, arrays: &[Array]) -> Result<Vec<Array>, Error> {
        let called = catch_unwind(AssertUnwindSafe(|| {
            outside(|| boundary(Api::Callback, None, &self.location, || (self.function)(arrays)))
        }));
        match called {
            Ok(Ok(results)) => results,
            Ok(Err(raised)) => Err(raised),
            Err(payload) => Err(panicked(&*payload)),
        }
    }
}

fn panicked(payload: &(dyn Any + Send)) -> Error {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    let message = match text {
        Some(text) => format!("a callback panicked: {text}"),
        None => "a callback panicked".to_string(),
    };
    Error::new(ErrorKind::Library, message)
}

/// How a function is called: the name that tells it from all others, and whether it is an effect.
pub(super) struct Site<'a> {
    pub(super) name: String,
    pub(super) ordered: bool,
    pub(super) location: &'a Location,
}

/// Calls a function on arrays when they are known: now, or whenever what is traced now runs.
pub(super) fn call(
    site: Site<'_>,
    operands: &[&Array],
    results: Vec<ArrayType>,
    function: impl FnOnce() -> OnArrays,
) -> Vec<Array> {
    let Site { name, ordered, location } = site;
    let function =
        HostFunction::named(name.clone(), || Host { name, location: location.clone(), function: function() });
    let operands: Vec<Value> = operands.iter().map(|array| array.value().clone()).collect();
    let prim = Callback { function, ordered, results }.into();
    let made = or_raise(bind_here(&prim, &operands, location), location);
    made.into_iter().map(Array::from_value).collect()
}
