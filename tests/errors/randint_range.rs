//! Integers from a range without any
//!
//! The end of the range is not included.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        println!("{}", random::randint(&random::key(0), [3], 6, 6, I32));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        println!("{}", random::randint(&random::key(0), [3], 1, 7, I32));
    }
}
