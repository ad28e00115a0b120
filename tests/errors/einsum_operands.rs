//! A formula for another number of arrays
//!
//! A formula names the axes of each array, separated by commas.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let a = Array::ones([2, 2], F32);
        println!("{}", einsum("ij,jk->ik", &[&a]));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let a = Array::ones([2, 2], F32);
        println!("{}", einsum("ij,jk->ik", &[&a, &a]));
    }
}
