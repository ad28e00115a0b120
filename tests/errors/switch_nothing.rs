//! A `switch` without branches
//!
//! There is no result to return.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let branches: Vec<Box<dyn Fn() -> Array>> = Vec::new();
        let branches: Vec<&dyn Fn() -> Array> = branches.iter().map(|b| b.as_ref()).collect();
        println!("{}", switch(&Array::from(0), &branches));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([1.0f32, 2.0]);
        let mut branches: Vec<Box<dyn Fn() -> Array>> = Vec::new();
        for power in 1..4 {
            let x = x.clone();
            branches.push(Box::new(move || x.powi(power)));
        }
        let branches: Vec<&dyn Fn() -> Array> = branches.iter().map(|b| b.as_ref()).collect();
        println!("{}", switch(&Array::from(1), &branches));
    }
}
