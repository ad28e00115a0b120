//! Right sides that do not fit the matrix
//!
//! A right side has an element for each row of the matrix.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let (a, b) = (Array::eye(3, F32), Array::ones([2], F32));
        println!("{}", linalg::solve(&a, &b));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let (a, b) = (Array::eye(3, F32), Array::ones([3], F32));
        println!("{}", linalg::solve(&a, &b));
    }
}
