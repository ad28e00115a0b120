//! A batch axis that is not there
//!
//! Axes are those of the whole array, with the batch.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let columns = Array::ones([3, 8], F32);
        println!("{}", vmap_axes(|x: &Array| x.sum(), 2, 0)(&columns));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let columns = Array::ones([3, 8], F32);
        println!("{}", vmap_axes(|x: &Array| x.sum(), 1, 0)(&columns));
    }
}
