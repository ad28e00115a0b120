//! A traced array that outlives its trace
//!
//! What a function stores elsewhere while it is traced stands for a value, and is none.

pub mod wrong {
    use std::cell::RefCell;

    use tracewell::prelude::*;

    pub fn main() {
        let kept = RefCell::new(None);
        let f = jit(|x: &Array| {
            let hidden = x.tanh();
            *kept.borrow_mut() = Some(hidden.clone());
            hidden.sum()
        });
        println!("{}", f.call(&Array::ones([3], F32)));
        println!("{}", kept.take().map(|hidden| hidden * 2.0).is_some());
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let f = jit(|x: &Array| {
            let hidden = x.tanh();
            (hidden.sum(), hidden)
        });
        let (sum, hidden) = f.call(&Array::ones([3], F32));
        println!("{sum} {}", hidden * 2.0);
    }
}
