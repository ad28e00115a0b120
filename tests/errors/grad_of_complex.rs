//! The gradient of a complex number
//!
//! A gradient is of one real number. A complex result has a derivative along each direction.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let z = Array::from([Complex::new(3.0f32, 4.0)]);
        println!("{}", grad(|z: &Array| z.exp().sum())(&z));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let z = Array::from([Complex::new(3.0f32, 4.0)]);
        println!("{}", grad(|z: &Array| z.exp().sum().re())(&z));
        println!("{}", jvp(|z: &Array| z.exp().sum(), &z, &z).1);
    }
}
