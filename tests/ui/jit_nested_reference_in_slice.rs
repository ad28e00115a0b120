use tracewell::prelude::*;

jit! {
    fn f(x: &[&Array]) -> Array {
        x[0].clone()
    }
}

fn caller(x: &Array) -> Array {
    f(&[x])
}

fn main() {}
