//! A plain Rust number as a parameter
//!
//! Say whether the number is traced, or a new version is compiled for each of its values.

pub mod right {
    use tracewell::prelude::*;

    jit! {
        fn traced(x: &Array, rate: Scalar) -> Array {
            x * &rate
        }

        fn one_version_each(x: &Array, #[static_arg] rate: f32) -> Array {
            x * rate
        }
    }

    pub fn main() {
        let x = Array::ones([3], F32);
        println!("{} {}", traced(&x, 0.1), one_version_each(&x, 0.1));
    }
}
