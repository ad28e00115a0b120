//! Second derivatives of several numbers
//!
//! A Hessian is of a function with one float result.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([1.0f32, 2.0]);
        println!("{}", hessian(|x: &Array| x.square() * x)(&x));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([1.0f32, 2.0]);
        println!("{}", hessian(|x: &Array| (x.square() * x).sum())(&x));
    }
}
