//! Another type for a value on a tape
//!
//! What runs again was recorded for arrays of one type.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() -> Result<()> {
        let tape = Tape::call(|x: &Array| x.exp().sum(), &Array::from([0.5f32, 1.5]));
        let x = tape.root().parameters().next().expect("the parameter").id();
        let updated = tape.update(&[(x, &Array::from([1.0f32, 2.0, 3.0]))])?;
        println!("{:?}", updated.tape.value());
        Ok(())
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() -> Result<()> {
        let f = |x: &Array| x.exp().sum();
        let tape = Tape::call(f, &Array::from([0.5f32, 1.5]));
        let x = tape.root().parameters().next().expect("the parameter").id();
        let updated = tape.update(&[(x, &Array::from([1.0f32, 2.0]))])?;
        println!("{:?}", updated.tape.value());
        println!("{:?}", Tape::call(f, &Array::from([1.0f32, 2.0, 3.0])).value());
        Ok(())
    }
}
