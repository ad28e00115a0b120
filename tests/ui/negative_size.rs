use tracewell::prelude::*;

fn main() {
    let x = Array::ones([2, 3], F32);
    println!("{}", x.reshape([-1, 2]));
}
