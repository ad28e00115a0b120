//! One element of several
//!
//! `item` is for arrays of one element.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([1.0f32, 2.0]);
        println!("{}", x.item::<f32>());
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([1.0f32, 2.0]);
        println!("{}", x.max().item::<f32>());
    }
}
