//! Probabilities that are no list
//!
//! `choice_weighted` draws from one list of probabilities.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let p = Array::ones([4, 3], F32) / 3.0;
        println!("{}", random::choice_weighted(&random::key(0), &p, [4]));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let p = Array::ones([4, 3], F32) / 3.0;
        println!("{}", random::categorical(&random::key(0), &p.log(), 1));
    }
}
