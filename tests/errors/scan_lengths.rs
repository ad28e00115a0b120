//! Arrays of different lengths in `scan`
//!
//! The elements of all arrays are taken in step, so that there are as many of each.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let xs = (Array::ones([100, 3], F32), Array::ones([3], F32));
        let (sum, _) = scan(Array::from(0.0f32), &xs, |sum, (x, w)| (sum + x.dot(w), ()));
        println!("{sum}");
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let (xs, w) = (Array::ones([100, 3], F32), Array::ones([3], F32));
        let (sum, _) = scan(Array::from(0.0f32), &xs, |sum, x| (sum + x.dot(&w), ()));
        println!("{sum}");
    }
}
