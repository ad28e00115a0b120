use tracewell::prelude::*;

#[jitted]
struct Model {
    w: Array,
}

fn caller(model: &Model) -> Array {
    model.w.clone()
}

fn main() {}
