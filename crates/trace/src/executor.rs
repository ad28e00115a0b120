//! Who runs a primitive on known data: installed once by the face, so that tracing does not depend on how.

use std::sync::OnceLock;

use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Prim};

use crate::bind::Values;
use crate::error::Error;
use crate::value::Value;

/// Runs primitives.
pub trait Executor: Send + Sync {
    /// The results of a primitive on operands whose data is known; `results` are their types.
    fn execute(&self, prim: &Prim, operands: &[Value], results: &[ArrayType]) -> Result<Vec<Tensor>, Error>;

    /// The same for one that was executed before on operands of the same types, so that nobody asks again what the
    /// types of its results are; `None` if it was not, or if that is not remembered.
    fn execute_again(&self, _prim: &Prim, _operands: &[Value]) -> Option<Result<Values, Error>> {
        None
    }
}

static EXECUTOR: OnceLock<Box<dyn Executor>> = OnceLock::new();

/// Installs the executor; the first one stays.
pub fn install_executor(executor: impl Executor + 'static) {
    EXECUTOR.get_or_init(|| Box::new(executor));
}

pub(crate) fn executor() -> Result<&'static dyn Executor, Error> {
    match EXECUTOR.get() {
        Some(executor) => Ok(&**executor),
        None => Err(Error::bug("no executor is installed")),
    }
}
