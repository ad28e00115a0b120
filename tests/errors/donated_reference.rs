//! Donating what is only lent
//!
//! Memory can be given away by its owner.

pub mod right {
    use tracewell::prelude::*;

    jit! {
        #[jit(donate(x))]
        fn f(x: Array) -> Array {
            x * 2.0
        }
    }

    pub fn main() {
        println!("{}", f(Array::ones([3], F32)));
    }
}
