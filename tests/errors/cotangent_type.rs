//! A cotangent of another type
//!
//! A pullback takes what has the type of the result, not of the argument.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([2, 3], F32);
        let (_, pull) = vjp(|x: &Array| x.sum_axes(&[0]), &x);
        println!("{}", pull(&Array::ones([2, 3], F32)));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([2, 3], F32);
        let (y, pull) = vjp(|x: &Array| x.sum_axes(&[0]), &x);
        println!("{}", pull(&Array::ones(y.shape().clone(), F32)));
    }
}
