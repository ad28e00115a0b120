//! A mistake on the way of a derivative
//!
//! The message names the line, and every function on the way to it.

pub mod wrong {
    use tracewell::prelude::*;

    fn energy(x: &Array) -> Array {
        x.dot(&Array::ones([3], F32)).square()
    }

    jit! {
        fn curvature(x: &Array) -> Array {
            hessian(energy)(x)
        }
    }

    pub fn main() {
        println!("{}", curvature(&Array::from([1.0f32, 2.0])));
    }
}

pub mod right {
    use tracewell::prelude::*;

    fn energy(x: &Array) -> Array {
        x.dot(&Array::ones([2], F32)).square()
    }

    jit! {
        fn curvature(x: &Array) -> Array {
            hessian(energy)(x)
        }
    }

    pub fn main() {
        println!("{}", curvature(&Array::from([1.0f32, 2.0])));
    }
}
