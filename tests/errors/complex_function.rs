//! A function that complex numbers do not have
//!
//! Powers, exponentials, logarithms and circular and hyperbolic functions take complex numbers; the others are real.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let z = Array::from([Complex::new(3.0f32, 4.0)]);
        println!("{}", z.erf());
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let z = Array::from([Complex::new(3.0f32, 4.0)]);
        println!("{}", z.re().erf());
    }
}
