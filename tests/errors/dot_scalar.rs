//! `dot` with a scalar
//!
//! A scalar has no axis to sum over.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([3], F32);
        let rate = Array::from(0.5f32);
        println!("{}", x.dot(&rate));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([3], F32);
        let rate = Array::from(0.5f32);
        println!("{}", x * rate);
    }
}
