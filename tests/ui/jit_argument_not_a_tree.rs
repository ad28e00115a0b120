// One error under each of `Options`, `Vec<Options>` and `[Options]`.

use tracewell::prelude::*;

struct Options;

jit! {
    fn f(options: &Options, all: Vec<Options>, some: &[Options], x: &Array) -> Array {
        let _ = (options, all, some);
        x.clone()
    }
}

fn caller(x: &Array) -> Array {
    f(&Options, vec![], &[], x)
}

fn main() {}
