//! Windows that move over arrays: convolutions, pooling, reductions.

mod conv;
mod geometry;
mod pool;
mod reduce;
mod written;

pub use conv::{Conv, conv, conv_transpose};
pub use geometry::{Layout, Padding, PerAxis, Window};
pub use pool::{avg_pool, global_avg_pool, global_max_pool, max_pool, min_pool};
pub use reduce::reduce_window;

pub(crate) use pool::{moves_of, places_of};
pub(crate) use reduce::moves_over_all;
