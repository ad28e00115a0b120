use tracewell::prelude::*;

jit! {
    fn f(x: &Array) -> Array;
}

fn main() {}
