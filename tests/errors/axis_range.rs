//! An axis out of range
//!
//! Axes are counted from 0, and negative ones from the back.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([4, 3], F32);
        println!("{}", x.sum_axes(&[2]));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([4, 3], F32);
        println!("{}", x.sum_axes(&[-1]));
    }
}
