//! `jit(closure)`: the same for a closure, as an object.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use tracewell_graph::{Graph, Location};
use tracewell_trace::{Api, Error};

use super::call::{Call, Callee};
use super::entry;
use super::lower::{Lowered, lower};
use crate::outcome::Outcome;
use crate::staging::Function;
use crate::transform::trace;
use crate::tree::TreeRef;

/// A jitted closure. What the closure captures is held constant; each object has traces of its own, and a
/// graph that was compiled before is not compiled again.
pub struct Jit<X: ?Sized, F> {
    f: F,
    function: Function,
    id: u64,
    argument: PhantomData<fn(&X)>,
}

/// Wraps a closure of one tree; several arguments are a tuple.
///
/// ```
/// use tracewell::prelude::*;
///
/// let f = jit(|x: &Array| x.sin() + 1);
/// let y = f.call(&Array::from([0.0f32, 0.0]));
/// assert_eq!(y.to_string(), "[1. 1.]");
/// ```
#[track_caller]
pub fn jit<X: TreeRef + ?Sized, R: Outcome, F: Fn(&X) -> R>(f: F) -> Jit<X, F> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let function = Function::of::<F>(Api::Jit, Location::caller());
    Jit { f, function, id: NEXT.fetch_add(1, Ordering::Relaxed), argument: PhantomData }
}

impl<X: TreeRef + ?Sized, R: Outcome, F: Fn(&X) -> R> Jit<X, F> {
    /// Calls it: traced and compiled for the first argument of its types, at once for others.
    #[track_caller]
    pub fn call(&self, x: &X) -> R {
        let mut call = Call::of(Callee::Closure(&self.function));
        call.object(self.id);
        call.argument("x", x);
        call.run(|inside| {
            let inside = inside.owned(x);
            (self.f)(X::lend(&inside))
        })
    }

    /// The same under the name that another program has for it.
    pub(crate) fn named(mut self, name: Option<&str>) -> Jit<X, F> {
        self.function.name = name.map(String::from);
        self
    }

    /// Its graph for an argument of these types, before optimisation.
    #[track_caller]
    pub fn trace(&self, x: &X) -> Result<Graph, Error> {
        trace(&self.f, x)
    }

    /// Every stage of its way to machine code for an argument of these types.
    #[track_caller]
    pub fn lower(&self, x: &X) -> Result<Lowered, Error> {
        lower(|| self.call(x))
    }

    /// Compiles it ahead of the first call with an argument of these types.
    #[track_caller]
    pub fn compile(&self, x: &X) -> Result<(), Error> {
        self.lower(x).map(|_| ())
    }
}

impl<X: ?Sized, F> Drop for Jit<X, F> {
    fn drop(&mut self) {
        entry::forget(|key| key.is_of(self.id));
    }
}

impl<X: ?Sized, F> fmt::Debug for Jit<X, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Jit({} at {})", self.function.name.as_deref().unwrap_or("closure"), self.function.location)
    }
}
