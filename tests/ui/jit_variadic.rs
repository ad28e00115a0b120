use tracewell::prelude::*;

jit! {
    fn f(x: &Array, ...) -> Array {
        x.clone()
    }
}

fn caller(x: &Array) -> Array {
    f(x)
}

fn main() {}
