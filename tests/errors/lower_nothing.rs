//! Nothing to lower
//!
//! `lower` shows the way of a jitted function; an ordinary one has none.

pub mod wrong {
    use tracewell::prelude::*;

    fn doubled(x: &Array) -> Array {
        x * 2.0
    }

    pub fn main() -> Result<()> {
        let x = Array::ones([3], F32);
        println!("{}", lower(|| doubled(&x))?.graph());
        Ok(())
    }
}

pub mod right {
    use tracewell::prelude::*;

    jit! {
        fn doubled(x: &Array) -> Array {
            x * 2.0
        }
    }

    pub fn main() -> Result<()> {
        let x = Array::ones([3], F32);
        println!("{}", lower(|| doubled(&x))?.graph());
        Ok(())
    }
}
