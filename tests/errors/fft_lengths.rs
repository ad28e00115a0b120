//! Lengths for another number of axes
//!
//! A Fourier transform has one length for each axis that it goes along.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
        println!("{}", Fourier::along(&[0, 1]).lengths(&[4]).fft(&x));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
        println!("{}", Fourier::along(&[0, 1]).lengths(&[4, 2]).fft(&x));
    }
}
