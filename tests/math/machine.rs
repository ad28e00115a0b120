//! One function as machine code that runs along arrays.

use std::sync::Arc;

use tracewell_array::{DType, Shape, Tensor};
use tracewell_kernel::math::Function;
use tracewell_kernel::{Kernel, Program, Role, Slot, SlotId, Step, eval_program};
use tracewell_runtime::{Executable, Input};

/// A function of arrays of one length.
#[derive(Debug)]
pub struct Machine {
    executable: Executable,
}

impl Machine {
    /// Compiles a function for arrays of one element type and length.
    pub fn new(function: &Function, dtype: DType, len: usize) -> Result<Machine, String> {
        let program = program(function, dtype, len);
        let executable =
            Executable::new(program, vec![(dtype, Shape::from([len]))]).map_err(|error| error.to_string())?;
        Ok(Machine { executable })
    }

    /// The loop that was compiled.
    pub fn kernel(&self) -> &Kernel {
        &self.executable.program().kernels[0]
    }

    /// Runs the machine code.
    pub fn run(&self, arguments: &[Tensor]) -> Result<Tensor, String> {
        let mut inputs: Vec<Input<'_>> = arguments.iter().map(Input::Lent).collect();
        let mut results = self.executable.run(&mut inputs).map_err(|error| error.to_string())?;
        results.pop().ok_or_else(|| "there is no result".to_owned())
    }

    /// Runs the same in the evaluator of the kernel language.
    pub fn evaluate(&self, arguments: &[Tensor]) -> Result<Tensor, String> {
        let mut results = eval_program(self.executable.program(), arguments)?;
        results.pop().ok_or_else(|| "there is no result".to_owned())
    }
}

/// One launch on the calling thread.
fn program(function: &Function, dtype: DType, len: usize) -> Program {
    let arity = function.arity();
    let slot = |role| Slot { dtype, len, role };
    let mut slots: Vec<Slot> = (0..arity).map(|number| slot(Role::Input(number))).collect();
    slots.push(slot(Role::Output { reuse: None }));
    let ids: Vec<SlotId> = (0..=arity as u32).map(SlotId).collect();
    let launch = Step::Launch { kernel: 0, slots: ids.clone(), sizes: vec![len as i64], cost: 0 };
    Program {
        name: function.name.to_owned(),
        slots,
        kernels: vec![Arc::new(function.kernel(dtype))],
        steps: vec![launch],
        results: vec![ids[arity]],
        arena: 0,
    }
}
