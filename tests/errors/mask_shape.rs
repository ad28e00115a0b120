//! A mask of other axes
//!
//! A mask says of each element of the first axes whether it changes.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([[3.0f32, -1.0, 0.5], [2.0, -4.0, 1.5]]);
        let columns = x.min_axes(&[0]).lt(0.0);
        println!("{}", x.at(&columns).set(0.0));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([[3.0f32, -1.0, 0.5], [2.0, -4.0, 1.5]]);
        let columns = x.min_axes(&[0]).lt(0.0);
        println!("{}", select(&columns, 0.0, &x));
    }
}
