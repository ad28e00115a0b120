//! What a primitive is: all its rules in one trait, none but the last with a default body, so that a missing rule is a
//! compile error. "Not differentiable" is something a primitive says.
//!
//! Rules build graphs through [`Cx`] only. A rule never sees a tracer, Cranelift or another primitive's rule.

use std::fmt;
use std::sync::Arc;

use tracewell_array::{Literal, Shape, Tensor};
use tracewell_kernel::{BufferId, Combine, KernelBuilder, LibraryCall, Value};

use crate::builder::GraphBuilder;
use crate::error::{RuleError, TypeError};
use crate::graph::{Atom, Equation, Graph, Splat};
use crate::params::Params;
use crate::prim::{Broadcast, Each, Prim, Scan, Switch, While};
use crate::rows::{OfRows, of_lowered_rows};
use crate::ty::ArrayType;

/// Everything a primitive means.
pub trait Primitive: Params + fmt::Debug + Send + Sync {
    /// Its name in texts; `crate::name` for a user's.
    fn name(&self) -> &str;

    /// The typing rule: the types of the results, or why these operands make no sense.
    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError>;

    /// The reference semantics: the dumbest correct loops, independent of [`lower`](Self::lower).
    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String>;

    /// The derivative along tangents; `None` among them is a symbolic zero.
    ///
    /// Contract: results are linear in the tangents, and where `cx.linearizing()` holds no primal result
    /// depends on a tangent (a primitive that nests a graph then binds two equations).
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError>;

    /// The adjoint in its linear operands: their cotangents from those of the results.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError>;

    /// The same over a new leading axis of this size on some operands; says which results have it.
    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError>;

    /// How a result is computed, in terms of the kernel language: the whole contract with fusion.
    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError>;

    /// The same for `rows` rows only, along the leading axes of the result and of some operands: if each row of the result
    /// `out` is made of the same row of theirs, and with the same bits however many there are; else `None`.
    ///
    /// Who says nothing is asked how it is lowered: elementwise functions need not say it.
    fn of_rows(&self, inputs: &[ArrayType], out: &ArrayType, rows: usize) -> Option<OfRows> {
        of_lowered_rows(self, inputs, out, rows)
    }

    /// Operand types that the laws are tested on; they should reach every case of every rule.
    fn examples() -> Vec<Example>
    where
        Self: Sized;
}

/// A use of a primitive for the laws to test.
#[derive(Clone, Debug)]
pub struct Example {
    /// The primitive with its parameters.
    pub prim: Prim,
    /// Types of its operands.
    pub inputs: Vec<ArrayType>,
}

/// The result of a derivative rule.
#[derive(Clone, Debug)]
pub struct Jvp {
    /// The primitive's own results.
    pub primals: Vec<Atom>,
    /// Their tangents; `None` is a symbolic zero.
    pub tangents: Vec<Option<Atom>>,
}

/// An operand of an equation to transpose.
#[derive(Clone, Debug)]
pub enum Operand {
    /// Known: part of the coefficients.
    Known(Atom),
    /// What the equation is linear in; only its type is known.
    Linear(ArrayType),
}

/// An operand or result of an equation to batch.
#[derive(Clone, Debug)]
pub struct Batched {
    /// The array.
    pub atom: Atom,
    /// Whether its leading axis is the batch axis.
    pub batched: bool,
}

/// How an output element is computed.
#[derive(Clone)]
pub enum Lowering {
    /// `out[i] = f(in₀[i], in₁[i], …)`
    Map(MapFn),
    /// `out[i] = in[view(i)]`
    View(View),
    /// `out[i] = ∘ over the reduced axes of in`
    Reduce {
        /// The operation with its identity.
        combine: Combine,
        /// The reduced axes, ascending.
        axes: Vec<usize>,
    },
    /// `out[i] = i[axis]`, as a number of the output's type.
    Count {
        /// The axis that is counted along.
        axis: usize,
    },
    /// Elements of operand 0, found where the others say.
    Lookup(Lookup),
    /// Parts put beside each other. Every element of the output is in exactly one.
    Pieces(Vec<Piece>),
    /// A call on whole arrays.
    Library(LibraryCall),
    /// Statements over whole arrays: a kernel of its own, not fused with others.
    Kernel(KernelFn),
    /// The same as several kernels, one after the other. Beside the results they share memory that only they see.
    Kernels {
        /// The types of what they share.
        scratch: Vec<ArrayType>,
        /// Each gets the buffers of the operands, and those of the results and of the scratch.
        steps: Vec<KernelFn>,
    },
    /// As one kernel, for a result that is operand 0 with a part of it changed: the statements write that part only,
    /// to a copy of the operand or, where nobody needs it any more, to its memory.
    Update(KernelFn),
    /// Graphs that run repeatedly, or one of several: native control flow.
    Control(Control),
    /// An array known now.
    Constant(Tensor),
    /// On complex operands: the same primitive on their real parts, and on their imaginary parts.
    Parts,
    /// A composition of other primitives, to be put in the equation's place.
    Graph(Arc<Graph>),
    /// The same where machine code is made; until then passes see the equation.
    Late(Arc<Graph>),
}

/// An expansion of a scalar function into kernel operations.
pub type MapFn = Arc<dyn Fn(&mut KernelBuilder, &[Value]) -> Value + Send + Sync>;

/// Statements over whole arrays: from the buffers of the operands to those of the results. For an update, the
/// buffers of all operands but the first.
pub type KernelFn = Arc<dyn Fn(&mut KernelBuilder, &[BufferId], &[BufferId]) + Send + Sync>;

/// A primitive that runs graphs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Control {
    /// Runs one of several.
    Switch(Switch),
    /// Runs one as long as another says so.
    While(While),
    /// Runs one for each element of the leading axes of some arrays.
    Scan(Scan),
    /// Runs one for each index of some axes, independently.
    Each(Each),
}

/// Where an element of a view is found in its operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum View {
    /// For each operand axis, its index as a function of one output axis.
    Axes(Vec<AxisView>),
    /// At the same row-major position.
    Reshape,
}

/// `index = start + step × out[axis]`, or just `start` where no output axis is named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AxisView {
    /// The output axis it follows.
    pub axis: Option<usize>,
    /// Where it starts.
    pub start: i64,
    /// How far it moves for each step of the output axis.
    pub step: i64,
}

/// Where an element is found in operand 0: for each axis at the sum of a place that is known and a start, if it has one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lookup {
    /// For each axis of operand 0, its index without the start.
    pub view: Vec<AxisView>,
    /// For each of the other operands, the start that it is.
    pub starts: Vec<LookupStart>,
    /// What stands for the element if a start had to be moved; without, it is the one there.
    pub outside: Option<Literal>,
}

/// A start that an integer operand gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LookupStart {
    /// For each axis of the operand, its index as a function of one output axis.
    pub view: Vec<AxisView>,
    /// The axis of operand 0 whose start it is.
    pub axis: usize,
    /// How many starts there are: one that is not below is moved to the nearest that is.
    pub places: usize,
    /// What is added to negative ones first.
    pub back: Option<usize>,
}

/// A box of the output, its elements found in a view of an operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// The number of the operand.
    pub operand: usize,
    /// For each axis of the operand, its index as a function of one axis of the box.
    pub view: Vec<AxisView>,
    /// The shape of the box, of the output's rank.
    pub shape: Shape,
    /// Where in the output it starts.
    pub start: Vec<usize>,
    /// How far apart its elements are in the output.
    pub step: Vec<usize>,
}

impl AxisView {
    /// Follows an output axis unchanged.
    pub fn follow(axis: usize) -> AxisView {
        AxisView { axis: Some(axis), start: 0, step: 1 }
    }

    /// Stays at the first element.
    pub fn fixed() -> AxisView {
        AxisView { axis: None, start: 0, step: 0 }
    }
}

impl fmt::Debug for Lowering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lowering::Map(_) => write!(f, "Map"),
            Lowering::View(view) => write!(f, "View({view:?})"),
            Lowering::Reduce { combine, axes } => write!(f, "Reduce({combine:?}, {axes:?})"),
            Lowering::Count { axis } => write!(f, "Count({axis})"),
            Lowering::Lookup(lookup) => write!(f, "Lookup({lookup:?})"),
            Lowering::Pieces(pieces) => write!(f, "Pieces({pieces:?})"),
            Lowering::Library(call) => write!(f, "Library({call:?})"),
            Lowering::Kernel(_) => write!(f, "Kernel"),
            Lowering::Kernels { scratch, steps } => write!(f, "Kernels({scratch:?}, {})", steps.len()),
            Lowering::Update(_) => write!(f, "Update"),
            Lowering::Control(control) => write!(f, "Control({control:?})"),
            Lowering::Constant(tensor) => write!(f, "Constant({}{})", tensor.dtype(), tensor.shape()),
            Lowering::Parts => write!(f, "Parts"),
            Lowering::Graph(graph) => write!(f, "Graph(@{})", graph.name),
            Lowering::Late(graph) => write!(f, "Late(@{})", graph.name),
        }
    }
}

impl Lowering {
    /// An elementwise function.
    pub fn map(f: impl Fn(&mut KernelBuilder, &[Value]) -> Value + Send + Sync + 'static) -> Lowering {
        Lowering::Map(Arc::new(f))
    }
}

impl Jvp {
    /// One result and its tangent.
    pub fn one(primal: Atom, tangent: Option<Atom>) -> Jvp {
        Jvp { primals: vec![primal], tangents: vec![tangent] }
    }
}

impl Batched {
    /// An array with the batch axis in front.
    pub fn yes(atom: Atom) -> Batched {
        Batched { atom, batched: true }
    }

    /// An array that is the same for the whole batch.
    pub fn no(atom: Atom) -> Batched {
        Batched { atom, batched: false }
    }
}

impl Operand {
    /// The operand, if it is known.
    pub fn known(&self) -> Option<&Atom> {
        match self {
            Operand::Known(atom) => Some(atom),
            Operand::Linear(_) => None,
        }
    }

    /// Whether the equation is linear in it.
    pub fn is_linear(&self) -> bool {
        matches!(self, Operand::Linear(_))
    }
}

/// The walks over whole graphs, for the rules of primitives that nest a graph. Implemented by `transform`.
pub trait Walks {
    /// A graph of the results and then their nonzero tangents, from the inputs and then the tangents of the
    /// `active` ones. Says which results have a tangent.
    fn jvp(&self, graph: &Graph, active: &[bool]) -> Result<(Graph, Vec<bool>), RuleError>;

    /// The derivative split in two: what can be computed before the tangents are known, and what is linear.
    fn linearize(&self, graph: &Graph, active: &[bool]) -> Result<Linearized, RuleError>;

    /// The adjoint of a graph in its `linear` inputs: from the other inputs and then the cotangents of the
    /// results for which `given` holds, to the cotangents of linear inputs. Says which are nonzero.
    fn transpose(
        &self,
        graph: &Graph,
        linear: &[bool],
        given: &[bool],
    ) -> Result<(Graph, Vec<bool>), RuleError>;

    /// The same in three parts: only the results of equations for which `keep` holds are kept, and what else the
    /// linear part reads is computed again from them.
    fn checkpoint(
        &self,
        graph: &Graph,
        active: &[bool],
        keep: &dyn Fn(&Equation) -> bool,
    ) -> Result<Rematerialized, RuleError>;

    /// The graph over a leading axis of this size on some inputs. Says which results have it.
    fn batch(&self, graph: &Graph, size: usize, batched: &[bool]) -> Result<(Graph, Vec<bool>), RuleError>;
}

/// A derivative in two parts.
#[derive(Clone, Debug)]
pub struct Linearized {
    /// From the inputs to the results, then the residuals.
    pub primal: Graph,
    /// From the residuals, then the tangents of active inputs, to the nonzero tangents of results.
    pub linear: Graph,
    /// Which results have a tangent.
    pub tangents: Vec<bool>,
}

/// A derivative in three parts.
#[derive(Clone, Debug)]
pub struct Rematerialized {
    /// From the inputs to the results, then what is kept.
    pub primal: Graph,
    /// From what is kept to the residuals.
    pub again: Graph,
    /// From the residuals, then the tangents of active inputs, to the nonzero tangents of results.
    pub linear: Graph,
    /// Which results have a tangent.
    pub tangents: Vec<bool>,
}

/// What a rule builds with.
#[allow(missing_debug_implementations, reason = "a borrow of two things, made for one rule")]
pub struct Cx<'a> {
    builder: &'a mut GraphBuilder,
    walks: &'a dyn Walks,
    linearizing: bool,
}

impl<'a> Cx<'a> {
    /// Rules that build into this graph.
    pub fn new(builder: &'a mut GraphBuilder, walks: &'a dyn Walks, linearizing: bool) -> Cx<'a> {
        Cx { builder, walks, linearizing }
    }

    /// The walks over nested graphs.
    pub fn walks(&self) -> &'a dyn Walks {
        self.walks
    }

    /// Whether primal results must not depend on tangents.
    pub fn linearizing(&self) -> bool {
        self.linearizing
    }

    /// The type of an operand.
    pub fn ty(&self, atom: &Atom) -> ArrayType {
        self.builder.ty(atom)
    }

    /// Applies a primitive of one result.
    pub fn bind(&mut self, prim: impl Into<Prim>, inputs: &[&Atom]) -> Result<Atom, RuleError> {
        let inputs: Vec<Atom> = inputs.iter().map(|&a| a.clone()).collect();
        Ok(self.builder.bind1(prim, &inputs)?)
    }

    /// Applies a primitive of any number of results.
    pub fn bind_all(&mut self, prim: impl Into<Prim>, inputs: &[Atom]) -> Result<Vec<Atom>, RuleError> {
        Ok(self.builder.bind(prim, inputs)?.into_vec())
    }

    /// Copies a graph's equations; returns its outputs.
    pub fn inline(&mut self, graph: &Graph, inputs: &[Atom]) -> Vec<Atom> {
        self.builder.inline(graph, inputs)
    }

    /// An array like `like`, filled with a number.
    pub fn fill(&self, like: &Atom, number: f64) -> Atom {
        Atom::fill(&self.ty(like), number)
    }

    /// Every operand with the batch axis in front: those without it are repeated along it.
    pub fn batch_all(&mut self, size: usize, operands: &[Batched]) -> Result<Vec<Atom>, RuleError> {
        operands.iter().map(|operand| self.batch_one(size, operand)).collect()
    }

    /// An operand with the batch axis in front.
    pub fn batch_one(&mut self, size: usize, operand: &Batched) -> Result<Atom, RuleError> {
        if operand.batched {
            return Ok(operand.atom.clone());
        }
        let ty = self.ty(&operand.atom);
        let shape = ty.shape.insert(0, size);
        match &operand.atom {
            Atom::Splat(splat) => Ok(Atom::Splat(Splat { shape, ..splat.clone() })),
            Atom::Var(_) => {
                let axes = (1..=ty.rank()).collect();
                self.bind(Broadcast { shape, axes }, &[&operand.atom])
            }
        }
    }
}
