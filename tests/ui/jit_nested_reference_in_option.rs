use tracewell::prelude::*;

jit! {
    fn f(x: Option<&Array>, y: &Array) -> Array {
        x.unwrap_or(y).clone()
    }
}

fn caller(x: &Array) -> Array {
    f(Some(x), x)
}

fn main() {}
