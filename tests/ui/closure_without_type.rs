use tracewell::prelude::*;

fn main() {
    println!("{}", grad(|x| x.square().sum())(&Array::ones([3], F32)));
}
