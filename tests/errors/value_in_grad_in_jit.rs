//! A Rust `if` under `grad` inside a jitted function
//!
//! Alone, `grad` knows the values; inside a jitted function nobody does.

pub mod wrong {
    use tracewell::prelude::*;

    fn huber(x: &Array) -> Array {
        if x.item::<f32>() > 1.0 { x - 0.5 } else { 0.5 * x.square() }
    }

    jit! {
        fn slope(x: &Array) -> Array {
            grad(huber)(x)
        }
    }

    pub fn main() {
        println!("{}", slope(&Array::from(2.0f32)));
    }
}

pub mod right {
    use tracewell::prelude::*;

    fn huber(x: &Array) -> Array {
        if x.item::<f32>() > 1.0 { x - 0.5 } else { 0.5 * x.square() }
    }

    pub fn main() {
        println!("{}", grad(huber)(&Array::from(2.0f32)));
    }
}
