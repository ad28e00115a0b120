//! A primitive that captures a traced array
//!
//! A primitive is known by its parameters and operands; an array that it brings along is neither.

pub mod wrong {
    use tracewell::prelude::*;
    use tracewell::primitive::{Defined, ParamValue, bind};

    struct Shifted(Array);

    impl Defined for Shifted {
        fn expand(&self, x: &[Array]) -> Vec<Array> {
            vec![&x[0] + &self.0]
        }
        fn params(&self) -> Vec<(&'static str, ParamValue)> {
            vec![("by", ParamValue::Int(0))]
        }
    }

    pub fn main() {
        let f = jit(|x: &Array| bind(Shifted(x.sin()), &[x]));
        println!("{}", f.call(&Array::ones([3], F32)));
    }
}

pub mod right {
    use tracewell::prelude::*;
    use tracewell::primitive::{Defined, bind};

    struct Shifted;

    impl Defined for Shifted {
        fn expand(&self, x: &[Array]) -> Vec<Array> {
            vec![&x[0] + &x[1]]
        }
    }

    pub fn main() {
        let f = jit(|x: &Array| bind(Shifted, &[x, &x.sin()]));
        println!("{}", f.call(&Array::ones([3], F32)));
    }
}
