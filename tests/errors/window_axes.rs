//! A window of another rank
//!
//! A window that pools has an axis for each axis between batch and channels; one that reduces, for each axis of the array.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([1, 4, 4, 1], F32);
        println!("{}", max_pool(&x, &Window::new([1, 2, 2, 1])));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([1, 4, 4, 1], F32);
        println!("{}", max_pool(&x, &Window::new([2, 2])));
    }
}
