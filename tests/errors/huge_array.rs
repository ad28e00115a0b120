//! A shape that overflows
//!
//! The number of elements is a product and grows quickly; it is checked before memory is asked for.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let n = 1 << 40;
        println!("{}", Array::zeros([n, n], F32));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let n = 1 << 4;
        println!("{}", Array::zeros([n, n], F32));
    }
}
