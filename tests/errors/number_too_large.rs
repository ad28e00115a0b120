//! A number that the element type cannot hold
//!
//! A Rust number takes the element type of the array it meets, and must fit in.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let pixels = Array::from([10u8, 20, 30]);
        println!("{}", pixels * 300);
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let pixels = Array::from([10u8, 20, 30]);
        println!("{}", pixels.convert(I32) * 300);
    }
}
