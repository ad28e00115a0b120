//! A traced array that is kept, found when its trace ends
//!
//! `checking_leaks` finds it where it is made, though nothing has used it yet.

pub mod wrong {
    use std::cell::RefCell;

    use tracewell::prelude::*;

    pub fn main() {
        let norms = RefCell::new(Vec::new());
        let f = jit(|x: &Array| {
            let norm = x.square().sum().sqrt();
            norms.borrow_mut().push(norm.clone());
            x / norm
        });
        println!("{}", checking_leaks(|| f.call(&Array::ones([3], F32))));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let mut norms = Vec::new();
        let f = jit(|x: &Array| {
            let norm = x.square().sum().sqrt();
            (x / &norm, norm)
        });
        let (direction, norm) = checking_leaks(|| f.call(&Array::ones([3], F32)));
        norms.push(norm);
        println!("{direction} {norms:?}");
    }
}
