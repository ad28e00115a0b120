use tracewell::prelude::*;

jit! {
    fn f(x: &Array, #[static_arg] rate: Scalar) -> Array {
        x * &rate
    }
}

fn main() {}
