//! A value computed from constants while tracing
//!
//! Everything inside a jitted function is recorded, also what depends on no argument.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let weights = Array::from([1.0f32, 2.0, 3.0]);
        let f = jit(|x: &Array| x * weights.sum().item::<f32>());
        println!("{}", f.call(&Array::ones([3], F32)));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let weights = Array::from([1.0f32, 2.0, 3.0]);
        let total = weights.sum().item::<f32>();
        let f = jit(|x: &Array| x * total);
        println!("{}", f.call(&Array::ones([3], F32)));
    }
}
