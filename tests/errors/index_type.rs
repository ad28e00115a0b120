//! Places that are no integers
//!
//! Places along an axis are integers of any type; floats are rounded by nobody but you.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::arange(10, F32);
        let middle = x.mean();
        println!("{}", x.take(&middle, 0));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::arange(10, F32);
        let middle = x.mean().floor().convert(I32);
        println!("{}", x.take(&middle, 0));
    }
}
