//! The one way a user's mistake leaves the library, and the one boundary that catches it.
//!
//! Operators cannot return `Result`, so a mistake unwinds with a typed payload to the nearest boundary, which
//! hands it on: as an `Err` where the user's function returns `Result`, by raising it again elsewhere.
//! Observers see the error before anything is unwound, so that `panic = "abort"` loses nothing.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::OnceLock;

use tracewell_graph::Location;

use crate::api::Api;
use crate::error::{Context, Error};
use crate::observe::{Event, notify};

/// The payload of an unwinding error.
struct Raised(Error);

struct Scope {
    api: Api,
    function: Option<String>,
    location: Location,
}

thread_local! {
    static SCOPES: RefCell<Vec<Scope>> = const { RefCell::new(Vec::new()) };
}

/// Leaves the scope, also by a panic.
struct Leave;

impl Drop for Leave {
    fn drop(&mut self) {
        SCOPES.with_borrow_mut(Vec::pop);
    }
}

/// Runs the inside of an API call: what is raised in there comes back as an error.
///
/// A panic that is not ours (a user's index out of bounds) passes through unchanged.
pub fn boundary<R>(
    api: Api,
    function: Option<&str>,
    location: &Location,
    f: impl FnOnce() -> R,
) -> Result<R, Error> {
    SCOPES.with_borrow_mut(|scopes| {
        scopes.push(Scope { api, function: function.map(String::from), location: location.clone() });
    });
    let leave = Leave;
    let result = catch_unwind(AssertUnwindSafe(f));
    drop(leave);
    result.map_err(|payload| match payload.downcast::<Raised>() {
        Ok(raised) => raised.0,
        Err(other) => {
            // That of a callback becomes an error, which is told of.
            if api != Api::Callback {
                panicked(&*other);
            }
            resume_unwind(other)
        }
    })
}

/// Raises an error found at this line: completes it, tells the observers, and unwinds.
pub fn raise(error: Error, location: &Location) -> ! {
    unwind(complete(error, location))
}

/// An error found at this line, for functions that return it: with its place and the way to it, and seen by the
/// observers. One that is complete already stays as it is.
pub fn complete(error: Error, location: &Location) -> Error {
    if error.is_raised() {
        return error;
    }
    let error = error.at(user_line(location)).through(context());
    notify(&Event::Raise { error: &error });
    let repro = WITNESS.get().and_then(|witness| witness.raised(&error));
    error.witnessed(repro)
}

/// Sees every failure before anything is unwound, also where there is no observer.
pub trait Witness: Send + Sync {
    /// A failure of ours. Answers with the folder of its repro, if it wrote one.
    fn raised(&self, error: &Error) -> Option<String>;

    /// A panic that is not ours has left a function.
    fn panicked(&self, text: Option<&str>);
}

static WITNESS: OnceLock<Box<dyn Witness>> = OnceLock::new();

/// Installs the witness; the first one stays.
pub fn install_witness(witness: impl Witness + 'static) {
    WITNESS.get_or_init(|| Box::new(witness));
}

/// Tells of a panic that is not ours.
fn panicked(payload: &(dyn Any + Send)) {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    notify(&Event::Panic { text });
    if let Some(witness) = WITNESS.get() {
        witness.panicked(text);
    }
}

/// Raises an error that a boundary has caught, with the same text.
pub fn raise_again(error: Error) -> ! {
    unwind(error)
}

fn unwind(error: Error) -> ! {
    let inside = SCOPES.with_borrow(|scopes| !scopes.is_empty());
    if inside && cfg!(panic = "unwind") {
        // Silent: the boundary will speak. (`resume_unwind` does not call the panic hook.)
        resume_unwind(Box::new(Raised(error)));
    }
    // Nobody is left to catch it: an ordinary panic, whose message is the error's text.
    panic_any(error.to_string())
}

/// The way to where we are, innermost first.
fn context() -> Vec<Context> {
    SCOPES.with_borrow(|scopes| {
        scopes
            .iter()
            .rev()
            .map(|s| Context { api: s.api, function: s.function.clone(), location: s.location.clone() })
            .collect()
    })
}

/// The line itself, or that of the enclosing call where the line is the standard library's: an operator
/// passed as a function pointer has no line of the user's.
fn user_line(location: &Location) -> Location {
    if !location.file.starts_with("/rustc/") {
        return location.clone();
    }
    SCOPES.with_borrow(|scopes| scopes.last().map_or_else(|| location.clone(), |s| s.location.clone()))
}
