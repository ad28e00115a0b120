//! A node of a tape: one thing that happened, with its value, its place and what it was made from.

use std::any::{Any, type_name};
use std::fmt;
use std::sync::Arc;

use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Equation, Graph, Location, Prim};
use tracewell_trace::{Api, Value};

use super::Tape;
use crate::array::Array;

/// A node by its number in its tape. Numbers follow the program: a call comes before what is inside of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(pub(super) u32);

impl NodeId {
    pub(super) fn at(self) -> usize {
        self.0 as usize
    }
}

/// One result of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Reference {
    /// The node.
    pub node: NodeId,
    /// Which of its results, counted from 0.
    pub result: usize,
}

/// What a node was given.
#[derive(Clone, Debug)]
pub enum Argument {
    /// The result of a node.
    Reference(Reference),
    /// A number of the program.
    Constant(Array),
    /// Something of a trace that was not recorded: only its type is known.
    Unknown(ArrayType),
}

/// What a call is a call of.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Callee {
    /// A `jit!` function. What is inside are the equations of its graph.
    Jit,
    /// A function that is marked `#[traced]`.
    Traced,
    /// An API that takes functions, such as `grad`.
    Api(Api),
    /// A function that was given to an API; what it is there: a condition, a body, or nothing where it is the only one.
    Function(&'static str),
    /// A primitive that runs graphs: a nested call of a graph, a loop, a branch.
    Primitive(Prim),
    /// One iteration of a staged loop, counted from 0.
    Turn(usize),
    /// The branch of a staged `switch` or `cond` that was taken, counted from 0; or a graph of one turn.
    Case(usize),
}

/// What a node is.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// All that was recorded: the root.
    Program,
    /// A parameter of the call around it.
    Argument {
        /// Its position, counted from 0.
        number: usize,
    },
    /// An array of the program that was made before, or a constant of a graph.
    Constant,
    /// A primitive was applied.
    Primitive(Prim),
    /// A call, with what happened inside of it as children.
    Call(Callee),
    /// The program looked at a value, and may have branched on it.
    Branch,
    /// What the call around it gives.
    Return,
    /// What failed. Nothing comes after it in its call.
    Failure {
        /// The error's message.
        message: String,
    },
}

/// One result: its type, and its value where that is known.
#[derive(Clone, Debug)]
pub(super) struct Produced {
    pub(super) ty: ArrayType,
    pub(super) value: Option<Tensor>,
}

impl Produced {
    pub(super) fn of(value: &Value) -> Produced {
        Produced { ty: value.ty(), value: value.known() }
    }

    pub(super) fn array(&self) -> Option<Array> {
        self.value.clone().map(|tensor| Array::from_value(Value::Known(tensor, self.ty.weak)))
    }
}

/// Where a node's equation is.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// An equation of a graph.
    Graph(Arc<Graph>, usize),
    /// A variable of a trace that was going on.
    Trace { trace: u64, variable: u32 },
}

/// Something that a user attached to a node.
pub(super) trait Note: Any + fmt::Debug + Send + Sync {}
impl<T: Any + fmt::Debug + Send + Sync> Note for T {}

/// What users attach to a node: one value of each type.
#[derive(Clone, Default, Debug)]
pub struct Notes(pub(super) Vec<(&'static str, Arc<dyn Note>)>);

impl Notes {
    /// Attaches a value, in the place of one of the same type.
    pub fn set<T: Any + fmt::Debug + Send + Sync>(&mut self, value: T) {
        let is_other = |(_, note): &(&str, Arc<dyn Note>)| !(&**note as &dyn Any).is::<T>();
        self.0.retain(is_other);
        let name = type_name::<T>();
        self.0.push((name.rsplit("::").next().unwrap_or(name), Arc::new(value)));
    }

    /// The value of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.iter().find_map(|(_, note)| (&**note as &dyn Any).downcast_ref())
    }
}

/// What a tape keeps of a node.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) parent: Option<NodeId>,
    pub(super) position: usize,
    pub(super) children: Vec<NodeId>,
    pub(super) arguments: Vec<Argument>,
    pub(super) results: Vec<Produced>,
    pub(super) location: Option<Location>,
    pub(super) origin: Option<Origin>,
    /// What a compiled call runs.
    pub(super) graph: Option<Arc<Graph>>,
    /// Whether the value was found by running a compiled function again, one primitive at a time.
    pub(super) rerun: bool,
    pub(super) notes: Notes,
}

impl Record {
    pub(super) fn new(kind: Kind, name: impl Into<String>) -> Record {
        Record {
            kind,
            name: name.into(),
            parent: None,
            position: 0,
            children: Vec::new(),
            arguments: Vec::new(),
            results: Vec::new(),
            location: None,
            origin: None,
            graph: None,
            rerun: false,
            notes: Notes::default(),
        }
    }

    /// Memory of the record itself, without the data of arrays.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Record>()
            + self.name.capacity()
            + self.children.capacity() * size_of::<NodeId>()
            + self.arguments.capacity() * size_of::<Argument>()
            + self.results.capacity() * size_of::<Produced>()
    }
}

/// A node of a tape.
#[derive(Clone, Copy)]
pub struct Node<'t> {
    pub(super) tape: &'t Tape,
    pub(super) id: NodeId,
}

impl<'t> Node<'t> {
    pub(super) fn record(&self) -> &'t Record {
        &self.tape.nodes[self.id.at()]
    }

    fn with(&self, id: NodeId) -> Node<'t> {
        Node { tape: self.tape, id }
    }

    /// Its number.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// Its tape.
    pub fn tape(&self) -> &'t Tape {
        self.tape
    }

    /// What it is.
    pub fn kind(&self) -> &'t Kind {
        &self.record().kind
    }

    /// What it is called: the function, the API, the primitive, the parameter.
    pub fn name(&self) -> &'t str {
        &self.record().name
    }

    /// The primitive that it applied, with its parameters.
    pub fn primitive(&self) -> Option<&'t Prim> {
        match self.kind() {
            Kind::Primitive(prim) | Kind::Call(Callee::Primitive(prim)) => Some(prim),
            _ => None,
        }
    }

    /// Whether it is a call, and may have children.
    pub fn is_call(&self) -> bool {
        matches!(self.kind(), Kind::Call(_) | Kind::Program)
    }

    /// What happened inside of it, in order.
    pub fn children(&self) -> impl ExactSizeIterator<Item = Node<'t>> + DoubleEndedIterator + use<'t> {
        let tape = self.tape;
        self.record().children.iter().map(move |&id| Node { tape, id })
    }

    /// The child at a position, counted from 1 as it is printed.
    pub fn child(&self, position: usize) -> Option<Node<'t>> {
        let id = self.record().children.get(position.checked_sub(1)?)?;
        Some(self.with(*id))
    }

    /// The call that it happened in; none of the root.
    pub fn parent(&self) -> Option<Node<'t>> {
        self.record().parent.map(|id| self.with(id))
    }

    /// Its position among its siblings, counted from 1 as it is printed; 0 of the root.
    pub fn index(&self) -> usize {
        self.record().position
    }

    /// How many calls are around it.
    pub fn depth(&self) -> usize {
        std::iter::successors(self.parent(), Node::parent).count()
    }

    /// Its value, or the first of its values; none where it was only traced, or gives nothing.
    pub fn value(&self) -> Option<Array> {
        self.record().results.first()?.array()
    }

    /// Its values, each where it is known.
    pub fn values(&self) -> Vec<Option<Array>> {
        self.record().results.iter().map(Produced::array).collect()
    }

    /// The type of its value, or of the first of its values.
    pub fn ty(&self) -> Option<&'t ArrayType> {
        self.record().results.first().map(|result| &result.ty)
    }

    /// The types of its values.
    pub fn types(&self) -> impl ExactSizeIterator<Item = &'t ArrayType> + use<'t> {
        self.record().results.iter().map(|result| &result.ty)
    }

    /// Whether its value is not known: it was traced, not run.
    pub fn is_abstract(&self) -> bool {
        self.record().results.iter().any(|result| result.value.is_none())
    }

    /// What it was given.
    pub fn arguments(&self) -> &'t [Argument] {
        &self.record().arguments
    }

    /// The nodes of the parameters of a call, inside of it.
    pub fn parameters(&self) -> impl Iterator<Item = Node<'t>> + use<'t> {
        self.children().filter(|child| matches!(child.kind(), Kind::Argument { .. }))
    }

    /// The user's line.
    pub fn location(&self) -> Option<&'t Location> {
        self.record().location.as_ref()
    }

    /// The equation that it came from, with its graph and its number there, where it was part of a compiled function.
    pub fn equation(&self) -> Option<(&'t Graph, usize, &'t Equation)> {
        match self.record().origin.as_ref()? {
            Origin::Graph(graph, number) => Some((graph, *number, &graph.equations[*number])),
            Origin::Trace { .. } => None,
        }
    }

    /// The trace that recorded it, by a number of its own, and its variable there: of what ran under `grad` and the like.
    pub fn variable(&self) -> Option<(u64, u32)> {
        match self.record().origin.as_ref()? {
            Origin::Trace { trace, variable } => Some((*trace, *variable)),
            Origin::Graph(..) => None,
        }
    }

    /// The graph that it ran, where it is a call of a compiled one.
    pub fn graph_called(&self) -> Option<&'t Arc<Graph>> {
        self.record().graph.as_ref()
    }

    /// Whether its value was found by running a compiled function again, one primitive at a time.
    pub fn is_rerun(&self) -> bool {
        self.record().rerun
    }

    /// The value of this type that a user attached to it.
    pub fn note<T: Any>(&self) -> Option<&'t T> {
        self.record().notes.get()
    }
}

impl PartialEq for Node<'_> {
    /// The same node of the same tape.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.tape, other.tape) && self.id == other.id
    }
}

impl Eq for Node<'_> {}
