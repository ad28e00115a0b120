use tracewell::prelude::*;

jit! {
    unsafe fn f(x: &Array) -> Array {
        x.clone()
    }
}

fn caller(x: &Array) -> Array {
    unsafe { f(x) }
}

fn main() {}
