use tracewell::prelude::*;

jit! {
    fn f(x: &Array, name: &str) -> Array {
        x.clone()
    }
}

fn caller(x: &Array) -> Array {
    f(x, "tanh")
}

fn main() {}
