//! A function of single elements in `associative_scan`
//!
//! The function is given many elements at once: whole slices, which it combines element by element.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let turns = Array::ones([6, 2, 2], F32);
        println!("{}", associative_scan(&turns, |a, b| a.dot(b)));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let turns = Array::ones([6, 2, 2], F32);
        let product = vmap(|(a, b): &(Array, Array)| a.dot(b));
        println!("{}", associative_scan(&turns, |a, b| product(&(a.clone(), b.clone()))));
    }
}
