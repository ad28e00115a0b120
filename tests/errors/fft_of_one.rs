//! A real transform back of one element
//!
//! Half a spectrum of one element is that of one number or of none: say of how many.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let z = Array::from([Complex::new(3.0f32, 0.0)]);
        println!("{}", z.irfft());
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let z = Array::from([Complex::new(3.0f32, 0.0)]);
        println!("{}", Fourier::along(&[-1]).lengths(&[1]).irfft(&z));
    }
}
