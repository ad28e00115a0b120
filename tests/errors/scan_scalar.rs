//! A scalar among the arrays of `scan`
//!
//! A loop runs over leading axes.
//! What is the same in every turn is captured.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let xs = (Array::ones([100], F32), Array::from(0.5f32));
        let (sum, _) = scan(Array::from(0.0f32), &xs, |sum, (x, w)| (sum + x * w, ()));
        println!("{sum}");
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let (xs, w) = (Array::ones([100], F32), Array::from(0.5f32));
        let (sum, _) = scan(Array::from(0.0f32), &xs, |sum, x| (sum + x * &w, ()));
        println!("{sum}");
    }
}
