// One error under each of `Options` and `Vec<Options>`, though four methods need them.

use tracewell::prelude::*;

struct Options;

#[derive(Tree)]
struct Layer {
    w: Array,
    options: Options,
    more: Vec<Options>,
}

fn main() {}
