use tracewell::prelude::*;

jit! {
    #[jit(donate(n))]
    fn f(x: &Array, #[static_arg] n: usize) -> Array {
        x.clone()
    }
}

fn caller(x: &Array) -> Array {
    f(x, 1)
}

fn main() {}
