use tracewell::prelude::*;

jit! {
    fn f(x: &mut Array) -> Array {
        x.clone()
    }
}

fn caller(x: &Array) -> Array {
    f(&mut x.clone())
}

fn main() {}
