use tracewell::prelude::*;

jit! {
    extern "C" fn f(x: Array) -> Array {
        x
    }
}

fn caller(x: &Array) -> Array {
    f(x.clone())
}

fn main() {}
