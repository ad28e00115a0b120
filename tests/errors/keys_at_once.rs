//! Many keys where one is used
//!
//! `split_n` makes keys for `vmap` and `scan`.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let keys = random::split_n(&random::key(0), 4);
        println!("{}", random::normal(&keys, [4, 3], F32));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let keys = random::split_n(&random::key(0), 4);
        println!("{}", vmap(|key: &random::Key| random::normal(key, [3], F32))(&keys));
    }
}
