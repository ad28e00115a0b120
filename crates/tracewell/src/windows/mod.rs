//! Windows that move over arrays: convolutions, pooling, reductions.

mod conv;
mod geometry;
mod pool;
mod reduce;

pub use conv::{Conv, conv, conv_transpose};
pub use geometry::{Layout, Padding, PerAxis, Window};
pub use pool::{avg_pool, global_avg_pool, global_max_pool, max_pool, min_pool};
pub use reduce::reduce_window;
