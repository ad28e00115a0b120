//! Squeezing an axis that holds something
//!
//! Only an axis of size 1 can be left out without losing elements.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([4, 1], F32);
        println!("{}", x.squeeze(0));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([4, 1], F32);
        println!("{}", x.squeeze(1));
    }
}
