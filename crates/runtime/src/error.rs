//! What can go wrong while a program is built and while it runs.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use tracewell_array::{DType, Shape};
use tracewell_codegen::CodegenError;
use tracewell_kernel::{CallError, VerifyErrors};

/// A program could not be made executable.
#[derive(Debug)]
pub enum BuildError {
    /// The program breaks a rule of the kernel language.
    Invalid(VerifyErrors),
    /// The shapes asked for do not belong to the results.
    Shapes {
        /// Which result, or the number of results where that differs.
        result: usize,
        /// The shape asked for; `None` where their number differs.
        shape: Option<Shape>,
    },
    /// A kernel could not be compiled.
    Codegen(CodegenError),
    /// The system gave no memory for code.
    Memory(io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Invalid(errors) => write!(f, "the program does not verify:\n{errors}"),
            BuildError::Shapes { result, shape: Some(shape) } => {
                write!(f, "shape {shape} does not fit result {result}")
            }
            BuildError::Shapes { result, shape: None } => write!(f, "expected shapes for {result} results"),
            BuildError::Codegen(error) => error.fmt(f),
            BuildError::Memory(error) => write!(f, "no memory for code: {error}"),
        }
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            BuildError::Codegen(error) => Some(error),
            BuildError::Memory(error) => Some(error),
            BuildError::Invalid(_) | BuildError::Shapes { .. } => None,
        }
    }
}

impl From<CodegenError> for BuildError {
    fn from(error: CodegenError) -> BuildError {
        BuildError::Codegen(error)
    }
}

/// A run could not finish. Inputs that were given away may be lost.
pub enum RunError {
    /// Fewer inputs than the program uses.
    Count {
        /// How many the program uses.
        expected: usize,
        /// How many were handed in.
        found: usize,
    },
    /// An input of another type or length than the program was built for.
    Input {
        /// Which input.
        input: usize,
        /// The type and number of elements that the program was built for.
        expected: (DType, usize),
        /// Those that were handed in; `None` if an earlier run had taken the tensor.
        found: Option<(DType, usize)>,
    },
    /// A library function reported an error.
    Library {
        /// The name of the function.
        name: String,
        /// What it said.
        error: CallError,
    },
    /// A library function panicked. The payload is for the caller to resume.
    Panicked {
        /// The name of the function.
        name: String,
        /// What it panicked with.
        payload: Box<dyn Any + Send>,
    },
    /// The run was cancelled.
    Cancelled,
    /// The run took longer than this.
    TimeLimit(Duration),
}

/// What a step of a run says. An error is elsewhere, so that none takes no time: it is larger than a small kernel is long.
pub(crate) type StepResult = Result<(), Box<RunError>>;

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Count { expected, found } => write!(f, "expected {expected} inputs, found {found}"),
            RunError::Input { input, expected: (dtype, len), found } => {
                write!(f, "input {input}: expected {len} elements of {dtype}, found ")?;
                match found {
                    Some((dtype, len)) => write!(f, "{len} of {dtype}"),
                    None => write!(f, "a tensor that was given away before"),
                }
            }
            RunError::Library { name, error } => write!(f, "`{name}` failed: {error}"),
            RunError::Panicked { name, .. } => write!(f, "`{name}` panicked"),
            RunError::Cancelled => write!(f, "the call was cancelled"),
            RunError::TimeLimit(limit) => write!(f, "the time limit of {limit:?} was exceeded"),
        }
    }
}

impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for RunError {}
