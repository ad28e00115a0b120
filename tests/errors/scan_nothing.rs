//! A `scan` over nothing
//!
//! Without arrays nobody says how often.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let (_, halves) = scan(Array::from(1.0f32), &(), |x, ()| (x / 2.0, x.clone()));
        println!("{halves}");
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let options = ScanOptions { length: Some(4), ..ScanOptions::default() };
        let (_, halves) = scan_with(Array::from(1.0f32), &(), options, |x, ()| (x / 2.0, x.clone()));
        println!("{halves}");
    }
}
