//! The gradient of several numbers
//!
//! A gradient is of one number; several have a Jacobian.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([1.0f32, 2.0]);
        println!("{}", grad(|x: &Array| x.square())(&x));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([1.0f32, 2.0]);
        println!("{}", grad(|x: &Array| x.square().sum())(&x));
        println!("{}", jacrev(|x: &Array| x.square())(&x));
    }
}
