//! A jitted function without a result
//!
//! A function whose arrays nobody gets computes nothing.

pub mod right {
    use tracewell::prelude::*;

    jit! {
        fn f(x: &Array) -> Array {
            x.clone()
        }
    }

    pub fn main() {
        println!("{}", f(&Array::ones([3], F32)));
    }
}
