//! Branches of different structure
//!
//! All branches return the same arrays, also where one has nothing to say.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([3.0f32, 4.0]);
        let norm = x.square().sum().sqrt();
        let (unit, _) = cond(&norm.gt(0.0), || (&x / &norm, Some(norm.log())), || (x.clone(), None));
        println!("{unit}");
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let x = Array::from([3.0f32, 4.0]);
        let norm = x.square().sum().sqrt();
        let (unit, _) = cond(&norm.gt(0.0), || (&x / &norm, norm.log()), || (x.clone(), 0.0 * &norm));
        println!("{unit}");
    }
}
