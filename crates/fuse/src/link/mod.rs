//! Control flow as one kernel: the programs of the nested graphs become statements between its loops.
//!
//! In the order of the data: `bands` cuts scans into what threads share, `control` writes the loops, `body` puts a program between them, `inline` copies a
//! kernel with its sizes known and small loops written out, `promote` turns small buffers into values that loops
//! hand on, `spill` gives memory of their own to what is left and does not fit on the stack.
//!
//! Invariant: a linked kernel computes what its graphs do, each kernel inside with the bits that it would have
//! outside. Nothing is allocated while it runs.

mod bands;
mod body;
mod control;
mod inline;
mod place;
mod promote;
mod spill;

use tracewell_array::{DType, Literal, Tensor};
use tracewell_graph::{ArrayType, Control};
use tracewell_kernel::Kernel;

use crate::Options;
use crate::error::FuseError;

pub use bands::Bands;
pub(crate) use inline::inline;
pub(crate) use place::{Place, call_on};

/// Arrays of at most so many elements become values, which live in registers.
pub(crate) const SMALL: usize = 32;

/// Control flow as a kernel. Its parameters: the operands in memory, `constants`, the results, `scratch`.
pub(crate) struct Linked {
    pub(crate) kernel: Kernel,
    /// What the nested graphs know and is too large for the kernel's own text.
    pub(crate) constants: Vec<Tensor>,
    /// Memory that the kernel needs while it runs.
    pub(crate) scratch: Vec<(DType, usize)>,
    /// Nanoseconds for one iteration of its outermost loop.
    pub(crate) cost: u32,
}

/// An operand of control flow.
pub(crate) enum Given {
    /// An array in memory, from an element of a buffer on.
    Array(ArrayType, i64),
    /// A small array filled with one literal: no parameter.
    Literal(Literal, usize),
}

/// Makes a kernel of control flow. Of each result it is said whether somebody reads it.
pub(crate) fn link(
    control: &Control,
    inputs: &[Given],
    outputs: &[ArrayType],
    is_read: &[bool],
    options: &Options,
) -> Result<Linked, FuseError> {
    let banded = match (control, &options.bands) {
        (Control::Scan(scan), Some(bands)) if options.fusion => bands::banded(scan, is_read, bands),
        _ => None,
    };
    let band = banded.as_ref().map(|banded| Control::Scan(banded.scan.clone()));
    let programs = control::programs(band.as_ref().unwrap_or(control), options.fusion)?;
    let (kernel, constants, cost) = control::write(control, banded.as_ref(), &programs, inputs, outputs);
    let kernel = promote::promote(kernel);
    let params = kernel.params.len();
    let (kernel, scratch) = spill::spill(kernel, params);
    Ok(Linked { kernel: inline::numbered(&kernel), constants, scratch, cost })
}
