use tracewell::prelude::*;

jit! {
    |x: &Array| x.clone()
}

fn main() {}
