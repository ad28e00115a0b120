//! A callback that gives something else than promised
//!
//! What is traced after a callback depends on the types of its results, so that they are said before it runs.

pub mod wrong {
    use tracewell::prelude::*;

    fn longest(x: &Array) -> Array {
        let all = x.to_vec::<f32>().expect("f32, as where it is called");
        Array::from(all.into_iter().fold(0.0f32, f32::max))
    }

    jit! {
        fn normalised(x: &Array) -> Array {
            x / callback(x, longest, x)
        }
    }

    pub fn main() {
        println!("{}", normalised(&Array::from([1.0f32, 4.0])));
    }
}

pub mod right {
    use tracewell::prelude::*;

    fn longest(x: &Array) -> Array {
        let all = x.to_vec::<f32>().expect("f32, as where it is called");
        Array::from(all.into_iter().fold(0.0f32, f32::max))
    }

    jit! {
        fn normalised(x: &Array) -> Array {
            x / callback(&Array::zeros([], F32), longest, x)
        }
    }

    pub fn main() {
        println!("{}", normalised(&Array::from([1.0f32, 4.0])));
    }
}
