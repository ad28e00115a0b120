//! The transform of real numbers, of complex ones
//!
//! `rfft` leaves out what the symmetry of a real array tells; a complex one has none.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let z = Array::from([Complex::new(3.0f32, 4.0), Complex::new(1.0, 0.0)]);
        println!("{}", z.rfft());
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let z = Array::from([Complex::new(3.0f32, 4.0), Complex::new(1.0, 0.0)]);
        println!("{}", z.fft());
    }
}
