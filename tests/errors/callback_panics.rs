//! A panic in a callback
//!
//! It does not unwind through machine code: the call of the compiled function fails.

pub mod wrong {
    use tracewell::prelude::*;

    fn third(x: &Array) -> Array {
        Array::from(x.to_vec::<f32>().expect("f32, as where it is called")[2])
    }

    jit! {
        fn scaled(x: &Array) -> Result<Array> {
            Ok(x * callback(&Array::zeros([], F32), third, x))
        }
    }

    pub fn main() -> Result<()> {
        println!("{}", scaled(&Array::from([1.0f32, 4.0]))?);
        Ok(())
    }
}

pub mod right {
    use tracewell::prelude::*;

    fn last(x: &Array) -> Array {
        let all = x.to_vec::<f32>().expect("f32, as where it is called");
        Array::from(all.last().copied().unwrap_or(1.0))
    }

    jit! {
        fn scaled(x: &Array) -> Result<Array> {
            Ok(x * callback(&Array::zeros([], F32), last, x))
        }
    }

    pub fn main() -> Result<()> {
        println!("{}", scaled(&Array::from([1.0f32, 4.0]))?);
        Ok(())
    }
}
