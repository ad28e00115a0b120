//! A search in an array of several axes
//!
//! `searchsorted` searches one sorted axis.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let (rows, x) = (Array::ones([2, 3], F32), Array::ones([2, 5], F32));
        println!("{}", rows.searchsorted(&x));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let (rows, x) = (Array::ones([2, 3], F32), Array::ones([2, 5], F32));
        println!("{}", vmap(|(row, x): &(Array, Array)| row.searchsorted(x))(&(rows, x)));
    }
}
