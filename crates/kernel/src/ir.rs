//! The kernel language: a kernel is a tree of regions over scalars and buffers.
//!
//! One language for elementwise loops, reductions, row-wise nests and whole scalar `while` loops. Values are
//! scalars, each defined once; regions nest and may read every value defined before them in an enclosing
//! region. Buffers are flat; an index is an affine sum of `i64` values. Sizes (loop extents, strides, offsets)
//! may be run-time parameters, so that one piece of machine code serves every shape.
//!
//! Deliberately absent: array shapes, primitives, vector widths and threads.

use smallvec::SmallVec;
use tracewell_array::DType;

use crate::library::LibraryCall;
use crate::op::{Combine, Op, reduce_lanes};

/// A scalar, defined once in its kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Value(pub u32);

/// A buffer of its kernel: parameters first, then stack buffers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct BufferId(pub u32);

/// A run-time size parameter of its kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct SizeId(pub u32);

/// A loop extent, stride or offset: known when the kernel is compiled, or given when it is launched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Size {
    /// Part of the machine code.
    Const(i64),
    /// Bound by each launch.
    Param(SizeId),
}

/// One function of machine code.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Kernel {
    /// For people: what the kernel computes. Neither compiled nor part of a kernel's identity in caches.
    pub name: String,
    /// Buffers given by the launch, in order.
    pub params: Vec<Param>,
    /// Stack buffers, numbered after the parameters.
    pub locals: Vec<Local>,
    /// How many run-time sizes a launch gives.
    pub sizes: usize,
    /// The type of every value.
    pub values: Vec<DType>,
    /// What it does. Yields nothing.
    pub body: Region,
}

/// A buffer parameter of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Param {
    /// The type of its elements.
    pub dtype: DType,
    /// Whether the kernel may store to it. One that is written is not read, except at the index just stored
    /// by the same iteration or where a launch binds one slot to two parameters (in-place updates).
    pub written: bool,
    /// Whether it is the kernel's own while it runs: written, and read again wherever its statements like.
    pub own: bool,
}

/// A buffer on the kernel's stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Local {
    /// The type of its elements.
    pub dtype: DType,
    /// Number of elements; the verifier limits the total.
    pub len: usize,
}

/// Statements in order, then the values handed to whatever encloses the region.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Region {
    /// Run in order.
    pub stmts: Vec<Stmt>,
    /// What the enclosing statement receives.
    pub yields: SmallVec<[Value; 2]>,
}

/// `offset + Σ value × scale`, in elements. An empty sum is a single element.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Index {
    /// Where the sum starts.
    pub offset: Size,
    /// `i64` values (loop variables, clamped values) with their strides.
    pub terms: SmallVec<[(Value, Size); 3]>,
}

/// A value that a loop hands from one iteration to the next.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Carry {
    /// Its value before the first iteration, defined outside.
    pub init: Value,
    /// Its name inside the body.
    pub inside: Value,
    /// Its name after the loop.
    pub out: Value,
}

/// One accumulator of a `reduce`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Accumulator {
    /// How elements are combined; lanes start from its identity.
    pub combine: Combine,
    /// The result, named after the loop.
    pub out: Value,
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Stmt {
    /// `out = op args`
    Op {
        /// The value it defines.
        out: Value,
        /// What is done.
        op: Op,
        /// Its operands.
        args: SmallVec<[Value; 3]>,
    },
    /// `out = buffer[index]`
    Load {
        /// The value it defines.
        out: Value,
        /// Where from.
        buffer: BufferId,
        /// Which element.
        index: Index,
    },
    /// `buffer[index] = value`
    Store {
        /// Where to.
        buffer: BufferId,
        /// Which element.
        index: Index,
        /// What is stored.
        value: Value,
    },
    /// Iterations that do not depend on each other, in any order, on any vector width and any thread.
    Each {
        /// Runs over `0..extent`.
        var: Value,
        /// How many iterations; none if not positive.
        extent: Size,
        /// Yields nothing.
        body: Region,
    },
    /// Iterations in order, handing on values.
    For {
        /// Runs over `0..extent`.
        var: Value,
        /// How many iterations.
        extent: Size,
        /// The values handed on; the body yields the next of each.
        carries: Vec<Carry>,
        /// Yields one value a carry.
        body: Region,
    },
    /// Combines what the body yields over all iterations, in the fixed lane order of [`reduce_lanes`].
    Reduce {
        /// Runs over `0..extent`.
        var: Value,
        /// How many iterations.
        extent: Size,
        /// One for each value that the body yields.
        accumulators: Vec<Accumulator>,
        /// Yields one value an accumulator; stores nothing.
        body: Region,
    },
    /// Repeats `body` while `cond` yields true.
    While {
        /// The values handed on; `cond` and `body` both see `inside`.
        carries: Vec<Carry>,
        /// Yields one bool.
        cond: Region,
        /// Yields one value a carry.
        body: Region,
    },
    /// Runs one of two regions.
    If {
        /// A bool.
        cond: Value,
        /// Results, one for each value that both regions yield.
        outs: Vec<Value>,
        /// Run where `cond` holds.
        then: Region,
        /// Run elsewhere.
        otherwise: Region,
    },
    /// Calls a library function; a failure leaves the kernel with its status.
    Call {
        /// Which function, with its parameters.
        call: LibraryCall,
        /// Inputs, then outputs; each as long as the call says.
        windows: Vec<Window>,
    },
    /// Leaves the kernel if somebody asked for that: what a loop that may be long does in every turn.
    Poll,
}

/// The elements of a buffer from an index on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Window {
    /// Which buffer.
    pub buffer: BufferId,
    /// Its first element.
    pub start: Index,
}

impl Kernel {
    /// The type of a value.
    pub fn dtype(&self, value: Value) -> DType {
        self.values[value.0 as usize]
    }

    /// The element type of a buffer.
    pub fn buffer_dtype(&self, buffer: BufferId) -> DType {
        let i = buffer.0 as usize;
        match self.params.get(i) {
            Some(param) => param.dtype,
            None => self.locals[i - self.params.len()].dtype,
        }
    }

    /// The extent over which a launch may be split between threads: that of the one outermost `each`.
    pub fn parallel_extent(&self) -> Option<Size> {
        match self.body.stmts.as_slice() {
            [Stmt::Each { extent, .. }] => Some(*extent),
            _ => None,
        }
    }
}

impl Size {
    /// Its value under the sizes of a launch.
    pub fn get(self, sizes: &[i64]) -> i64 {
        match self {
            Size::Const(n) => n,
            Size::Param(id) => sizes[id.0 as usize],
        }
    }
}

impl Window {
    /// A buffer from its first element on.
    pub fn whole(buffer: BufferId) -> Window {
        Window { buffer, start: Index::at(0) }
    }
}

impl Index {
    /// The element at a fixed place.
    pub fn at(offset: i64) -> Index {
        Index { offset: Size::Const(offset), terms: SmallVec::new() }
    }
}

/// The lane count of a `reduce` with these accumulator types; see [`reduce_lanes`].
pub fn lanes_of(types: impl IntoIterator<Item = DType>) -> usize {
    reduce_lanes(types.into_iter().map(DType::size).max().unwrap_or(4))
}
