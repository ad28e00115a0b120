//! A broadcast to fewer axes
//!
//! Broadcasting adds axes and repeats them; it never loses one.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([1, 3], F32);
        println!("{}", x.broadcast_to([3]));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([1, 3], F32);
        println!("{}", x.squeeze(0));
    }
}
