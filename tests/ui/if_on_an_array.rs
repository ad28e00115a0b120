use tracewell::prelude::*;

fn main() {
    let x = Array::from([3.0f32, 4.0]);
    if x.gt(0.0) {
        println!("positive");
    }
}
