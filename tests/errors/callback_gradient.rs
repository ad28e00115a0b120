//! The derivative of a callback
//!
//! Nobody sees what a Rust function does with the numbers it is given.

pub mod wrong {
    use tracewell::prelude::*;

    fn smooth(x: &Array) -> Array {
        callback(x, |x: &Array| x.tanh(), x).sum()
    }

    pub fn main() {
        println!("{}", grad(smooth)(&Array::from([1.0f32, 4.0])));
    }
}

pub mod right {
    use tracewell::prelude::*;

    fn tanh(x: &Array) -> Array {
        callback(x, |x: &Array| x.tanh(), x)
    }

    fn smooth(x: &Array) -> Array {
        let rule = |x: &Array, dx: &Array| {
            let y = tanh(x);
            (y.clone(), (1.0 - y.square()) * dx)
        };
        custom_jvp(tanh, rule)(x).sum()
    }

    pub fn main() {
        println!("{}", grad(smooth)(&Array::from([1.0f32, 4.0])));
    }
}
