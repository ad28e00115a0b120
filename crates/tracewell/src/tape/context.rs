//! What is recorded, and how deep.

use tracewell_graph::Location;

use super::node::{Kind, Notes};

/// A node as a [`Context`] sees it, before it is recorded.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// What it is.
    pub kind: &'a Kind,
    /// What it is called.
    pub name: &'a str,
    /// How many calls are around it: 1 for what the program does itself.
    pub depth: usize,
    /// The names of these calls, the outermost first.
    pub around: &'a [String],
    /// The user's line.
    pub location: Option<&'a Location>,
}

/// Decides what a tape records. Every method has an answer of its own: everything, but no turns of loops.
///
/// A context never changes what the program computes. One that limits the depth, written by a user:
///
/// ```
/// use tracewell::prelude::*;
/// use tracewell::tape::{Context, Seen};
///
/// struct Shallow(usize);
///
/// impl Context for Shallow {
///     fn enters(&self, call: &Seen<'_>) -> bool {
///         call.depth < self.0
///     }
/// }
///
/// #[traced]
/// fn inner(x: &Array) -> Array { x.sin() }
/// #[traced]
/// fn outer(x: &Array) -> Array { inner(x) + 1.0 }
///
/// let x = Array::from(0.5f32);
/// let tape = Tape::record_in(Shallow(2), || outer(&x));
/// let outer = tape.find("outer").unwrap();
/// let inner = tape.find("inner").unwrap();
/// assert_eq!((outer.children().len(), inner.children().len()), (4, 0));
/// ```
pub trait Context: Send + Sync {
    /// Whether what happens inside of a call is recorded. The call itself is.
    fn enters(&self, _call: &Seen<'_>) -> bool {
        true
    }

    /// Whether a node is recorded. One that is not stands as a constant where others use it.
    fn records(&self, _node: &Seen<'_>) -> bool {
        true
    }

    /// How many turns of a staged loop are recorded, and whether the branch of a staged `cond` or `switch` is.
    fn turns(&self, _control: &Seen<'_>) -> usize {
        0
    }

    /// Attaches values to a node that is recorded.
    fn annotate(&self, _node: &Seen<'_>, _notes: &mut Notes) {}
}

/// Both contexts: what both record, as deep as both enter, and as many turns of loops as one of them wants.
#[derive(Clone, Copy, Debug)]
pub struct Both<A, B>(pub A, pub B);

impl<A: Context, B: Context> Context for Both<A, B> {
    fn enters(&self, call: &Seen<'_>) -> bool {
        self.0.enters(call) && self.1.enters(call)
    }

    fn records(&self, node: &Seen<'_>) -> bool {
        self.0.records(node) && self.1.records(node)
    }

    fn turns(&self, control: &Seen<'_>) -> usize {
        self.0.turns(control).max(self.1.turns(control))
    }

    fn annotate(&self, node: &Seen<'_>, notes: &mut Notes) {
        self.0.annotate(node, notes);
        self.1.annotate(node, notes);
    }
}

/// Everything, but no turns of loops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Everything;

impl Context for Everything {}

/// Only so many levels: calls that are deeper are recorded without what is inside of them.
#[derive(Clone, Copy, Debug)]
pub struct DepthLimit(pub usize);

impl Context for DepthLimit {
    fn enters(&self, call: &Seen<'_>) -> bool {
        call.depth < self.0
    }
}

/// Only the calls for which a function holds are entered.
///
/// ```
/// use tracewell::prelude::*;
/// use tracewell::tape::{Both, DepthLimit, Only, Seen};
///
/// jit! { fn helper(x: &Array) -> Array { x.exp() + 1.0 } }
/// #[traced]
/// fn model(x: &Array) -> Array { helper(x).log() }
///
/// let x = Array::from(0.5f32);
/// let only = Only(|call: &Seen<'_>| call.name == "model");
/// let tape = Tape::record_in(Both(only, DepthLimit(9)), || model(&x));
/// assert_eq!(tape.find("helper").unwrap().children().len(), 0);
/// assert!(tape.find("log").is_some());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Only<F>(pub F);

impl<F: Fn(&Seen<'_>) -> bool + Send + Sync> Context for Only<F> {
    fn enters(&self, call: &Seen<'_>) -> bool {
        (self.0)(call)
    }
}

/// So many turns of every staged loop, and the branches that were taken.
#[derive(Clone, Copy, Debug)]
pub struct Turns(pub usize);

impl Context for Turns {
    fn turns(&self, _: &Seen<'_>) -> usize {
        self.0
    }
}
