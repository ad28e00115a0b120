//! The larger of two complex numbers
//!
//! Complex numbers have no order: compare something real of them.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let z = Array::from([Complex::new(3.0f32, 4.0), Complex::new(1.0, 0.0)]);
        println!("{}", z.gt(2.0));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let z = Array::from([Complex::new(3.0f32, 4.0), Complex::new(1.0, 0.0)]);
        println!("{}", z.abs().gt(2.0));
    }
}
