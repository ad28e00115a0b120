//! Arrays of places that do not fit each other
//!
//! Places for several axes are used together, element by element, after broadcasting.
//! For all pairs, give one of them an axis more.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::arange(12, I32).reshape([3, 4]);
        let (rows, columns) = (Array::from([0, 2]), Array::from([0, 1, 3]));
        println!("{}", x.slice((&rows, &columns)));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::arange(12, I32).reshape([3, 4]);
        let (rows, columns) = (Array::from([0, 2]), Array::from([0, 1, 3]));
        println!("{}", x.slice((rows.expand(1), &columns)));
    }
}
