//! A primitive of several results
//!
//! `bind` gives one array; `bind_all` gives as many as there are.

pub mod wrong {
    use tracewell::prelude::*;
    use tracewell::primitive::{Defined, bind};

    struct SinCos;

    impl Defined for SinCos {
        fn expand(&self, x: &[Array]) -> Vec<Array> {
            vec![x[0].sin(), x[0].cos()]
        }
    }

    pub fn main() {
        println!("{}", bind(SinCos, &[&Array::from(0.0f32)]));
    }
}

pub mod right {
    use tracewell::prelude::*;
    use tracewell::primitive::{Defined, bind_all};

    struct SinCos;

    impl Defined for SinCos {
        fn expand(&self, x: &[Array]) -> Vec<Array> {
            vec![x[0].sin(), x[0].cos()]
        }
    }

    pub fn main() {
        println!("{:?}", bind_all(SinCos, &[&Array::from(0.0f32)]));
    }
}
