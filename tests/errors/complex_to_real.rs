//! Complex numbers as real ones
//!
//! An imaginary part is not lost silently: say which real part of a number you want.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let z = Array::from([Complex::new(3.0f32, 4.0)]);
        println!("{}", z.convert(F64));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let z = Array::from([Complex::new(3.0f32, 4.0)]);
        println!("{} {}", z.re().convert(F64), z.abs());
    }
}
