//! Whether and how a loop becomes a vector loop.
//!
//! A plan never changes a result, only the time it takes: `each` and `reduce` mean the same at every width.

use tracewell_array::DType;
use tracewell_kernel::{BufferId, Index, Kernel, Op, Region, Size, Stmt, Value};

use crate::hoist::weight;
use crate::lanes::{LANES, is_wide};
use crate::target::Features;
use crate::vector::{is_native, operand_dtype};

/// How a loop is vectorised.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Which values differ between lanes.
    pub(crate) laned: Vec<bool>,
    /// Estimated cost of the body for four elements, in simple instructions.
    pub(crate) cost: u32,
}

/// How an access changes from one lane to the next.
enum Stride {
    /// Not at all.
    Same,
    /// To the next element.
    Next,
    /// By a fixed number of elements.
    Apart,
    /// In any way.
    Anywhere,
}

/// Plans a vector loop over `var` with a straight body, or says that scalars are as fast. `hoisted` statements
/// are done before the loop.
pub(crate) fn plan(
    kernel: &Kernel,
    features: Features,
    var: Value,
    body: &Region,
    hoisted: &[bool],
) -> Option<Plan> {
    let mut planner =
        Planner { kernel, features, laned: vec![false; kernel.values.len()], scalar: 0, vector: 0 };
    planner.laned[var.0 as usize] = true;
    let mut ramps = vec![var];
    for (stmt, _) in body.stmts.iter().zip(hoisted).filter(|(_, hoisted)| !**hoisted) {
        planner.stmt(stmt, &mut ramps)?;
    }
    let Planner { laned, scalar, vector, .. } = planner;
    (vector < scalar * LANES as u32).then_some(Plan { laned, cost: vector })
}

struct Planner<'k> {
    kernel: &'k Kernel,
    features: Features,
    laned: Vec<bool>,
    /// Cost of one element.
    scalar: u32,
    /// Cost of four elements.
    vector: u32,
}

impl Planner<'_> {
    fn is_laned(&self, value: Value) -> bool {
        self.laned[value.0 as usize]
    }

    /// Adds a statement; `None` if it cannot be in a vector loop.
    fn stmt(&mut self, stmt: &Stmt, ramps: &mut Vec<Value>) -> Option<()> {
        match stmt {
            Stmt::Op { out, op, args } => {
                let dtypes: Vec<DType> = args.iter().map(|&arg| self.kernel.dtype(arg)).collect();
                let dtype = operand_dtype(*op, &dtypes);
                let once = weight(*op, dtype.is_float());
                self.scalar += once;
                let laned = args.iter().any(|&arg| self.is_laned(arg));
                self.laned[out.0 as usize] = laned;
                let is_ramp = |value: &Value| ramps.contains(value);
                if !laned {
                    self.vector += once;
                } else if matches!(op, Op::Add | Op::Sub) && is_ramp(&args[0]) && !self.is_laned(args[1]) {
                    ramps.push(*out);
                    self.vector += once;
                } else {
                    let uniform_last = args.last().is_some_and(|&arg| !self.is_laned(arg));
                    let vectors = if is_wide(dtype) || is_wide(self.kernel.dtype(*out)) { 2 } else { 1 };
                    self.vector += if is_native(*op, dtype, uniform_last, self.features) {
                        once * vectors
                    } else {
                        // Each lane is taken out, computed and put back.
                        LANES as u32 * (once + 1 + args.len() as u32)
                    };
                }
            }
            Stmt::Load { out, buffer, index } => {
                let stride = self.stride(index, ramps);
                self.laned[out.0 as usize] = !matches!(stride, Stride::Same);
                self.access(*buffer, &stride);
            }
            Stmt::Store { buffer, index, .. } => {
                let stride = self.stride(index, ramps);
                let local = buffer.0 as usize >= self.kernel.params.len();
                // A stack buffer may be scratch that each iteration has to itself.
                if local && !matches!(stride, Stride::Next | Stride::Apart) {
                    return None;
                }
                self.access(*buffer, &stride);
            }
            _ => return None,
        }
        Some(())
    }

    fn access(&mut self, buffer: BufferId, stride: &Stride) {
        let dtype = self.kernel.buffer_dtype(buffer);
        let vectors = if is_wide(dtype) { 2 } else { 1 };
        self.scalar += 1;
        self.vector += match stride {
            Stride::Same => 1,
            Stride::Next if dtype.size() == 1 => 4,
            Stride::Next => vectors,
            Stride::Apart => 6,
            Stride::Anywhere => 10,
        };
    }

    fn stride(&self, index: &Index, ramps: &[Value]) -> Stride {
        let mut step = Some(0);
        for &(value, scale) in &index.terms {
            match scale {
                _ if !self.is_laned(value) => {}
                Size::Const(n) if ramps.contains(&value) => step = step.map(|step| step + n),
                _ => step = None,
            }
        }
        match step {
            Some(0) => Stride::Same,
            Some(1) => Stride::Next,
            Some(_) => Stride::Apart,
            None => Stride::Anywhere,
        }
    }
}
