//! A predicate that is a number
//!
//! What a loop goes on by is a bool: say what of the number is meant.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let n = Array::from(10);
        let (_, sum) = while_loop((n, Array::from(0)), |(n, _)| n.clone(), |(n, sum)| (n - 1, sum + n));
        println!("{sum}");
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let n = Array::from(10);
        let (_, sum) = while_loop((n, Array::from(0)), |(n, _)| n.gt(0), |(n, sum)| (n - 1, sum + n));
        println!("{sum}");
    }
}
