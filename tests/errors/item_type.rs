//! An element asked for as another type
//!
//! Values are never cast silently on their way out.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let mean = Array::from([1.0f32, 2.0]).mean();
        println!("{}", mean.item::<f64>());
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let mean = Array::from([1.0f32, 2.0]).mean();
        println!("{}", mean.item::<f32>());
    }
}
