//! Rust closures to graphs: tracers, the one `bind`, the one boundary, the one `raise`, the one hook.
//!
//! Values here are flat: trees of arrays are taken apart and put together by the face. What runs a primitive
//! is an [`Executor`] that the face installs.

mod api;
mod apply;
mod ask;
mod bind;
mod error;
mod executor;
mod form;
mod frame;
mod leak;
mod log;
mod observe;
mod raise;
mod stage;
mod switch;
mod value;

pub use api::Api;
pub use apply::{apply, apply_known};
pub use ask::ask;
pub use bind::{Values, bind, bind_finer, bind_known, is_plain};
pub use error::{Cause, Context, Error, ErrorKind};
pub use executor::{Executor, install_executor};
pub use form::Form;
pub use frame::{Frame, captures_numbers, current, is_idle, outside};
pub use leak::{Made, WATCH_TRACERS};
pub use log::EventLog;
pub use observe::{
    Called, Event, Executed, Observer, Observing, are_arrays_followed, is_execution_observed, is_observed,
    notify, observe_everywhere, observing, unobserved,
};
pub use raise::{Witness, boundary, complete, install_witness, raise, raise_again};
pub use stage::{Argument, Finer, Staged, stage};
pub use switch::Switch;
pub use value::{Tracer, Value};
