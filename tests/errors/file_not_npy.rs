//! A file that is no `.npy` file
//!
//! Other formats are not guessed.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() -> Result<()> {
        println!("{}", Array::load_npy("Cargo.toml")?);
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
