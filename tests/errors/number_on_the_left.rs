//! An `f32` on the left of an operator
//!
//! On the left, numbers are `f64` and `i64`, which literals become by themselves; they take the array's element type.

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([3], F32);
        println!("{} {}", 2.0 * &x, &x * 2.0f32);
    }
}
