use tracewell::prelude::*;

#[derive(Clone, Debug)]
enum Activation {
    Linear,
    Tanh,
}

jit! {
    fn layer(x: &Array, #[static_arg] activation: Activation) -> Array {
        match activation {
            Activation::Linear => x.clone(),
            Activation::Tanh => x.tanh(),
        }
    }
}

fn main() {}
