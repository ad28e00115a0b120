//! Transforms of functions: derivatives, batching, and a look at the graph. One file each.

mod grad;
mod jacobian;
mod jvp;
mod pullback;
mod trace;
mod vjp;
mod vmap;

pub use grad::{grad, value_and_grad};
pub use jacobian::{hessian, hvp, jacfwd, jacrev};
pub use jvp::jvp;
pub use trace::trace;
pub use vjp::{Pullback, Pushforward, linearize, vjp};
pub use vmap::{Axes, vmap, vmap_axes};
