//! A condition that is not made of bools
//!
//! `select` does not guess what a number means as a truth value.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([-1.0f32, 0.0, 2.0]);
        println!("{}", select(&x, &x, 0.0));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([-1.0f32, 0.0, 2.0]);
        println!("{}", select(&x.gt(0.0), &x, 0.0));
    }
}
