use tracewell::prelude::*;

jit! {
    fn f(x: &Array, y: &Array) -> &Array {
        x
    }
}

fn caller(x: &Array) -> Array {
    f(x, x).clone()
}

fn main() {}
