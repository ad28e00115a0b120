//! Groups that do not divide the channels
//!
//! Each group has as many channels as any other, and as many results.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([1, 9, 4], F32);
        let w = Array::ones([3, 1, 4], F32);
        println!("{}", conv(&x, &w, &Conv::new().groups(3)));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([1, 9, 4], F32);
        let w = Array::ones([3, 1, 4], F32);
        println!("{}", conv(&x, &w, &Conv::new().groups(4)));
    }
}
