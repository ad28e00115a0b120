//! Tracewell compiles Rust functions over arrays.
//!
//! A [`jit!`] function runs once on *tracers*; every operation it uses is recorded in a typed graph; the graph
//! is transformed (derivatives, batching), simplified, fused into loops, compiled to machine code and cached by
//! the types of its arguments.
//!
//! ```
//! use tracewell::prelude::*;
//!
//! jit! {
//!     /// Half the squared distance.
//!     fn energy(x: &Array, y: &Array) -> Array {
//!         0.5 * (x - y).square().sum()
//!     }
//! }
//!
//! let x = Array::from(vec![1.0f32, 2.0, 3.0]);
//! let y = Array::from(vec![1.0f32, 0.0, 0.0]);
//! assert_eq!(energy(&x, &y).item::<f32>(), 6.5);
//!
//! let force = grad(|x: &Array| energy(x, &y))(&x);
//! assert_eq!(force.to_string(), "[0. 2. 3.]");
//! ```

mod array;
mod building;
mod cache;
mod checks;
mod config;
mod control;
mod dump;
mod effects;
mod executable;
mod executor;
mod jit;
mod json;
mod key;
pub mod linalg;
pub mod op_trace;
mod outcome;
mod page;
pub mod pipeline;
pub mod primitive;
mod products;
pub mod random;
pub mod repro;
mod sabotage;
mod staging;
mod static_arg;
mod stepping;
pub mod tape;
mod traced;
mod transform;
pub mod tree;
mod view;
mod windows;

pub use array::{
    Array, At, Cut, Cuts, Fourier, Norm, Operand, Scalar, Starts, complex, concatenate, fftfreq, one_hot,
    rfftfreq, segment_sum, select, sort_together, stack,
};
pub use checks::{CacheMiss, checking_keys, checking_leaks, checking_purity, explain_cache_misses};
pub use control::{
    LoopRange, ScanOptions, associative_scan, associative_scan_reverse, cond, fori_loop, map, map_reduce,
    scan, scan_with, switch, while_loop,
};
pub use effects::{Cancel, callback, capturing_prints, ordered_callback, with_cancel, with_time_limit};
pub use jit::{CacheStats, Jit, Lowered, cache_stats, clear_caches, jit, lower};
pub use key::Key;
pub use op_trace::{
    OpTrace, TraceOptions, collect_trace, purge_trace, toggle_trace, toggle_trace_with, tracing_ops,
};
pub use outcome::{Beside, Outcome};
pub use products::{einsum, matmul, tensordot};
pub use static_arg::Static;
pub use tape::Tape;
pub use tracewell_array::{Complex, Complex32, Complex64, DType, Element, Shape};
pub use tracewell_graph::prim::Policy;
pub use tracewell_graph::{ArrayType, Graph};
pub use tracewell_macros::{Static, Tree, jit, jitted, traced};
pub use tracewell_trace::{Error, ErrorKind};
pub use transform::{
    Axes, Pullback, Pushforward, Residual, Source, checkpoint, checkpoint_name, checkpoint_with, contract,
    custom_jvp, custom_vjp, eval_shape, grad, grad_aux, hessian, hvp, jacfwd, jacrev, jvp, linearize,
    print_saved_residuals, saved_residuals, trace, value_and_grad, value_and_grad_aux, vjp, vmap, vmap_axes,
};
pub use tree::{Path, Tree, TreeRef};
pub use view::{Profile, read_graph};
pub use windows::{
    Conv, Layout, Padding, PerAxis, Window, avg_pool, conv, conv_transpose, global_avg_pool, global_max_pool,
    max_pool, min_pool, reduce_window,
};

/// Watching what happens: events of every call, user function and primitive.
pub mod observe {
    pub use tracewell_trace::{
        Api, Called, Event, EventLog, Executed, Form, Observer, Tracer, Value, is_observed, observing,
    };
}

/// What most programs need: `use tracewell::prelude::*`.
pub mod prelude {
    pub use crate::array::{
        Array, At, Cut, Cuts, Fourier, Norm, Operand, Scalar, Starts, complex, concatenate, fftfreq, one_hot,
        rfftfreq, segment_sum, select, sort_together, stack,
    };
    pub use crate::dtypes::*;
    pub use crate::linalg;
    pub use crate::random;
    pub use crate::repro;
    pub use crate::tree;
    pub use crate::{
        CacheMiss, Cancel, Complex, Complex32, Complex64, Conv, DType, Error, Jit, Layout, Lowered, OpTrace,
        Outcome, Padding, Policy, Result, ScanOptions, Shape, Static, Tape, TraceOptions, Tree, Window,
        associative_scan, associative_scan_reverse, avg_pool, callback, capturing_prints, check,
        checking_keys, checking_leaks, checking_purity, checkpoint, checkpoint_name, checkpoint_with,
        collect_trace, cond, contract, conv, conv_transpose, custom_jvp, custom_vjp, debug_print, einsum,
        eval_shape, explain_cache_misses, fori_loop, global_avg_pool, global_max_pool, grad, grad_aux,
        hessian, hvp, jacfwd, jacrev, jit, jitted, jvp, linearize, lower, map, map_reduce, matmul, max_pool,
        min_pool, ordered_callback, print_saved_residuals, purge_trace, reduce_window, s, saved_residuals,
        scan, scan_with, stop_gradient, switch, tensordot, toggle_trace, toggle_trace_with, trace, traced,
        tracing_ops, value_and_grad, value_and_grad_aux, vjp, vmap, vmap_axes, while_loop, with_cancel,
        with_time_limit,
    };
}

/// A result whose error is Tracewell's, unless another is named.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The element types by their short names.
pub mod dtypes {
    use tracewell_array::DType;

    /// `bool`
    pub const BOOL: DType = DType::Bool;
    /// `u8`
    pub const U8: DType = DType::U8;
    /// `u32`
    pub const U32: DType = DType::U32;
    /// `i32`
    pub const I32: DType = DType::I32;
    /// `i64`
    pub const I64: DType = DType::I64;
    /// `f32`
    pub const F32: DType = DType::F32;
    /// `f64`
    pub const F64: DType = DType::F64;
    /// Complex numbers of two `f32`.
    pub const C64: DType = DType::C64;
    /// Complex numbers of two `f64`.
    pub const C128: DType = DType::C128;
}

pub use dtypes::*;

/// The same arrays, held constant by derivatives.
///
/// ```
/// use tracewell::prelude::*;
///
/// let f = |x: &Array| {
///     let (a, b) = stop_gradient(&(x.clone(), x.sin()));
///     (x * a * b).sum()
/// };
/// assert_eq!(grad(f)(&Array::from([0.0f32])).to_string(), "[0.]");
/// ```
#[track_caller]
pub fn stop_gradient<T: TreeRef + ?Sized>(x: &T) -> T::Owned {
    let location = tracewell_graph::Location::caller();
    tree::map(x, |leaf| leaf.stop_gradient_at(&location))
}

/// For code made by macros only.
#[doc(hidden)]
pub mod __private {
    pub use crate::Array;
    pub use crate::array::Scalar;
    pub use crate::effects::{check, debug_print, shown};
    pub use crate::jit::{Call, Inside, Site};
    pub use crate::key::Key;
    pub use crate::outcome::Outcome;
    pub use crate::sabotage::{Fault, breaking, has_wide_vectors};
    pub use crate::static_arg::Static;
    pub use crate::traced::{Running, TellNothing, TellText, TellTree, Told};
    pub use crate::tree::{Path, Tree, TreeRef};

    /// Points an error about a return type at the type.
    pub fn assert_outcome<R: Outcome>() {}
    /// Points an error about a parameter at its type.
    pub fn assert_tree_ref<T: TreeRef + ?Sized>() {}
}
