//! An operation whose result overflows
//!
//! Broadcasting a column against a row makes a matrix; shapes are checked while tracing, before anything runs.

pub mod wrong {
    use tracewell::prelude::*;

    fn distances(x: &Array) -> Array {
        let column = x.broadcast_to([1 << 31, 1]);
        let row = x.broadcast_to([1, 1 << 31]);
        (column - row).abs()
    }

    pub fn main() -> Result<()> {
        println!("{}", trace(distances, &Array::zeros([1, 1], F32))?);
        Ok(())
    }
}

pub mod right {
    use tracewell::prelude::*;

    fn distances(x: &Array) -> Array {
        let column = x.broadcast_to([1 << 10, 1]);
        let row = x.broadcast_to([1, 1 << 10]);
        (column - row).abs()
    }

    pub fn main() -> Result<()> {
        println!("{}", trace(distances, &Array::zeros([1, 1], F32))?);
        Ok(())
    }
}
