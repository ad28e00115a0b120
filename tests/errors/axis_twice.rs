//! An axis named twice
//!
//! An axis disappears once; here -1 is axis 1 again.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([4, 3], F32);
        println!("{}", x.mean_axes(&[1, -1]));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::ones([4, 3], F32);
        println!("{}", x.mean_axes(&[0, 1]));
    }
}
