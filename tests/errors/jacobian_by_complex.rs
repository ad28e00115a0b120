//! The Jacobian by complex numbers
//!
//! A function of a complex number changes with its real and its imaginary part, in two ways unless it is holomorphic.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let z = Array::from([Complex::new(3.0f32, 4.0)]);
        println!("{}", jacfwd(|z: &Array| z.conj() * z)(&z));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let z = Array::from([Complex::new(3.0f32, 4.0)]);
        let f = |re: &Array| complex(re, z.im()).conj() * complex(re, z.im());
        println!("{}", jacfwd(f)(&z.re()));
    }
}
