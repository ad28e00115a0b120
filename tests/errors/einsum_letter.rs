//! A formula whose result names an unknown axis
//!
//! Every axis of the result is one of an operand.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let (a, b) = (Array::ones([2, 3], F32), Array::ones([3, 4], F32));
        println!("{}", einsum("ij,jk->iz", &[&a, &b]));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let (a, b) = (Array::ones([2, 3], F32), Array::ones([3, 4], F32));
        println!("{}", einsum("ij,jk->ik", &[&a, &b]));
    }
}
