//! A Rust `if` on a traced value
//!
//! A jitted function is traced for all values of its arguments at once, so that it cannot look at one.

pub mod wrong {
    use tracewell::prelude::*;

    jit! {
        fn step(x: &Array, rate: Scalar) -> Array {
            let norm = x.square().sum().sqrt();
            let moved = &rate * &norm;
            if moved.item::<f32>() > 1.0 { x / &norm } else { x.clone() }
        }
    }

    pub fn main() {
        println!("{}", step(&Array::from([3.0f32, 4.0]), 0.5));
    }
}

pub mod right {
    use tracewell::prelude::*;

    jit! {
        fn step(x: &Array, rate: Scalar) -> Array {
            let norm = x.square().sum().sqrt();
            let moved = &rate * &norm;
            select(&moved.gt(1.0), x / &norm, x)
        }
    }

    pub fn main() {
        println!("{}", step(&Array::from([3.0f32, 4.0]), 0.5));
    }
}
