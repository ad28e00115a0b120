//! A program: kernels launched and libraries called in order over numbered slots. What an executable runs.

use std::sync::Arc;

use smallvec::SmallVec;
use tracewell_array::{DType, Tensor};

use crate::ir::Kernel;
use crate::library::LibraryCall;

/// A place for one flat array during a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct SlotId(pub u32);

/// What a slot holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Slot {
    /// The type of its elements.
    pub dtype: DType,
    /// How many there are.
    pub len: usize,
    /// Where its memory comes from.
    pub role: Role,
}

/// Where a slot's memory comes from.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// The caller's argument of that number.
    Input(usize),
    /// Made for the caller by each run. If the named input was given away by a caller who held the sole
    /// reference, its memory is used: every launch that writes the slot reads that input only at the same index.
    Output {
        /// An input whose memory may be taken over.
        reuse: Option<usize>,
    },
    /// Scratch: `offset` bytes into the program's arena, or into an output that nothing has touched until the last use of
    /// the scratch. Slots with disjoint lifetimes may overlap.
    Temp {
        /// The output; without one the arena.
        of: Option<SlotId>,
        /// Byte offset there, a multiple of 64.
        offset: usize,
    },
    /// Part of the program.
    Constant(Tensor),
}

/// One thing to do.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// Run a kernel.
    Launch {
        /// Index into [`Program::kernels`].
        kernel: usize,
        /// The slot of each kernel parameter.
        slots: Vec<SlotId>,
        /// The value of each run-time size.
        sizes: Vec<i64>,
        /// Estimated cost of one iteration of the outermost `each`, in nanoseconds: when to use threads.
        cost: u32,
    },
    /// Copy an array, unless both are the same memory.
    Copy {
        /// Where from.
        from: SlotId,
        /// Where to: as many elements of the same type.
        to: SlotId,
    },
    /// Call a library function.
    Call {
        /// Which function, with its parameters.
        call: LibraryCall,
        /// Inputs, then outputs.
        slots: Vec<SlotId>,
    },
}

/// Kernels and calls in order, and the memory they work on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Program {
    /// For people.
    pub name: String,
    /// Every piece of memory.
    pub slots: Vec<Slot>,
    /// Every kernel once.
    pub kernels: Vec<Arc<Kernel>>,
    /// Run in order.
    pub steps: Vec<Step>,
    /// The slot of each result: an output, or an input or constant handed through.
    pub results: Vec<SlotId>,
    /// Size in bytes of the arena that `Temp` slots live in.
    pub arena: usize,
}

impl Step {
    /// The slots that it touches.
    pub fn slots(&self) -> SmallVec<[SlotId; 4]> {
        match self {
            Step::Launch { slots, .. } | Step::Call { slots, .. } => slots.iter().copied().collect(),
            Step::Copy { from, to } => SmallVec::from_slice(&[*from, *to]),
        }
    }
}

impl Program {
    /// A slot by its number.
    pub fn slot(&self, id: SlotId) -> &Slot {
        &self.slots[id.0 as usize]
    }
}
