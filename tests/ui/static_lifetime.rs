use tracewell::prelude::*;

#[derive(Clone, Debug, Static)]
struct Name<'a> {
    text: &'a str,
}

jit! {
    fn f(x: &Array, #[static_arg] name: Name<'static>) -> Array {
        let _ = name;
        x.clone()
    }
}

fn main() {}
