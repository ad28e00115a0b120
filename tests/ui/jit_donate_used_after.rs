use tracewell::prelude::*;

jit! {
    #[jit(donate(w))]
    fn step(w: Array, gradient: &Array) -> Array {
        w - 0.1 * gradient
    }
}

fn main() {
    let w = Array::ones([3], F32);
    let gradient = Array::ones([3], F32);
    let moved = step(w, &gradient);
    println!("{}", moved - w);
}
