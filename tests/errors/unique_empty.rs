//! Different elements of an empty array
//!
//! What is missing is filled with the smallest element, and there is none.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        println!("{}", Array::zeros([0], F32).unique(3));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        println!("{}", Array::zeros([1], F32).unique(3));
    }
}
