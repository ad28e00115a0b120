//! An array used after it was donated
//!
//! A donated array moves into the call, so that the compiler finds later uses; keep a clone, or the result.

pub mod right {
    use tracewell::prelude::*;

    jit! {
        #[jit(donate(w))]
        fn step(w: Array, gradient: &Array) -> Array {
            w - 0.1 * gradient
        }
    }

    pub fn main() {
        let mut w = Array::ones([3], F32);
        let gradient = Array::ones([3], F32);
        w = step(w, &gradient);
        println!("{w}");
    }
}
