//! A formula in which an axis has two sizes
//!
//! Axes of one name are walked together.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let (a, b) = (Array::ones([2, 3], F32), Array::ones([4, 3], F32));
        println!("{}", einsum("ij,jk->ik", &[&a, &b]));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let (a, b) = (Array::ones([2, 3], F32), Array::ones([4, 3], F32));
        println!("{}", einsum("ij,kj->ik", &[&a, &b]));
    }
}
