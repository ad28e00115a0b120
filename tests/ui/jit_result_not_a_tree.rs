// One error under each result.

use tracewell::prelude::*;

struct Options;

jit! {
    fn f(x: &Array) -> Options {
        let _ = x;
        Options
    }

    fn g(x: &Array) -> Result<Options> {
        let _ = x;
        Ok(Options)
    }
}

fn caller(x: &Array) -> Options {
    f(x)
}

fn main() {}
