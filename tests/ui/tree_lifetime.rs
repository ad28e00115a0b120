use tracewell::prelude::*;

#[derive(Tree)]
struct View<'a> {
    x: &'a Array,
}

jit! {
    fn f(x: View<'static>) -> Array {
        x.x.clone()
    }
}

fn main() {}
