//! Comparing arrays with Rust's operators
//!
//! Rust's `==` and `<` give one bool; arrays are compared element by element, with methods.

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([1.0f32, 2.0]);
        let y = Array::from([1.0f32, 3.0]);
        println!("{} {}", x.eq(&y), x.lt(&y));
    }
}
