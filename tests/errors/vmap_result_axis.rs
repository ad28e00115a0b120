//! A batch axis that the result does not have
//!
//! The sum of an example is one number: with its batch it has one axis, 0.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let xs = Array::ones([8, 3], F32);
        println!("{}", vmap_axes(|x: &Array| x.sum(), 0, 1)(&xs));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let xs = Array::ones([8, 3], F32);
        println!("{}", vmap_axes(|x: &Array| x.sum(), 0, 0)(&xs));
    }
}
