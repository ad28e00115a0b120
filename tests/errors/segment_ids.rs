//! Segments numbered by too many
//!
//! Each row of the data has the number of its segment.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let data = Array::ones([4, 2], F32);
        println!("{}", segment_sum(&data, &Array::from([0, 1, 0]), 2));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let data = Array::ones([4, 2], F32);
        println!("{}", segment_sum(&data, &Array::from([0, 1, 0, 1]), 2));
    }
}
