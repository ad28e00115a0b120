use tracewell::prelude::*;

jit! {
    #[jit(donate)]
    fn f(x: Array) -> Array {
        x
    }
}

fn caller(x: &Array) -> Array {
    f(x.clone())
}

fn main() {}
