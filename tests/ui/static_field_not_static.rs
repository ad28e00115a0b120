// One error under `Array`.

use tracewell::prelude::*;

#[derive(Clone, Debug, Static)]
struct Options {
    rate: f32,
    w: Array,
}

fn main() {}
