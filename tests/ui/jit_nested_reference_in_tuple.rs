use tracewell::prelude::*;

jit! {
    fn f(x: (Array, &Array)) -> Array {
        x.0
    }
}

fn caller(x: &Array) -> Array {
    f((x.clone(), x))
}

fn main() {}
