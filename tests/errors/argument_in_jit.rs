//! A Rust loop over a traced number
//!
//! What decides how often a Rust loop runs is known while tracing, so it is a static argument.

pub mod wrong {
    use tracewell::prelude::*;

    jit! {
        fn power(x: &Array, n: Scalar) -> Array {
            (1..n.item::<i32>()).fold(x.clone(), |y, _| y * x)
        }
    }

    pub fn main() {
        println!("{}", power(&Array::from([3.0f32, 4.0]), 3));
    }
}

pub mod right {
    use tracewell::prelude::*;

    jit! {
        fn power(x: &Array, #[static_arg] n: i32) -> Array {
            (1..n).fold(x.clone(), |y, _| y * x)
        }
    }

    pub fn main() {
        println!("{}", power(&Array::from([3.0f32, 4.0]), 3));
    }
}
