//! Arrays of different shapes sorted together
//!
//! What is sorted together follows the keys place by place.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let (keys, rows) = (Array::ones([4], F32), Array::ones([4, 2], F32));
        println!("{}", sort_together(&[keys, rows], 1, 0)[1]);
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let (keys, rows) = (Array::ones([4], F32), Array::ones([4, 2], F32));
        let keys = keys.expand(1).broadcast_to([4, 2]);
        println!("{}", sort_together(&[keys, rows], 1, 0)[1]);
    }
}
