//! An update of another shape
//!
//! What is put somewhere has the shape of the part, or can be repeated to it.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::zeros([4, 3], F32);
        println!("{}", x.at(s![1..3]).set(Array::ones([2], F32)));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::zeros([4, 3], F32);
        println!("{}", x.at(s![1..3]).set(Array::ones([2, 1], F32)));
    }
}
