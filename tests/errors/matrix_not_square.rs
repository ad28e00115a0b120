//! A factorization of a matrix that is not square
//!
//! Only square matrices have this factor. Of others, `pinv` and `lstsq` are defined.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let a = Array::ones([3, 2], F32);
        println!("{}", linalg::inv(&a));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let a = Array::ones([3, 2], F32);
        println!("{}", linalg::pinv(&a).shape());
    }
}
