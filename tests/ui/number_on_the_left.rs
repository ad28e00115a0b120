use tracewell::prelude::*;

fn main() {
    let x = Array::ones([3], F32);
    println!("{}", 2.0f32 * &x);
}
