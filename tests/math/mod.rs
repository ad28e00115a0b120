//! How far the math functions are from exact: the machine code of each against something that shares no code
//! with it.
//!
//! For `f32` the exact result comes from functions of `f64` (`reference.rs`), whose own error is a millionth of
//! what is measured. For `f64` it is stored with more digits (`stored.rs`). `cargo xtask exhaustive` walks
//! every `f32`; the tests look at the worst it found and at some of the others.

mod error;
mod machine;
mod pairs;
mod reference;
mod stored;
mod tally;
mod walk;
mod wide;

pub use error::{error_f32, error_f64};
pub use machine::Machine;
pub use pairs::PAIRS;
pub use reference::Reference;
pub use stored::{Exact, Point, Worst, points, worst};
pub use tally::{KEPT, Tally};
pub use walk::{Walk, show};
pub use wide::{Seen, f64_error, f64_error_evaluated};
