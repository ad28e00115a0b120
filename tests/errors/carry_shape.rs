//! What a loop carries grows
//!
//! What is carried keeps its shape.
//! What comes with every turn is given out by `scan`, and has all turns along its first axis.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let start = Array::from([1.0f32]);
        let powers = fori_loop(0..8, start, |_, powers| {
            let last = powers.slice(s![-1..]);
            concatenate(&[powers, &(2.0 * last)], 0)
        });
        println!("{powers}");
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let options = ScanOptions { length: Some(9), ..ScanOptions::default() };
        let (_, powers) = scan_with(Array::from(1.0f32), &(), options, |p, ()| (2.0 * p, p.clone()));
        println!("{powers}");
    }
}
