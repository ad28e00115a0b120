// One error per unknown name.

use tracewell::prelude::*;

jit! {
    fn f(x: &Aray, y: Vec<Layr>, #[static_arg] z: Setings) -> Aray {
        let _ = (y, z);
        x.clone()
    }
}

fn main() {}
