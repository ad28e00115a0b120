//! A result without a batch axis that needs one
//!
//! `None` is for results that are the same for all examples.

pub mod wrong {
    use tracewell::prelude::*;

    fn centred((x, mean): &(Array, Array)) -> (Array, Array) {
        (x - mean, mean.clone())
    }

    pub fn main() {
        let pair = (Array::ones([8, 3], F32), Array::ones([3], F32));
        let (x, mean) = vmap_axes(centred, (0, None), (None, None))(&pair);
        println!("{x} {mean}");
    }
}

pub mod right {
    use tracewell::prelude::*;

    fn centred((x, mean): &(Array, Array)) -> (Array, Array) {
        (x - mean, mean.clone())
    }

    pub fn main() {
        let pair = (Array::ones([8, 3], F32), Array::ones([3], F32));
        let (x, mean) = vmap_axes(centred, (0, None), (0, None))(&pair);
        println!("{x} {mean}");
    }
}
