//! A jitted function that calls itself
//!
//! A call with the same types would be traced for ever; a static argument makes every call another one.

pub mod wrong {
    use tracewell::prelude::*;

    jit! {
        fn halved(x: &Array, n: Scalar) -> Array {
            halved(&(0.5 * x), &n - 1)
        }
    }

    pub fn main() {
        println!("{}", halved(&Array::ones([2], F32), 3));
    }
}

pub mod right {
    use tracewell::prelude::*;

    jit! {
        fn halved(x: &Array, #[static_arg] n: u32) -> Array {
            if n == 0 { x.clone() } else { halved(&(0.5 * x), n - 1) }
        }
    }

    pub fn main() {
        println!("{}", halved(&Array::ones([2], F32), 3));
    }
}
