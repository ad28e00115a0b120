//! A changed value that the program looked at
//!
//! A tape has only the way that was taken.

pub mod wrong {
    use tracewell::prelude::*;

    fn steps(x: &Array) -> Array {
        if x.sum().item::<f32>() > 1.0 { x / 2.0 } else { x * 3.0 }
    }

    pub fn main() -> Result<()> {
        let tape = Tape::call(steps, &Array::from([0.5f32, 1.5]));
        let x = tape.root().parameters().next().expect("the parameter").id();
        let updated = tape.update(&[(x, &Array::from([0.25f32, 0.5]))])?;
        println!("{:?}", updated.tape.value());
        Ok(())
    }
}

pub mod right {
    use tracewell::prelude::*;

    fn steps(x: &Array) -> Array {
        if x.sum().item::<f32>() > 1.0 { x / 2.0 } else { x * 3.0 }
    }

    pub fn main() {
        for x in [[0.5f32, 1.5], [0.25, 0.5]] {
            println!("{:?}", Tape::call(steps, &Array::from(x)).value());
        }
    }
}
