//! Places along an empty axis
//!
//! There is nothing to read, whatever the places are.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::zeros([0, 3], F32);
        println!("{}", x.take(Array::from([0, 0]), 0));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::zeros([2, 3], F32);
        println!("{}", x.take(Array::from([0, 0]), 0));
    }
}
