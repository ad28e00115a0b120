//! A negative size
//!
//! There is no `-1` for "the rest", as sizes are never negative; the number of elements is `len()`.

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([2, 3], F32);
        println!("{}", x.reshape([x.len() / 2, 2]));
    }
}
