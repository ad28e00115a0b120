use tracewell::prelude::*;

jit! {
    fn f(x: &Array, rates: &[f32]) -> Array {
        x * rates[0]
    }
}

fn caller(x: &Array) -> Array {
    f(x, &[0.1])
}

fn main() {}
