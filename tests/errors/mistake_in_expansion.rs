//! A mistake inside a primitive of your own
//!
//! An expansion is traced for the types of its operands, and its mistakes are found there.

pub mod wrong {
    use tracewell::prelude::*;
    use tracewell::primitive::{Defined, bind};

    struct Norm;

    impl Defined for Norm {
        fn expand(&self, x: &[Array]) -> Vec<Array> {
            vec![x[0].square().sum_axes(&[1]).sqrt()]
        }
    }

    pub fn main() {
        println!("{}", bind(Norm, &[&Array::ones([3], F32)]));
    }
}

pub mod right {
    use tracewell::prelude::*;
    use tracewell::primitive::{Defined, bind};

    struct Norm;

    impl Defined for Norm {
        fn expand(&self, x: &[Array]) -> Vec<Array> {
            vec![x[0].square().sum_axes(&[-1]).sqrt()]
        }
    }

    pub fn main() {
        println!("{}", bind(Norm, &[&Array::ones([3], F32)]));
    }
}
