use tracewell::prelude::*;

#[derive(Tree)]
struct Layer {
    w: Array,
    rate: f32,
    sizes: Vec<usize>,
    name: String,
}

jit! {
    fn f(layer: &Layer) -> Array {
        layer.w.clone()
    }
}

fn main() {}
