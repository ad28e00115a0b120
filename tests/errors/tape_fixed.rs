//! A changed value of what has none of its own
//!
//! A return gives what another node made.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() -> Result<()> {
        let tape = Tape::call(|x: &Array| x.exp().sum(), &Array::from([0.5f32, 1.5]));
        let returned = tape.root().children().next_back().expect("the return").id();
        println!("{:?}", tape.update(&[(returned, &Array::from(1.0f32))])?.tape.value());
        Ok(())
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() -> Result<()> {
        let tape = Tape::call(|x: &Array| x.exp().sum(), &Array::from([0.5f32, 1.5]));
        let sum = tape.find("reduce_sum").expect("the sum").id();
        println!("{:?}", tape.update(&[(sum, &Array::from(1.0f32))])?.tape.value());
        Ok(())
    }
}
