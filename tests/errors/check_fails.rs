//! A check that fails
//!
//! The condition is looked at whenever the compiled function runs.
//! The message is that of the check, with the values that were asked for; the line is its line.

pub mod wrong {
    use tracewell::prelude::*;

    jit! {
        fn entropy(p: &Array) -> Array {
            check!(p.gt(0.0), "probabilities are positive, found {}", p);
            -(p * p.log()).sum()
        }
    }

    pub fn main() {
        println!("{}", entropy(&Array::from([0.5f32, 0.5, 0.0])));
    }
}

pub mod right {
    use tracewell::prelude::*;

    jit! {
        fn entropy(p: &Array) -> Array {
            check!(p.ge(0.0), "probabilities are not negative, found {}", p);
            -select(&p.gt(0.0), p * p.log(), 0.0).sum()
        }
    }

    pub fn main() {
        println!("{}", entropy(&Array::from([0.5f32, 0.5, 0.0])));
    }
}
