// One error under `Options`, though it lacks `Static` and `Clone`.

use tracewell::prelude::*;

struct Options;

#[derive(Tree)]
struct Layer {
    w: Array,
    #[tree(static)]
    options: Options,
}

fn main() {}
