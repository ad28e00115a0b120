//! A random key used twice
//!
//! Numbers that are drawn with the same key are not independent; `checking_keys` finds it.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let draw = jit(|key: &random::Key| {
            let noise = random::normal(key, [3], F32);
            noise + random::uniform(key, [3], F32)
        });
        println!("{}", checking_keys(|| draw.call(&random::key(0))));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let draw = jit(|key: &random::Key| {
            let [first, second] = random::split(key);
            let noise = random::normal(&first, [3], F32);
            noise + random::uniform(&second, [3], F32)
        });
        println!("{}", checking_keys(|| draw.call(&random::key(0))));
    }
}
