//! An axis that cannot be repeated
//!
//! Only axes of size 1, and axes that are not there, are repeated.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let row = Array::from([1.0f32, 2.0, 3.0]);
        println!("{}", row.broadcast_to([3, 2]));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let row = Array::from([1.0f32, 2.0, 3.0]);
        println!("{}", row.reshape([3, 1]).broadcast_to([3, 2]));
    }
}
