//! A changed value inside of a loop
//!
//! A staged loop runs as a whole.

pub mod wrong {
    use tracewell::prelude::*;
    use tracewell::tape::Turns;

    fn powers(x: &Array) -> Array {
        fori_loop(0..3, x.clone(), |_, y: &Array| y.sin() * x)
    }

    pub fn main() -> Result<()> {
        let tape = Tape::call_in(Turns(3), powers, &Array::from(0.5f32));
        let sin = tape.find("sin").expect("one in each turn").id();
        println!("{:?}", tape.update(&[(sin, &Array::from(1.0f32))])?.tape.value());
        Ok(())
    }
}

pub mod right {
    use tracewell::prelude::*;
    use tracewell::tape::Turns;

    fn powers(x: &Array) -> Array {
        fori_loop(0..3, x.clone(), |_, y: &Array| y.sin() * x)
    }

    pub fn main() -> Result<()> {
        let tape = Tape::call_in(Turns(3), powers, &Array::from(0.5f32));
        let x = tape.root().parameters().next().expect("the parameter").id();
        println!("{:?}", tape.update(&[(x, &Array::from(1.0f32))])?.tape.value());
        Ok(())
    }
}
