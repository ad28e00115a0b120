//! A tangent of another structure
//!
//! A list of two arrays has tangents that are lists of two arrays.

pub mod wrong {
    use tracewell::prelude::*;

    fn total(xs: &[Array]) -> Array {
        xs.iter().fold(Array::from(0.0f32), |sum, x| sum + x.square().sum())
    }

    pub fn main() {
        let xs = vec![Array::ones([2], F32), Array::ones([3], F32)];
        let direction = vec![Array::ones([2], F32)];
        println!("{}", jvp(total, xs.as_slice(), direction.as_slice()).1);
    }
}

pub mod right {
    use tracewell::prelude::*;

    fn total(xs: &[Array]) -> Array {
        xs.iter().fold(Array::from(0.0f32), |sum, x| sum + x.square().sum())
    }

    pub fn main() {
        let xs = vec![Array::ones([2], F32), Array::ones([3], F32)];
        let direction = tree::map(&xs, |x| x * 0.0 + 1.0);
        println!("{}", jvp(total, xs.as_slice(), direction.as_slice()).1);
    }
}
