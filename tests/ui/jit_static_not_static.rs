// One error under each `Options`.

use tracewell::prelude::*;

#[derive(Clone, Debug)]
struct Options;

jit! {
    fn f(x: &Array, #[static_arg] a: Options, #[static_arg] b: &Options) -> Array {
        let _ = (a, b);
        x.clone()
    }
}

fn caller(x: &Array) -> Array {
    f(x, Options, &Options)
}

fn main() {}
