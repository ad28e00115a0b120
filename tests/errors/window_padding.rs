//! Padding for another number of axes
//!
//! Explicit padding is one pair of numbers, before and after, for each axis that the window moves along.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([1, 4, 4, 1], F32);
        println!("{}", max_pool(&x, &Window::new(3).padding([(1, 1)])));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([1, 4, 4, 1], F32);
        println!("{}", max_pool(&x, &Window::new(3).padding([(1, 1), (1, 1)])));
    }
}
