//! A place that is not there
//!
//! `checked` looks at the places whenever the compiled function runs.
//! Without it reads give NaN and updates are left out; `clip` takes the nearest place.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let pick = jit(|(x, i): &(Array, Array)| x.at(i).checked().get());
        let x = Array::from([1.0f32, 2.0, 3.0]);
        println!("{}", pick.call(&(x, Array::from([0, 3]))));
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let pick = jit(|(x, i): &(Array, Array)| x.at(i).checked().get());
        let x = Array::from([1.0f32, 2.0, 3.0]);
        println!("{}", pick.call(&(x, Array::from([0, -1]))));
    }
}
