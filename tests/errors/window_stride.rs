//! A window that does not move
//!
//! Strides and dilations are at least 1: a window that moves by 0 never ends.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::arange(6, F32);
        println!("{}", x.window_sum(&Window::new(2).strides(0)));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::arange(6, F32);
        println!("{}", x.window_sum(&Window::new(2).strides(1)));
    }
}
