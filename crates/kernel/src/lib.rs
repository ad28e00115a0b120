//! The loop language: what fusion writes and code generation reads.
//!
//! A [`Program`] launches [`Kernel`]s over slots of memory; a kernel is a tree of regions over scalars and
//! buffers. Text form, verifier and evaluator stand beside the language. Nothing here knows an array
//! primitive, and nothing here knows Cranelift.

mod add_at;
mod both_sides;
mod build;
mod calls;
mod cells;
mod conv;
mod eval;
mod fft;
pub mod generate;
mod ir;
mod library;
pub mod linalg;
pub mod math;
mod op;
mod order;
mod program;
mod reread;
pub mod scalar;
mod sort;
pub mod steps;
pub mod text;
mod verify;

pub use both_sides::BothSides;
pub use build::KernelBuilder;
pub use cells::Cells;
pub use conv::{Conv, ConvResult, WindowAxis};
pub use eval::{eval_kernel, eval_program, eval_program_within};
pub use fft::{Fft, FftKind, half_length};
pub use ir::{
    Accumulator, BufferId, Carry, Index, Kernel, Local, Param, Region, Size, SizeId, Stmt, Value, Window,
    lanes_of,
};
pub use library::{
    AddAt, BufferFn, BufferMut, BufferRef, CallError, Custom, Gemm, Library, LibraryCall, Matrices, SortRows,
    WithVector, in_memory,
};
pub use linalg::{Linalg, Triangular};
pub use op::{Combine, Comparison, Op, reduce_lanes};
pub use order::{ReduceOrder, is_columns};
pub use program::{Program, Role, Slot, SlotId, Step};
pub use text::{ReadError, read_kernel, read_program};
pub use verify::{ALIGN, MAX_STACK, VerifyError, VerifyErrors, verify_kernel, verify_launch, verify_program};
