use tracewell::prelude::*;

struct View<'a>(&'a Array);

jit! {
    fn f(x: &Array) -> View<'_> {
        View(x)
    }
}

fn caller(x: &Array) -> Array {
    f(x).0.clone()
}

fn main() {}
