//! A jitted function that counts its calls
//!
//! It runs when it is traced and not at each call; `checking_purity` finds what changes from trace to trace.

pub mod wrong {
    use std::cell::Cell;

    use tracewell::prelude::*;

    pub fn main() {
        let calls = Cell::new(0);
        let decayed = jit(|x: &Array| {
            calls.set(calls.get() + 1);
            x.tanh() / calls.get()
        });
        println!("{}", checking_purity(|| decayed.call(&Array::ones([3], F32))));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let decayed = jit(|(x, calls): &(Array, Scalar)| x.tanh() / calls);
        for calls in 1..3 {
            println!("{}", checking_purity(|| decayed.call(&(Array::ones([3], F32), calls.into()))));
        }
    }
}
