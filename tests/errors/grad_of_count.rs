//! The gradient of an integer
//!
//! A count does not change smoothly, so that nothing can be learnt from its derivative.

pub mod wrong {
    use tracewell::prelude::*;

    fn wrong_signs(x: &Array) -> Array {
        x.lt(0.0).convert(I32).sum()
    }

    pub fn main() {
        println!("{}", grad(wrong_signs)(&Array::from([1.0f32, -2.0])));
    }
}

pub mod right {
    use tracewell::prelude::*;

    fn wrong_signs(x: &Array) -> Array {
        x.minimum(0.0).abs().sum()
    }

    pub fn main() {
        println!("{}", grad(wrong_signs)(&Array::from([1.0f32, -2.0])));
    }
}
