//! A batch of nothing
//!
//! With `None` for every array there is nothing to run over.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let pair = (Array::ones([3], F32), Array::ones([3], F32));
        println!("{}", vmap_axes(|(x, y): &(Array, Array)| x * y, (None, None), 0)(&pair));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let pair = (Array::ones([8, 3], F32), Array::ones([3], F32));
        println!("{}", vmap_axes(|(x, y): &(Array, Array)| x * y, (0, None), 0)(&pair));
    }
}
