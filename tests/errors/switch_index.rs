//! A `switch` by a float
//!
//! Branches are numbered.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let (x, mode) = (Array::from([1.0f32, 2.0]), Array::from(1.0f32));
        println!("{}", switch(&mode, &[&|| x.clone(), &|| x.sqrt()]));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let (x, mode) = (Array::from([1.0f32, 2.0]), Array::from(1.0f32));
        println!("{}", switch(&mode.convert(I32), &[&|| x.clone(), &|| x.sqrt()]));
    }
}
