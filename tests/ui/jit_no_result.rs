use tracewell::prelude::*;

jit! {
    fn f(x: &Array) {
        x.clone();
    }
}

fn caller(x: &Array) -> Array {
    f(x)
}

fn main() {}
