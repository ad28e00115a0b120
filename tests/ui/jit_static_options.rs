use tracewell::prelude::*;

jit! {
    fn f(x: &Array, #[static_arg(bits)] rate: f32) -> Array {
        x * rate
    }
}

fn caller(x: &Array) -> Array {
    f(x, 0.1)
}

fn main() {}
