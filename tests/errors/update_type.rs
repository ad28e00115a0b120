//! An update of another element type
//!
//! An array keeps its element type when a part of it changes.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let counts = Array::zeros([3], I32);
        println!("{}", counts.at(s![0]).add(0.5));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let counts = Array::zeros([3], I32);
        println!("{}", counts.convert(F32).at(s![0]).add(0.5));
    }
}
