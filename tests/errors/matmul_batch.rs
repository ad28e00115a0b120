//! Batches that do not fit
//!
//! The axes before the last two are broadcast.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let (a, b) = (Array::ones([2, 3, 4], F32), Array::ones([5, 4, 3], F32));
        println!("{}", matmul(&a, &b));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let (a, b) = (Array::ones([2, 1, 3, 4], F32), Array::ones([5, 4, 3], F32));
        println!("{}", matmul(&a, &b).shape());
    }
}
