//! What can go wrong between a kernel and its machine code.
//!
//! Every variant is a defect of ours or of Cranelift, or a kernel beyond a stated limit; none of them is ever
//! answered with slower code in silence.

use std::error::Error;
use std::fmt;

/// A kernel could not be compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CodegenError {
    /// The machine or the features asked for are unknown to Cranelift.
    Target(String),
    /// The kernel would become a function beyond the limit of what compiles in reasonable time.
    TooLarge {
        /// Name of the kernel.
        kernel: String,
        /// The limit, in instructions.
        limit: usize,
    },
    /// Cranelift refused the function.
    Cranelift {
        /// Name of the kernel.
        kernel: String,
        /// What it said.
        message: String,
    },
    /// Cranelift, or the lowering, panicked.
    Panicked {
        /// Name of the kernel.
        kernel: String,
        /// The text of the panic.
        message: String,
    },
}

impl fmt::Display for CodegenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodegenError::Target(message) => write!(f, "no such target: {message}"),
            CodegenError::TooLarge { kernel, limit } => {
                write!(f, "kernel `{kernel}` needs more than {limit} instructions")
            }
            CodegenError::Cranelift { kernel, message } => {
                write!(f, "code generation refused kernel `{kernel}`: {message}")
            }
            CodegenError::Panicked { kernel, message } => {
                write!(f, "code generation panicked on kernel `{kernel}`: {message}")
            }
        }
    }
}

impl Error for CodegenError {}
