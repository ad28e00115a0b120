use tracewell::prelude::*;

jit! {
    fn f(x: impl Tree, y: &Array) -> Array {
        y.clone()
    }
}

fn caller(x: &Array) -> Array {
    f(x.clone(), x)
}

fn main() {}
