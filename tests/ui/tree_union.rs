use tracewell::prelude::*;

#[derive(Clone, Copy, Tree)]
union Word {
    a: (),
    b: (),
}

fn leaves(word: &Word) {
    word.visit(&mut |_| {});
}

fn main() {}
