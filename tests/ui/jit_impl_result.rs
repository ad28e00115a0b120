use tracewell::prelude::*;

jit! {
    fn f(x: &Array) -> impl Tree {
        x.clone()
    }
}

fn caller(x: &Array) -> impl Tree {
    f(x)
}

fn main() {}
