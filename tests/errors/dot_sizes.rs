//! A product of arrays that do not fit
//!
//! `dot` sums over the last axis of the left array and the last but one of the right.

pub mod wrong {
    use tracewell::prelude::*;

    jit! {
        fn layer(x: &Array, w: &Array) -> Array {
            x.dot(w).tanh()
        }
    }

    pub fn main() {
        let x = Array::ones([32, 3], F32);
        let w = Array::ones([5, 3], F32);
        println!("{}", layer(&x, &w));
    }
}

pub mod right {
    use tracewell::prelude::*;

    jit! {
        fn layer(x: &Array, w: &Array) -> Array {
            x.dot(&w.t()).tanh()
        }
    }

    pub fn main() {
        let x = Array::ones([32, 3], F32);
        let w = Array::ones([5, 3], F32);
        println!("{}", layer(&x, &w));
    }
}
