//! `trace(f, &x)`: the graph of a function, before optimisation.

use tracewell_graph::{Graph, Location};
use tracewell_trace::{Api, Error, ErrorKind, boundary, complete};

use crate::outcome::Outcome;
use crate::staging::{Entered, Failure, Function, arguments, describe, stage_tree};
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
pub fn trace<X: TreeRef + ?Sized, R: Outcome, F: Fn(&X) -> R>(f: F, x: &X) -> Result<Graph, Error> {
    let function = Function::of::<F>(Api::Trace, Location::caller());
    crate::executor::install();
    let _session = crate::repro::session();
    let entered = Entered::start(&function, || describe(x, "x"));
    let traced = boundary(Api::Trace, function.name.as_deref(), &function.location, || {
        stage_tree::<X, R>(&function, x, &arguments(x, "x"), f)
    })?;
    match traced {
        Ok(traced) => {
            entered.end(Ok(&()));
            Ok(traced.staged.graph)
        }
        Err(Failure::Ours(error)) => Err(complete(error, &function.location)),
        Err(Failure::Theirs(_)) => {
            let error = Error::new(ErrorKind::Structure, "the traced function returned an error of its own");
            Err(complete(error, &function.location))
        }
    }
}
