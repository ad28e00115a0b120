//! Two primitives of one name
//!
//! A name stands for one type, in texts and in caches.

pub mod wrong {
    use tracewell::prelude::*;
    use tracewell::primitive::{Defined, bind};

    struct Twice;

    impl Defined for Twice {
        fn expand(&self, x: &[Array]) -> Vec<Array> {
            vec![2.0 * &x[0]]
        }
        fn name(&self) -> String {
            "mul".to_string()
        }
    }

    pub fn main() {
        println!("{}", bind(Twice, &[&Array::from(2.0f32)]));
    }
}

pub mod right {
    use tracewell::prelude::*;
    use tracewell::primitive::{Defined, bind};

    struct Twice;

    impl Defined for Twice {
        fn expand(&self, x: &[Array]) -> Vec<Array> {
            vec![2.0 * &x[0]]
        }
        fn name(&self) -> String {
            "app::twice".to_string()
        }
    }

    pub fn main() {
        println!("{}", bind(Twice, &[&Array::from(2.0f32)]));
    }
}
