//! A check of something that is no condition
//!
//! A number neither holds nor fails to hold.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let weights = Array::from([0.5f32, 0.5]);
        check!(&weights, "weights are not zero");
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let weights = Array::from([0.5f32, 0.5]);
        check!(weights.ne(0.0), "weights are not zero");
    }
}
