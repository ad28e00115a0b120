//! A predicate of many elements
//!
//! A branch is taken as a whole.
//! To choose element by element there is `select`.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([-1.0f32, 4.0]);
        println!("{}", cond(&x.gt(0.0), || x.sqrt(), || 0.0 * &x));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([-1.0f32, 4.0]);
        println!("{}", select(&x.gt(0.0), x.sqrt(), 0.0));
        println!("{}", cond(&x.gt(0.0).all(), || x.sqrt(), || 0.0 * &x));
    }
}
