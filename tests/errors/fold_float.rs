//! A float folded into a key
//!
//! Keys are made from integers: the number of a step, or of an element.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let key = random::fold_in(&random::key(0), 0.5);
        println!("{}", random::normal(&key, [3], F32));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let key = random::fold_in(&random::key(0), 5);
        println!("{}", random::normal(&key, [3], F32));
    }
}
