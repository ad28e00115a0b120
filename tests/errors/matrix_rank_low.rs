//! A factorization of an array that is no matrix
//!
//! A matrix is the last two axes of an array.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([4], F32);
        println!("{}", linalg::cholesky(&x));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([4], F32);
        println!("{}", linalg::cholesky(&linalg::diag(&x)));
    }
}
