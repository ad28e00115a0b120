//! An image without a batch
//!
//! Image and kernel have as many axes: a batch and channels beside those that the window moves along, and two of channels beside the window.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([28, 28, 3], F32);
        let w = Array::ones([3, 3, 3, 16], F32);
        println!("{}", conv(&x, &w, &Conv::new()));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([28, 28, 3], F32);
        let w = Array::ones([3, 3, 3, 16], F32);
        println!("{}", conv(&x.expand(0), &w, &Conv::new()).squeeze(0).sum());
    }
}
