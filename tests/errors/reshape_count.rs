//! A reshape to another number of elements
//!
//! Reshaping keeps every element; it neither repeats nor drops any.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
        println!("{}", x.reshape([2, 4]));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
        println!("{}", x.reshape([2, 3]));
    }
}
