//! Elements taken out while tracing
//!
//! Printing with `{}` always works and shows the type; the elements are known where the function has run.

pub mod wrong {
    use tracewell::prelude::*;

    jit! {
        fn normalized(x: &Array) -> Result<Array> {
            let y = x / x.sum();
            println!("{:?}", y.to_vec::<f32>()?);
            Ok(y)
        }
    }

    pub fn main() -> Result<()> {
        println!("{}", normalized(&Array::from([1.0f32, 3.0]))?);
        Ok(())
    }
}

pub mod right {
    use tracewell::prelude::*;

    jit! {
        fn normalized(x: &Array) -> Result<Array> {
            let y = x / x.sum();
            println!("traced: {y}");
            Ok(y)
        }
    }

    pub fn main() -> Result<()> {
        let y = normalized(&Array::from([1.0f32, 3.0]))?;
        println!("{:?}", y.to_vec::<f32>()?);
        Ok(())
    }
}
