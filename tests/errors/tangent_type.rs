//! A tangent of another type
//!
//! A tangent is a direction in the space of the argument.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([1.0f32, 2.0]);
        let direction = Array::from([1.0f64, 0.0]);
        println!("{}", jvp(|x: &Array| x.square(), &x, &direction).1);
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([1.0f32, 2.0]);
        let direction = Array::from([1.0f32, 0.0]);
        println!("{}", jvp(|x: &Array| x.square(), &x, &direction).1);
    }
}
