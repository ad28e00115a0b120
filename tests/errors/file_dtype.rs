//! A file of elements that Tracewell does not have
//!
//! Python objects and half floats are converted before they are saved.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() -> Result<()> {
        println!("{}", Array::load_npy("corpus/npy/hostile_object.npy")?);
        Ok(())
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() -> Result<()> {
        println!("{}", Array::load_npy("corpus/npy/i64.npy")?);
        Ok(())
    }
}
