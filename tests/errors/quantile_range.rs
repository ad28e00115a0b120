//! A quantile in percent
//!
//! A quantile is a part, from 0 to 1.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        println!("{}", Array::arange(5, F32).quantile(90.0, 0));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        println!("{}", Array::arange(5, F32).percentile(90.0, 0));
    }
}
