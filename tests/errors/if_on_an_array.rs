//! An array as a condition
//!
//! A comparison has as many answers as elements; say which you mean, and ask for its value.

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([3.0f32, 4.0]);
        if x.min().item::<f32>() > 0.0 {
            println!("positive");
        }
    }
}
