use tracewell::prelude::*;

#[derive(Clone, Tree)]
struct Model {
    w: Array,
}

impl Model {
    #[jitted]
    fn f(&mut self) -> Array {
        self.w.clone()
    }
}

fn caller(mut model: Model) -> Array {
    model.f()
}

fn main() {}
