//! A permutation that leaves axes out
//!
//! The result has as many axes as the array, so that each is named once.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let images = Array::ones([8, 32, 16, 3], F32);
        println!("{}", images.permute(&[0, 3, 1]).shape());
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let images = Array::ones([8, 32, 16, 3], F32);
        println!("{}", images.permute(&[0, 3, 1, 2]).shape());
    }
}
