//! The graph language: typed graphs of primitives, with every rule of every primitive.
//!
//! *The rule lives with the primitive; the walk lives with the interpreter.* A primitive's room (`prim/`) holds
//! its typing, evaluation, derivative, transpose, batching and lowering; walks over whole graphs live in
//! `transform`, `optimize` and `fuse` and name no primitive. Nothing here runs user code or touches the disk.

mod apart;
mod builder;
mod effects;
mod error;
mod eval;
mod graph;
mod host;
mod params;
mod part;
mod primitive;
mod rows;
mod ty;
mod verify;

pub mod prim;
pub mod text;

pub use apart::{has_complex, take_apart};
pub use builder::GraphBuilder;
pub use error::{RuleError, TypeError};
pub use eval::eval;
pub use graph::{Atom, Equation, Graph, Location, Splat, Var};
pub use host::{HostFunction, InElement};
pub use params::{FromParams, Labels, Param, ParamValue, Params};
pub use prim::Prim;
pub use primitive::{
    AxisView, Batched, Control, Cx, Example, Jvp, KernelFn, Linearized, Lookup, LookupStart, Lowering, MapFn,
    Operand, Piece, Primitive, Rematerialized, View, Walks,
};
pub use rows::{OfRows, SomeRows, some_rows};
pub use ty::ArrayType;
pub use verify::{VerifyError, VerifyErrors, verify};
