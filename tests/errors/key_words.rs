//! A key of something else
//!
//! A key is two words, or a number that they are made of.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let key = random::Key::from_words(&Array::from([0, 42]));
        println!("{}", random::normal(&key, [3], F32));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let key = random::key(42);
        println!("{}", random::normal(&key, [3], F32));
    }
}
