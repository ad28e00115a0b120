//! Counting with bools
//!
//! Bools are not numbers: convert them to the type in which you want to count.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([-1.0f32, 1.0, 2.0]);
        println!("{}", x.gt(0.0).sum());
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([-1.0f32, 1.0, 2.0]);
        println!("{}", x.gt(0.0).convert(I32).sum());
    }
}
