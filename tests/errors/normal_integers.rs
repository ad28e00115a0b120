//! Normal numbers of an integer type
//!
//! Distributions over numbers between integers need floats.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        println!("{}", random::normal(&random::key(0), [3], I32));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        println!("{}", random::normal(&random::key(0), [3], F32).round().convert(I32));
    }
}
