//! A vector product of vectors that have not three elements
//!
//! The vectors are along the last axis.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([3, 2], F32);
        println!("{}", linalg::cross(&x, &x));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([3, 2], F32).t();
        println!("{}", linalg::cross(&x, &x));
    }
}
