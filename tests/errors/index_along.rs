//! Places along an axis with too few axes
//!
//! `take_along_axis` has a place for each element of its result, so that places have as many axes as the array.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([[3.0f32, 1.0], [2.0, 4.0]]);
        println!("{}", x.take_along_axis(&x.argmax(1), 1));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([[3.0f32, 1.0], [2.0, 4.0]]);
        println!("{}", x.take_along_axis(&x.argmax(1).expand(1), 1));
    }
}
