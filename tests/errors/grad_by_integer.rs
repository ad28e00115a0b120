//! A derivative by an integer
//!
//! Every array of the argument is differentiated by; what is not a float is captured instead.

pub mod wrong {
    use tracewell::prelude::*;

    fn loss((w, labels): &(Array, Array)) -> Array {
        (w - labels).square().sum()
    }

    pub fn main() {
        let w = Array::from([0.5f32, 0.5]);
        let labels = Array::from([0, 1]);
        println!("{}", grad(loss)(&(w, labels)).0);
    }
}

pub mod right {
    use tracewell::prelude::*;

    fn loss(w: &Array, labels: &Array) -> Array {
        (w - labels).square().sum()
    }

    pub fn main() {
        let w = Array::from([0.5f32, 0.5]);
        let labels = Array::from([0, 1]);
        println!("{}", grad(|w: &Array| loss(w, &labels))(&w));
    }
}
