//! A Rust `if` under `vmap`
//!
//! The function runs once for all examples, each of which may want to go another way.

pub mod wrong {
    use tracewell::prelude::*;

    fn clipped(x: &Array) -> Array {
        if x.item::<f32>() > 1.0 { x.clone() * 0.0 } else { x.clone() }
    }

    pub fn main() {
        println!("{}", vmap(clipped)(&Array::from([0.5f32, 2.0])));
    }
}

pub mod right {
    use tracewell::prelude::*;

    fn clipped(x: &Array) -> Array {
        select(&x.gt(1.0), 0.0, x)
    }

    pub fn main() {
        println!("{}", vmap(clipped)(&Array::from([0.5f32, 2.0])));
    }
}
