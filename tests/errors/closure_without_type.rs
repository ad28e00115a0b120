//! A closure whose argument has no type
//!
//! Transforms take functions of any tree, so that a closure says of which.

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        println!("{}", grad(|x: &Array| x.square().sum())(&Array::ones([3], F32)));
    }
}
