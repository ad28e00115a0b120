//! A factor that there is of real matrices only
//!
//! `eigh` and `svd` take real matrices. `eig` takes any square one, `qr`, `lu` and `cholesky` complex ones too.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let a = Array::eye(2, C64);
        println!("{}", linalg::eigh(&a).0);
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let a = Array::eye(2, C64);
        println!("{}", linalg::eig(&a).0);
    }
}
