//! Transforms of functions: derivatives, batching, and a look at the graph. One file each.

mod checkpoint;
mod contract;
mod custom_jvp;
mod custom_vjp;
mod eval_shape;
mod grad;
mod jacobian;
mod jvp;
mod pullback;
mod residuals;
mod rule;
mod trace;
mod vjp;
mod vmap;

pub use checkpoint::{checkpoint, checkpoint_name, checkpoint_with};
pub use contract::contract;
pub use custom_jvp::custom_jvp;
pub use custom_vjp::custom_vjp;
pub use eval_shape::eval_shape;
pub use grad::{grad, grad_aux, value_and_grad, value_and_grad_aux};
pub use jacobian::{hessian, hvp, jacfwd, jacrev};
pub use jvp::jvp;
pub(crate) use pullback::zeros;
pub use residuals::{Residual, Source, print_saved_residuals, saved_residuals};
pub use trace::trace;
pub use vjp::{Pullback, Pushforward, linearize, vjp};
pub use vmap::{Axes, vmap, vmap_axes};
