//! More keys than arrays
//!
//! The keys are the first of the arrays that are sorted.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([4], F32);
        println!("{}", sort_together(&[x], 2, 0)[0]);
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([4], F32);
        println!("{}", sort_together(&[x], 1, 0)[0]);
    }
}
