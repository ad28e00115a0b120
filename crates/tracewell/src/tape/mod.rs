//! The tape: a nested, extended Wengert list of what ran.
//!
//! A tape is a tree. Its nodes are calls with what happened inside of them, primitives, parameters, constants, values
//! that the program looked at, and returns; each knows its value, its source line and what it was made from. It is
//! recorded from a run, where values are known, or from a trace, where types are. See docs/tape.md.
//!
//! ```
//! use tracewell::prelude::*;
//!
//! #[traced]
//! fn half_square(x: &Array) -> Array {
//!     0.5 * x.square()
//! }
//!
//! let x = Array::from(3.0f32);
//! let tape = Tape::record(|| half_square(&x) + 1.0);
//! assert_eq!(tape.value().unwrap().item::<f32>(), 5.5);
//!
//! let call = tape.find("half_square").unwrap();
//! let names: Vec<&str> = call.children().map(|node| node.name()).collect();
//! assert_eq!(names, ["x", "mul", "mul", "return"]);
//! let product = call.child(3).unwrap();
//! assert_eq!(product.value().unwrap().item::<f32>(), 4.5);
//! assert_eq!(product.backward().len(), 2);
//! ```
//!
//! Recording never changes a result, and there is no context that does. A `jit!` function runs compiled: what its
//! primitives gave is found by running its graph once more, one compiled primitive at a time, when the tape is read in;
//! such values say so ([`Node::is_rerun`]). A tape belongs to the thread that records it.

mod context;
mod export;
mod graph;
mod inside;
mod node;
mod page;
mod print;
mod query;
mod record;
mod update;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use tracewell_graph::Location;
use tracewell_trace::{Api, Error, Form, Observing, Value, boundary};

pub use context::{Both, Context, DepthLimit, Everything, Only, Seen, Turns};
pub use graph::Extract;
pub use node::{Argument, Callee, Kind, Node, NodeId, Notes, Reference};
pub use print::Levels;
pub use query::{Axis, Reach};
pub use update::Updated;

use node::{Produced, Record};
use record::Recorder;

use crate::array::Array;
use crate::outcome::Outcome;
use crate::tree::{TreeRef, form};

/// A nested Wengert list of a run or a trace. See the [module](self).
#[derive(Clone)]
pub struct Tape {
    /// The root first; a call before what is inside of it.
    nodes: Vec<Record>,
    context: Arc<dyn Context>,
    error: Option<Error>,
}

impl Tape {
    /// Runs a function and records all that it does on this thread.
    ///
    /// A failure of the library ends the recording at the node that failed: see [`Tape::error`].
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([1.0f32, 2.0]);
    /// let tape = Tape::record(|| x.sin().dot(&Array::from([1.0f32])));
    /// assert!(tape.error().is_some());
    /// let last = tape.root().children().last().unwrap();
    /// assert_eq!(last.name(), "dot_general");
    /// ```
    #[track_caller]
    pub fn record<R: Outcome>(f: impl FnOnce() -> R) -> Tape {
        recorded(Everything, Location::caller(), || (Form::empty(), Vec::new()), f).1
    }

    /// The same, where a [`Context`] decides what is recorded and how deep.
    #[track_caller]
    pub fn record_in<R: Outcome>(context: impl Context + 'static, f: impl FnOnce() -> R) -> Tape {
        recorded(context, Location::caller(), || (Form::empty(), Vec::new()), f).1
    }

    /// The same with what the function returned, or the error of the library that it failed with.
    ///
    /// ```
    /// use tracewell::prelude::*;
    /// use tracewell::tape::Everything;
    ///
    /// let x = Array::from(2.0f32);
    /// let (y, tape) = Tape::run(Everything, || x.square());
    /// assert_eq!(y.unwrap().item::<f32>(), 4.0);
    /// assert_eq!(tape.nodes().len(), 4);
    /// ```
    #[track_caller]
    pub fn run<R: Outcome>(
        context: impl Context + 'static,
        f: impl FnOnce() -> R,
    ) -> (Result<R::With<R::Ok>, Error>, Tape) {
        recorded(context, Location::caller(), || (Form::empty(), Vec::new()), f)
    }

    /// Calls a function of a tree and records it: the arrays of the argument are parameters of the root.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let tape = Tape::call(|x: &Array| x.sin() * 2.0, &Array::from(0.0f32));
    /// assert_eq!(tape.root().parameters().count(), 1);
    /// ```
    #[track_caller]
    pub fn call<X: TreeRef + ?Sized, R: Outcome>(f: impl FnOnce(&X) -> R, x: &X) -> Tape {
        Tape::call_in(Everything, f, x)
    }

    /// The same in a context.
    #[track_caller]
    pub fn call_in<X: TreeRef + ?Sized, R: Outcome>(
        context: impl Context + 'static,
        f: impl FnOnce(&X) -> R,
        x: &X,
    ) -> Tape {
        let arguments = || (form(x), crate::tree::paths(x, "x"));
        recorded(context, Location::caller(), arguments, || f(x)).1
    }

    /// The root: all that was recorded.
    pub fn root(&self) -> Node<'_> {
        Node { tape: self, id: NodeId(0) }
    }

    /// A node by its number.
    ///
    /// # Panics
    ///
    /// If it is the number of another tape, and this one has no such node.
    pub fn node(&self, id: NodeId) -> Node<'_> {
        assert!(
            id.at() < self.nodes.len(),
            "node {} is of another tape: this one has {}",
            id.0,
            self.nodes.len()
        );
        Node { tape: self, id }
    }

    /// All nodes, each call before what is inside of it.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = Node<'_>> + DoubleEndedIterator {
        (0..self.nodes.len()).map(|at| Node { tape: self, id: NodeId(at as u32) })
    }

    /// The first node of a name.
    pub fn find(&self, name: &str) -> Option<Node<'_>> {
        self.nodes().find(|node| node.name() == name)
    }

    /// What the recorded function returned, or its first array.
    pub fn value(&self) -> Option<Array> {
        self.root().value()
    }

    /// The failure that ended it.
    pub fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// The value that a node was given, where it is known.
    pub fn value_of(&self, argument: &Argument) -> Option<Array> {
        match argument {
            Argument::Reference(reference) => self.produced(*reference)?.array(),
            Argument::Constant(array) => {
                array.value().known().map(|t| Array::from_value(Value::Known(t, array.ty().weak)))
            }
            Argument::Unknown(_) => None,
        }
    }

    /// Attaches a value to a node, in the place of one of the same type.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let mut tape = Tape::record(|| Array::from(1.0f32).sin());
    /// let sin = tape.find("sin").unwrap().id();
    /// tape.annotate(sin, "look here");
    /// assert_eq!(tape.node(sin).note::<&str>(), Some(&"look here"));
    /// ```
    pub fn annotate<T: Any + fmt::Debug + Send + Sync>(&mut self, node: NodeId, note: T) {
        self.nodes[node.at()].notes.set(note);
    }

    /// Memory that the nodes take, without the data of arrays.
    pub fn bytes(&self) -> usize {
        self.nodes.iter().map(Record::bytes).sum()
    }

    fn produced(&self, reference: Reference) -> Option<&Produced> {
        self.nodes.get(reference.node.at())?.results.get(reference.result)
    }
}

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.levels(usize::MAX))
    }
}

fn recorded<R: Outcome>(
    context: impl Context + 'static,
    location: Location,
    arguments: impl FnOnce() -> (Form<Value>, Vec<String>),
    f: impl FnOnce() -> R,
) -> (Result<R::With<R::Ok>, Error>, Tape) {
    crate::executor::install();
    let context: Arc<dyn Context> = Arc::new(context);
    let recorder = Arc::new(Recorder::new(context.clone(), &location));
    let (form, names) = arguments();
    recorder.parameters(&form, &names);
    let observing = Observing::start(recorder.clone());
    let outcome = boundary(Api::Tape, None, &location, || f().into_tree());
    drop(observing);
    let (outcome, error) = match outcome {
        Ok(Ok(tree)) => {
            recorder.returned(&crate::tree::form(&tree));
            (Ok(R::success(tree)), None)
        }
        Ok(Err(theirs)) => (Ok(theirs), recorder.last_error()),
        Err(raised) => (Err(raised.clone()), Some(raised)),
    };
    let nodes = inside::opened(recorder.take(), &*context);
    (outcome, Tape { nodes, context, error })
}
