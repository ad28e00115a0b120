//! Random kernels that verify, with buffers to run them on: food for differential tests.
//!
//! Kernels are nests of all kinds of loops around random operations, over a grid of rows and columns. Each
//! verifies with its lengths and sizes, and ends after a modest number of steps. Results are determined up to
//! the bits of a NaN, because no operation looks at those: a float is never seen as the integer of its bits.

mod grow;
mod rng;

use tracewell_array::Tensor;

use self::grow::Grower;
use crate::build::KernelBuilder;
use crate::ir::Kernel;

/// A kernel and something to run it on.
#[derive(Clone, Debug)]
pub struct Case {
    /// The kernel.
    pub kernel: Kernel,
    /// The number of elements of each parameter.
    pub lens: Vec<usize>,
    /// The value of each size.
    pub sizes: Vec<i64>,
    /// What each parameter holds before the launch, also those that are written.
    pub inputs: Vec<Tensor>,
}

/// The kernel of that number: the same one for ever, on every machine.
pub fn kernel(seed: u64) -> Case {
    grown(seed, Grower::new(seed, false))
}

/// The kernel of that number, of loops around straight lines alone: what needs no scalar code.
pub fn loops(seed: u64) -> Case {
    grown(seed, Grower::new(seed, true))
}

fn grown(seed: u64, mut grower: Grower) -> Case {
    let mut b = KernelBuilder::new();
    grower.body(&mut b);
    let kernel = b.finish(format!("random_{seed}"));
    let Grower { lens, sizes, inputs, .. } = grower;
    Case { kernel, lens, sizes, inputs }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::Cells;
    use crate::eval::eval_kernel;
    use crate::verify::verify_launch;

    #[test]
    fn cases_verify_run_and_read_back() {
        for case in (0..500).map(kernel).chain((0..200).map(loops)) {
            if let Err(errors) = verify_launch(&case.kernel, &case.lens, &case.sizes) {
                panic!("{errors}");
            }
            let mut buffers: Vec<Cells> = case.inputs.iter().map(Cells::of).collect();
            if let Err(message) = eval_kernel(&case.kernel, &mut buffers, &case.sizes, 10_000_000) {
                panic!("{message}\n{}", case.kernel);
            }
            let text = case.kernel.to_string();
            assert_eq!(text.parse::<Kernel>().as_ref(), Ok(&case.kernel), "{text}");
        }
    }
}
