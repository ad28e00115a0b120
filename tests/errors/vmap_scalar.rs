//! A batch of a scalar
//!
//! A scalar has no examples; give it to every example as it is.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let xs = Array::ones([8, 3], F32);
        let rate = Array::from(0.5f32);
        println!("{}", vmap(|(x, rate): &(Array, Array)| x * rate)(&(xs, rate)));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let xs = Array::ones([8, 3], F32);
        let rate = Array::from(0.5f32);
        println!("{}", vmap(|x: &Array| x * &rate)(&xs));
    }
}
