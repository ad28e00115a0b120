use tracewell::prelude::*;

#[derive(Tree)]
struct Layer {
    w: Array,
    #[tree(skip)]
    rate: f32,
}

#[derive(Tree)]
#[tree(static)]
struct Model {
    w: Array,
}

#[derive(Tree)]
enum Either {
    #[tree(static)]
    Left(usize),
    Right(Array),
}

fn main() {}
