//! Random bits as floats
//!
//! Bits are integers; most floats that they could be are huge, tiny or no number.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        println!("{}", random::bits(&random::key(0), [3], F32));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        println!("{}", random::uniform(&random::key(0), [3], F32));
    }
}
