//! A result that is not made of arrays
//!
//! What a traced function returns is arrays, in tuples, lists, maps or types with `#[derive(Tree)]`.

pub mod right {
    use tracewell::prelude::*;

    #[derive(Debug, Tree)]
    struct Statistics {
        mean: Array,
        largest: Array,
    }

    jit! {
        fn statistics(x: &Array) -> Statistics {
            Statistics { mean: x.mean(), largest: x.max() }
        }
    }

    pub fn main() {
        println!("{:?}", statistics(&Array::from([1.0f32, 2.0])));
    }
}
