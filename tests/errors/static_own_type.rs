//! A static argument of a type of your own
//!
//! Static arguments are compared to find what was traced before; a derive says how.

pub mod right {
    use tracewell::prelude::*;

    #[derive(Clone, Debug, Static)]
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

    pub fn main() {
        let x = Array::ones([3], F32);
        println!("{} {}", layer(&x, Activation::Linear), layer(&x, Activation::Tanh));
    }
}
