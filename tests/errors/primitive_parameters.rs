//! A primitive whose parameters are not named
//!
//! Two uses with other parameters are two programs; parameters that are not named would mix them up.

pub mod wrong {
    use tracewell::prelude::*;
    use tracewell::primitive::{Defined, bind};

    struct Power {
        n: i64,
    }

    impl Defined for Power {
        fn expand(&self, x: &[Array]) -> Vec<Array> {
            vec![(1..self.n).fold(x[0].clone(), |y, _| y * &x[0])]
        }
        fn name(&self) -> String {
            "app::power_without_parameters".to_string()
        }
    }

    pub fn main() {
        println!("{}", bind(Power { n: 3 }, &[&Array::from(2.0f32)]));
    }
}

pub mod right {
    use tracewell::prelude::*;
    use tracewell::primitive::{Defined, ParamValue, bind};

    struct Power {
        n: i64,
    }

    impl Defined for Power {
        fn expand(&self, x: &[Array]) -> Vec<Array> {
            vec![(1..self.n).fold(x[0].clone(), |y, _| y * &x[0])]
        }
        fn name(&self) -> String {
            "app::power".to_string()
        }
        fn params(&self) -> Vec<(&'static str, ParamValue)> {
            vec![("n", ParamValue::Int(self.n))]
        }
    }

    pub fn main() {
        println!("{}", bind(Power { n: 3 }, &[&Array::from(2.0f32)]));
    }
}
