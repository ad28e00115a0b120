//! Shapes that do not broadcast
//!
//! Axes are aligned from the last one; two sizes must be equal, or one of them 1.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::zeros([4, 3], F32);
        let y = Array::zeros([4], F32);
        println!("{}", x + y);
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::zeros([4, 3], F32);
        let y = Array::zeros([4], F32);
        println!("{}", x + y.reshape([4, 1]));
    }
}
