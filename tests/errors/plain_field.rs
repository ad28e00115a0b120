//! A tree with fields that are no arrays
//!
//! A plain field is structure: it is marked, and another value is another trace.

pub mod right {
    use tracewell::prelude::*;

    #[derive(Tree)]
    struct Layer {
        w: Array,
        #[tree(static)]
        rate: f32,
    }

    jit! {
        fn f(layer: &Layer) -> Array {
            &layer.w * layer.rate
        }
    }

    pub fn main() {
        println!("{}", f(&Layer { w: Array::ones([3], F32), rate: 0.1 }));
    }
}
