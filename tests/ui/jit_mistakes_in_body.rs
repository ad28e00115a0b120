// What an ordinary function would say, at the author's tokens: E0308, E0308, E0382.

use tracewell::prelude::*;

jit! {
    fn f(x: &Array) -> Array {
        x
    }

    fn g(x: &Array) -> Result<Array> {
        return x.clone();
    }

    fn h(x: Array) -> Array {
        drop(x);
        x
    }
}

fn main() {}
