//! A window larger than the array
//!
//! Without padding a window is over elements only, so it must fit.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([1, 4, 4, 1], F32);
        println!("{}", max_pool(&x, &Window::new(5)));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([1, 4, 4, 1], F32);
        println!("{}", max_pool(&x, &Window::new(5).padding(Padding::Same)));
    }
}
