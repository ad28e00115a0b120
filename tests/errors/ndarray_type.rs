//! An `ndarray` of another element type
//!
//! A conversion that may lose something is written down.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() -> Result<()> {
        let x = Array::from([1.5f64, 2.5]);
        println!("{}", x.to_ndarray::<f32>()?);
        Ok(())
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() -> Result<()> {
        let x = Array::from([1.5f64, 2.5]);
        println!("{}", x.convert(F32).to_ndarray::<f32>()?);
        Ok(())
    }
}
