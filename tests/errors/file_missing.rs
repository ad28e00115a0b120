//! A file that is not there
//!
//! The path is taken from the folder in which the program runs.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() -> Result<()> {
        println!("{}", Array::load_npy("corpus/npy/f23.npy")?);
        Ok(())
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() -> Result<()> {
        println!("{}", Array::load_npy("corpus/npy/f32.npy")?);
        Ok(())
    }
}
