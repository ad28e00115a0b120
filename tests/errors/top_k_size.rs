//! More of the largest than there are
//!
//! `top_k` takes a part of an axis, at most all of it.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let scores = Array::ones([32, 4], F32);
        println!("{}", scores.top_k(5, 1).0);
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let scores = Array::ones([32, 4], F32);
        println!("{}", scores.top_k(4, 1).0);
    }
}
