//! What a loop carries changes its structure
//!
//! The length of a `Vec`, the variant of an enum and static fields are not values of the loop: they stay as they are.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let history = fori_loop(0..3, vec![Array::from(1.0f32)], |_, history| {
            let mut history = history.clone();
            history.push(2.0 * &history[0]);
            history
        });
        println!("{}", history.len());
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        // A Rust loop over Rust numbers is unrolled, and may build what it likes.
        let mut history = vec![Array::from(1.0f32)];
        for i in 0..3 {
            history.push(2.0 * &history[i]);
        }
        println!("{}", history.len());
    }
}
