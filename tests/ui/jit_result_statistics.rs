use tracewell::prelude::*;

struct Statistics {
    mean: Array,
    largest: Array,
}

jit! {
    fn statistics(x: &Array) -> Statistics {
        Statistics { mean: x.mean(), largest: x.max() }
    }
}

fn main() {}
