use tracewell::prelude::*;

struct View<'a>(&'a Array);

jit! {
    fn f(x: View<'_>) -> Array {
        x.0.clone()
    }
}

fn caller(x: &Array) -> Array {
    f(View(x))
}

fn main() {}
