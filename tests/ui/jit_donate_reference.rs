use tracewell::prelude::*;

jit! {
    #[jit(donate(x))]
    fn f(x: &Array) -> Array {
        x.clone()
    }
}

fn caller(x: &Array) -> Array {
    f(x)
}

fn main() {}
