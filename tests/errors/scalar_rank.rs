//! A `Scalar` with axes
//!
//! A parameter of type `Scalar` is one number.

pub mod wrong {
    use tracewell::prelude::*;

    jit! {
        fn scaled(x: &Array, rate: Scalar) -> Array {
            x * &rate
        }
    }

    pub fn main() {
        let x = Array::ones([3], F32);
        let rates = Array::from([0.1f32, 0.2, 0.3]);
        println!("{}", scaled(&x, &rates));
    }
}

pub mod right {
    use tracewell::prelude::*;

    jit! {
        fn scaled(x: &Array, rate: &Array) -> Array {
            x * rate
        }
    }

    pub fn main() {
        let x = Array::ones([3], F32);
        let rates = Array::from([0.1f32, 0.2, 0.3]);
        println!("{}", scaled(&x, &rates));
    }
}
