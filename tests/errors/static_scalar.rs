//! A static argument that is traced
//!
//! A `Scalar` is traced by its nature; a static argument is a plain Rust value.

pub mod right {
    use tracewell::prelude::*;

    jit! {
        fn f(x: &Array, #[static_arg] rate: f64) -> Array {
            x * rate
        }
    }

    pub fn main() {
        println!("{}", f(&Array::ones([3], F32), 0.1));
    }
}
