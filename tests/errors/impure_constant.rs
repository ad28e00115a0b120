//! A jitted function that makes a random array
//!
//! The numbers are drawn once, when the function is traced, and are the same for every call after.

pub mod wrong {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tracewell::prelude::*;

    static STATE: AtomicU32 = AtomicU32::new(1);

    fn random() -> f32 {
        let state = STATE.load(Ordering::Relaxed).wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        STATE.store(state, Ordering::Relaxed);
        (state >> 20) as f32 / 4096.0
    }

    jit! {
        fn noisy(x: &Array) -> Result<Array> {
            let noise = Array::from([random(), random()]);
            Ok(x + noise)
        }
    }

    pub fn main() -> Result<()> {
        println!("{}", checking_purity(|| noisy(&Array::ones([2], F32)))?);
        Ok(())
    }
}

pub mod right {
    use tracewell::prelude::*;

    jit! {
        fn noisy(x: &Array, noise: &Array) -> Result<Array> {
            Ok(x + noise)
        }
    }

    pub fn main() -> Result<()> {
        let noise = Array::from([0.25f32, 0.75]);
        println!("{}", checking_purity(|| noisy(&Array::ones([2], F32), &noise))?);
        Ok(())
    }
}
