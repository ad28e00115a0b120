//! Two trees of different structure
//!
//! Arrays of two trees are combined in pairs, so that both need the same ones.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let weights = vec![Array::ones([2], F32), Array::ones([3], F32)];
        let gradients = vec![Array::ones([2], F32)];
        let moved = tree::map2(&weights, &gradients, |w, g| w - 0.1 * g);
        println!("{}", moved[0]);
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let weights = vec![Array::ones([2], F32), Array::ones([3], F32)];
        let gradients = tree::map(&weights, |w| 2.0 * w);
        let moved = tree::map2(&weights, &gradients, |w, g| w - 0.1 * g);
        println!("{}", moved[0]);
    }
}
