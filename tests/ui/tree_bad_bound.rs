use tracewell::prelude::*;

#[derive(Tree)]
#[tree(bound = "T Tree")]
struct Pair<T> {
    a: T,
    b: Array,
}

fn main() {}
