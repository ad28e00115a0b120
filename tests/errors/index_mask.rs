//! Elements by a mask
//!
//! How many elements a mask takes depends on its values, and shapes do not depend on values.
//! Keep the shape, or say how many elements there are room for.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([3.0f32, -1.0, 2.0]);
        println!("{}", x.slice(s![x.gt(0.0)]).sum());
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([3.0f32, -1.0, 2.0]);
        println!("{}", select(&x.gt(0.0), &x, 0.0).sum());
        let places = x.gt(0.0).nonzero(2);
        println!("{}", x.take(&places[0], 0));
    }
}
