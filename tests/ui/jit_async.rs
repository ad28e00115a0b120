use tracewell::prelude::*;

jit! {
    async fn f(x: &Array) -> Array {
        x.clone()
    }
}

async fn caller(x: &Array) -> Array {
    f(x).await
}

fn main() {}
