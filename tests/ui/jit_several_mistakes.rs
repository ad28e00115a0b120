use tracewell::prelude::*;

jit! {
    #[jit(donate(z))]
    async fn f(x: &mut Array, rate: f32) {
        x.clone();
    }
}

fn main() {}
