//! Batches of different sizes
//!
//! The examples of all arrays are taken in step, so that there are as many of each.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let xs = Array::ones([8, 3], F32);
        let ws = Array::ones([3, 4], F32);
        let products = vmap(|(x, w): &(Array, Array)| x.dot(w))(&(xs, ws));
        println!("{products}");
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let xs = Array::ones([8, 3], F32);
        let ws = Array::ones([3, 4], F32);
        let products = vmap_axes(|(x, w): &(Array, Array)| x.dot(w), (0, None), 0)(&(xs, ws));
        println!("{products}");
    }
}
