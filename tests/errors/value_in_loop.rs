//! A Rust `if` in the body of a loop
//!
//! The body is traced once for all turns, also outside `jit!`.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let xs = Array::from([1.0f32, -2.0, 3.0]);
        let (sum, _) = scan(Array::from(0.0f32), &xs, |sum, x| {
            if x.item::<f32>() > 0.0 { (sum + x, ()) } else { (sum.clone(), ()) }
        });
        println!("{sum}");
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let xs = Array::from([1.0f32, -2.0, 3.0]);
        let (sum, _) =
            scan(Array::from(0.0f32), &xs, |sum, x| (cond(&x.gt(0.0), || sum + x, || sum.clone()), ()));
        println!("{sum}");
    }
}
