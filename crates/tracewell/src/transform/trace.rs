//! `trace(f, &x)`: the graph of a function, before optimisation.

use tracewell_graph::{Graph, Location};
use tracewell_trace::{Api, Error, boundary};

use crate::outcome::Outcome;
use crate::staging::{Failure, Function, arguments, stage_tree};
use crate::tree::TreeRef;

/// The graph of a function for an argument of these types. A failure of the function's own is an error too.
///
/// ```
/// use tracewell::prelude::*;
///
/// let graph = trace(|x: &Array| x.sin() * 2.0, &Array::zeros([3], F32)).unwrap();
/// assert_eq!(graph.equations.len(), 2);
/// ```
#[track_caller]
pub fn trace<X: TreeRef + ?Sized, R: Outcome>(f: impl Fn(&X) -> R, x: &X) -> Result<Graph, Error> {
    let function = Function { name: None, ..Function::of::<()>(Api::Trace, Location::caller()) };
    crate::executor::install();
    let traced = boundary(Api::Trace, None, &function.location, || {
        stage_tree::<X, R>(&function, x, &arguments(x, "x"), f)
    })?;
    match traced {
        Ok(traced) => Ok(traced.staged.graph),
        Err(Failure::Ours(error)) => Err(error),
        Err(Failure::Theirs(_)) => {
            let kind = tracewell_trace::ErrorKind::Structure;
            Err(Error::new(kind, "the traced function returned an error of its own").at(function.location))
        }
    }
}
