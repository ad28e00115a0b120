use tracewell::prelude::*;

jit! {
    struct Model {
        w: Array,
    }
}

fn main() {}
