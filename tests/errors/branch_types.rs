//! Branches of different types
//!
//! Which branch is taken is only known when the program runs, but the type of the result is needed before.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([0.5f32, 1.5]);
        let y = cond(&x.sum().gt(1.0), || x.sin(), || x.convert(F64).cos());
        println!("{y}");
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([0.5f32, 1.5]);
        let y = cond(&x.sum().gt(1.0), || x.sin(), || x.convert(F64).cos().convert(F32));
        println!("{y}");
    }
}
