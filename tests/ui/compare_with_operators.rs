use tracewell::prelude::*;

fn main() {
    let x = Array::from([1.0f32, 2.0]);
    let y = Array::from([1.0f32, 3.0]);
    println!("{} {}", x == y, x < y);
}
