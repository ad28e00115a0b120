//! A kernel for other channels
//!
//! By default channels are the last axis of an image, and the last but one of a kernel.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([8, 3, 28, 28], F32);
        let w = Array::ones([3, 3, 3, 16], F32);
        println!("{}", conv(&x, &w, &Conv::new()));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([8, 3, 28, 28], F32);
        let w = Array::ones([16, 3, 3, 3], F32);
        println!("{}", conv(&x, &w, &Conv::new().layout(Layout::ChannelsFirst)).sum());
    }
}
