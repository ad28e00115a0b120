//! The graph as fusion sees it: a flow of nodes, each an array defined in one of a few ways.
//!
//! Invariant: a node's operands come before it. Reshapes, and views that keep every element's row-major
//! position, are not nodes: their results *are* their operands, under another shape. Arrays filled with one
//! literal are literals, and become nodes only where memory is needed for them. After this file nothing
//! names a primitive but kernel names.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_graph::{
    ArrayType, Atom, AxisView, Control, Equation, Graph, GraphBuilder, KernelFn, Lookup, LookupStart,
    Lowering, MapFn, Piece, Prim, RuleError, View, has_complex, take_apart,
};
use tracewell_kernel::{
    BufferId, Combine, Comparison, Kernel, KernelBuilder, LibraryCall, Op, Size, Value, steps,
};

use crate::Options;
use crate::cost::{count_ops, kernel_cost};
use crate::error::FuseError;
use crate::fits::{in_program, misfit};
use crate::link::{Given, Linked, SMALL, link};
use crate::strided::strided;

/// How often a primitive may expand into graphs of primitives that expand again.
const MAX_DEPTH: usize = 64;

/// A node of the flow.
pub(crate) type Id = usize;

/// An array under whatever shape its reader gives it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operand {
    Node(Id),
    Literal(Literal),
}

/// How an array is defined.
pub(crate) enum Def {
    /// The caller's argument of that number.
    Input(usize),
    Constant(Tensor),
    /// One literal everywhere.
    Fill(Literal),
    /// A scalar function of elements at the same position; `ops` is what it costs.
    Map {
        f: MapFn,
        args: SmallVec<[Operand; 3]>,
        ops: u32,
    },
    /// Elements found elsewhere in an array of shape `from`.
    View {
        axes: Vec<AxisView>,
        from: Shape,
        of: Id,
    },
    /// Elements of an array of shape `from` in memory, at the sum of a view and of starts.
    Lookup {
        axes: Vec<AxisView>,
        from: Shape,
        of: Id,
        starts: SmallVec<[Start; 2]>,
    },
    /// The index along an axis, as a number of the node's type.
    Count {
        axis: usize,
    },
    /// Parts put beside each other in memory.
    Pieces(Vec<Part>),
    /// The reduced axes of an array of shape `from` combined.
    Reduce {
        combine: Combine,
        axes: Vec<usize>,
        from: Shape,
        of: Operand,
    },
    /// A result of a library call.
    Call {
        call: usize,
    },
    /// Partial results of a reduction: made by fusion, for itself.
    Scratch,
}

/// Where an element is looked up: a number that is clamped below a number of places, which are so far apart.
pub(crate) struct Start {
    pub(crate) at: Operand,
    pub(crate) stride: i64,
    pub(crate) places: i64,
}

/// A node that is a part of another's memory.
pub(crate) struct Part {
    pub(crate) of: Id,
    /// Its shape there; the node may have it under another one.
    pub(crate) shape: Shape,
    /// The position in the whole of the part's first element.
    pub(crate) start: i64,
    /// For each axis of the part, how far apart its elements are in the whole.
    pub(crate) strides: Vec<i64>,
}

/// An array of the flow.
pub(crate) struct Node {
    pub(crate) def: Def,
    pub(crate) dtype: DType,
    pub(crate) shape: Shape,
    /// For people.
    pub(crate) name: String,
    /// The equation of the graph that it comes from, for people too.
    pub(crate) source: Option<usize>,
}

/// Work on whole arrays; its results are nodes.
pub(crate) struct Call {
    pub(crate) kind: CallKind,
    pub(crate) operands: Vec<Id>,
    pub(crate) results: Vec<Id>,
    /// Where it stands among the nodes, if it has an effect: it is called whether its results are read or not, and
    /// in program order with other effects.
    pub(crate) effect: Option<Id>,
    /// Memory that it needs while it runs.
    pub(crate) scratch: Vec<Id>,
}

/// Who does the work of a call.
pub(crate) enum CallKind {
    /// A library.
    Library(LibraryCall),
    /// Kernels, one after the other: of its operands, results and scratch.
    Kernels(Vec<Costed>),
    /// A kernel that changes a part of its only result, which is its first operand before. The other parameters
    /// are the other operands.
    Update(Costed),
}

/// A kernel that is launched as it is.
pub(crate) struct Costed {
    pub(crate) kernel: Kernel,
    /// Nanoseconds for one iteration of its outermost loop.
    pub(crate) cost: u32,
}

/// A graph as fusion sees it.
pub(crate) struct Flow {
    pub(crate) nodes: Vec<Node>,
    pub(crate) calls: Vec<Call>,
    pub(crate) inputs: Vec<Id>,
    pub(crate) outputs: Vec<Id>,
}

impl Flow {
    /// The element type of an operand.
    pub(crate) fn dtype(&self, operand: Operand) -> DType {
        match operand {
            Operand::Node(id) => self.nodes[id].dtype,
            Operand::Literal(literal) => literal.dtype(),
        }
    }
}

impl Node {
    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.shape.len()
    }
}

/// Lowers every equation of a graph and sorts them by how they are computed.
pub(crate) fn classify(graph: &Graph, options: &Options) -> Result<Flow, FuseError> {
    let (apart, expanded, stored);
    let complex = has_complex(graph);
    let (mut graph, mut depth) = (graph, 0);
    if complex {
        apart = take_apart(graph);
        graph = &apart;
    }
    let mut lowerings = lower_all(graph)?;
    // Of complex numbers taken apart it is not known which equations they were.
    let mut sources: Vec<Option<usize>> =
        (0..graph.equations.len()).map(|number| (!complex).then_some(number)).collect();
    if lowerings.iter().any(is_graph) {
        let mut current = expand(graph, &lowerings, &mut sources);
        loop {
            lowerings = lower_all(&current)?;
            if !lowerings.iter().any(is_graph) {
                break;
            }
            depth += 1;
            if depth > MAX_DEPTH {
                return Err(too_deep(&current, &lowerings));
            }
            current = expand(&current, &lowerings, &mut sources);
        }
        expanded = current;
        graph = &expanded;
    }
    if complex {
        // From here on arrays are what they are in memory.
        stored = Graph { types: graph.types.iter().map(in_program).collect(), ..graph.clone() };
        graph = &stored;
    }
    let mut builder = Builder {
        flow: Flow { nodes: Vec::new(), calls: Vec::new(), inputs: Vec::new(), outputs: Vec::new() },
        values: vec![None; graph.types.len()],
        fills: FxHashMap::default(),
        costs: FxHashMap::default(),
        graph,
        reads: graph.reads(),
        options,
        source: None,
    };
    for (i, &var) in graph.inputs.iter().enumerate() {
        let ty = graph.ty(var);
        let id = builder.node(Def::Input(i), ty.dtype, ty.shape.clone(), "input");
        builder.flow.inputs.push(id);
        builder.values[var.0 as usize] = Some(Operand::Node(id));
    }
    for ((equation, lowering), source) in graph.equations.iter().zip(lowerings).zip(sources) {
        builder.source = source;
        builder.equation(equation, lowering)?;
    }
    builder.source = None;
    for atom in &graph.outputs {
        let operand = builder.operand(atom);
        let shape = graph.atom_type(atom).shape;
        let id = builder.in_memory(operand, &shape);
        builder.flow.outputs.push(id);
    }
    Ok(builder.flow)
}

/// Whether an equation is other equations.
fn is_graph(lowering: &Lowering) -> bool {
    matches!(lowering, Lowering::Graph(_) | Lowering::Late(_))
}

fn lower_all(graph: &Graph) -> Result<Vec<Lowering>, FuseError> {
    let lower = |equation: &Equation| {
        let inputs: Vec<_> = equation.inputs.iter().map(|a| graph.atom_type(a)).collect();
        let outputs: Vec<_> = equation.outputs.iter().map(|&v| graph.ty(v).clone()).collect();
        let lowering =
            equation.prim.rules().lower(&inputs, &outputs).map_err(|error| failed(equation, error))?;
        let stored = |types: &[ArrayType]| types.iter().map(in_program).collect::<Vec<_>>();
        match misfit(&lowering, &stored(&inputs), &stored(&outputs)) {
            None => Ok(lowering),
            Some(why) => {
                let primitive = equation.prim.name().to_string();
                Err(failed(equation, RuleError::Unsupported { primitive, why }))
            }
        }
    };
    graph.equations.iter().map(lower).collect()
}

fn failed(equation: &Equation, error: RuleError) -> FuseError {
    FuseError { primitive: equation.prim.name().to_string(), location: equation.location.clone(), error }
}

fn too_deep(graph: &Graph, lowerings: &[Lowering]) -> FuseError {
    let at = lowerings.iter().position(is_graph).unwrap_or_default();
    let equation = &graph.equations[at];
    let why = format!("its expansion still has to be expanded after {MAX_DEPTH} times");
    failed(equation, RuleError::Unsupported { primitive: equation.prim.name().to_string(), why })
}

/// Puts the graphs that equations are lowered to in their place. Optimised graphs have none left. `sources` says of each
/// equation where it comes from.
fn expand(graph: &Graph, lowerings: &[Lowering], sources: &mut Vec<Option<usize>>) -> Graph {
    let mut new_sources = Vec::new();
    let mut builder = GraphBuilder::new();
    let mut map: Vec<Option<Atom>> = vec![None; graph.types.len()];
    for &var in &graph.inputs {
        map[var.0 as usize] = Some(Atom::Var(builder.input(graph.ty(var).clone())));
    }
    let look = |map: &[Option<Atom>], atom: &Atom| match atom {
        Atom::Var(var) => map[var.0 as usize].clone().expect("operands are defined before they are used"),
        Atom::Splat(_) => atom.clone(),
    };
    for (number, (equation, lowering)) in graph.equations.iter().zip(lowerings).enumerate() {
        let inputs: Vec<Atom> = equation.inputs.iter().map(|a| look(&map, a)).collect();
        builder.at(equation.location.clone());
        let outputs = match lowering {
            Lowering::Graph(inner) | Lowering::Late(inner) => builder.inline(inner, &inputs),
            _ => {
                let types = equation.outputs.iter().map(|&v| graph.ty(v).clone());
                builder.push(equation.prim.clone(), &inputs, types).into_vec()
            }
        };
        for (&var, atom) in equation.outputs.iter().zip(outputs) {
            map[var.0 as usize] = Some(atom);
        }
        new_sources.resize(builder.equations().len(), sources[number]);
    }
    *sources = new_sources;
    let outputs = graph.outputs.iter().map(|a| look(&map, a)).collect();
    builder.finish(graph.name.clone(), outputs)
}

struct Builder<'g> {
    graph: &'g Graph,
    /// How often each variable is read.
    reads: Vec<usize>,
    options: &'g Options,
    flow: Flow,
    /// What each variable of the graph is.
    values: Vec<Option<Operand>>,
    /// Filled arrays in memory, by literal and number of elements.
    fills: FxHashMap<(Literal, usize), Id>,
    costs: FxHashMap<(Prim, SmallVec<[DType; 3]>), u32>,
    /// The equation that nodes come from now.
    source: Option<usize>,
}

impl Builder<'_> {
    fn node(&mut self, def: Def, dtype: DType, shape: Shape, name: &str) -> Id {
        let source = self.source;
        self.flow.nodes.push(Node { def, dtype, shape, name: name.to_string(), source });
        self.flow.nodes.len() - 1
    }

    fn operand(&self, atom: &Atom) -> Operand {
        match atom {
            Atom::Var(var) => self.values[var.0 as usize].expect("operands are defined before they are used"),
            Atom::Splat(splat) => Operand::Literal(splat.literal),
        }
    }

    /// A node that holds the operand.
    fn in_memory(&mut self, operand: Operand, shape: &Shape) -> Id {
        match operand {
            Operand::Node(id) => id,
            Operand::Literal(literal) => {
                let key = (literal, shape.len());
                if let Some(&id) = self.fills.get(&key) {
                    return id;
                }
                let id = self.node(Def::Fill(literal), literal.dtype(), shape.clone(), "fill");
                self.fills.insert(key, id);
                id
            }
        }
    }

    fn equation(&mut self, equation: &Equation, lowering: Lowering) -> Result<(), FuseError> {
        let graph = self.graph;
        let operands: SmallVec<[Operand; 3]> = equation.inputs.iter().map(|a| self.operand(a)).collect();
        let shape_of = |i: usize| graph.atom_type(&equation.inputs[i]).shape;
        let name = equation.prim.name();
        let lowering = match lowering {
            Lowering::Library(call) => {
                let operands = self.all_in_memory(equation, &operands);
                let is_wanted = || steps::take(|| format!("the operands of `{name}`, read where they lie"));
                let (call, operands) = match strided(&self.flow, &call, &operands) {
                    Some(strided) if self.options.fusion && is_wanted() => strided,
                    _ => (call, operands),
                };
                self.call(equation, CallKind::Library(call), operands);
                return Ok(());
            }
            Lowering::Kernel(f) => {
                self.written(equation, &[f], &[], &operands);
                return Ok(());
            }
            Lowering::Kernels { scratch, steps } => {
                self.written(equation, &steps, &scratch, &operands);
                return Ok(());
            }
            Lowering::Update(f) => {
                self.updated(equation, &f, &operands);
                return Ok(());
            }
            Lowering::Control(control) => return self.control(equation, &control, &operands),
            other => other,
        };
        let var = equation.outputs[0];
        let ty = graph.ty(var);
        let node = |this: &mut Self, def| Operand::Node(this.node(def, ty.dtype, ty.shape.clone(), name));
        let value = match lowering {
            Lowering::Map(f) => {
                let types: SmallVec<[DType; 3]> =
                    equation.inputs.iter().map(|a| graph.atom_type(a).dtype).collect();
                let key = (equation.prim.clone(), types);
                let ops = match self.costs.get(&key) {
                    Some(&ops) => ops,
                    None => {
                        let ops = count_ops(&f, &key.1);
                        self.costs.insert(key, ops);
                        ops
                    }
                };
                node(self, Def::Map { f, args: operands, ops })
            }
            Lowering::View(view) => match (operands[0], view) {
                (Operand::Literal(literal), _) => Operand::Literal(literal),
                (operand, View::Reshape) => operand,
                (Operand::Node(of), View::Axes(axes)) => {
                    let from = shape_of(0);
                    if keeps_positions(&axes, &from, &ty.shape) {
                        Operand::Node(of)
                    } else {
                        node(self, Def::View { axes, from, of })
                    }
                }
            },
            Lowering::Reduce { combine, axes } => {
                let from = shape_of(0);
                if axes.iter().all(|&a| from.size(a) == 1) {
                    // One element each; a float sum still starts from +0, which takes -0 to +0.
                    if combine == Combine::Add && ty.dtype.is_float() {
                        node(self, Def::Map { f: plus_zero(), args: operands, ops: 1 })
                    } else {
                        operands[0]
                    }
                } else if axes.iter().any(|&a| from.size(a) == 0) {
                    Operand::Literal(combine.identity(ty.dtype).expect("typed"))
                } else {
                    node(self, Def::Reduce { combine, axes, from, of: operands[0] })
                }
            }
            Lowering::Constant(tensor) => node(self, Def::Constant(tensor.as_parts())),
            Lowering::Count { axis } if ty.shape.size(axis) == 1 => Operand::Literal(Literal::zero(ty.dtype)),
            Lowering::Count { axis } => node(self, Def::Count { axis }),
            Lowering::Lookup(lookup) => self.lookup(equation, lookup, &operands, ty),
            Lowering::Pieces(pieces) => {
                let pieces: Vec<Piece> = pieces.into_iter().filter(|p| !p.shape.is_empty()).collect();
                let parts = pieces.into_iter().map(|piece| {
                    let from = shape_of(piece.operand);
                    self.part(&operands, piece, &from, ty)
                });
                let parts = parts.collect();
                node(self, Def::Pieces(parts))
            }
            Lowering::Parts
            | Lowering::Library(_)
            | Lowering::Graph(_)
            | Lowering::Late(_)
            | Lowering::Kernel(_)
            | Lowering::Kernels { .. }
            | Lowering::Update(_)
            | Lowering::Control(_) => unreachable!("handled before"),
        };
        self.values[var.0 as usize] = Some(value);
        Ok(())
    }

    /// Nodes for the starts, moved to where they may be, and for what is found there.
    fn lookup(
        &mut self,
        equation: &Equation,
        lookup: Lookup,
        operands: &[Operand],
        ty: &ArrayType,
    ) -> Operand {
        let from = self.graph.atom_type(&equation.inputs[0]).shape;
        let strides = from.strides();
        let (mut starts, mut inside): (SmallVec<[Start; 2]>, Option<Operand>) = Default::default();
        for (k, LookupStart { view, axis, places, back }) in lookup.starts.into_iter().enumerate() {
            let given = self.graph.atom_type(&equation.inputs[k + 1]);
            let start = match operands[k + 1] {
                Operand::Node(of) if !keeps_positions(&view, &given.shape, &ty.shape) => {
                    let def = Def::View { axes: view, from: given.shape, of };
                    Operand::Node(self.node(def, given.dtype, ty.shape.clone(), "view"))
                }
                other => other,
            };
            // Four of 32 bits are one vector.
            let is_small = given.dtype == DType::I32 && from.size(axis) <= i32::MAX as usize;
            let dtype = if is_small { DType::I32 } else { DType::I64 };
            let asked = self.map(asked(back, dtype), &[start], dtype, &ty.shape);
            starts.push(Start { at: asked, stride: strides[axis] as i64, places: places as i64 });
            if lookup.outside.is_some() {
                let stays = move |b: &mut KernelBuilder, x: &[Value]| {
                    let moved = b.op(Op::Clamp(Size::Const(places as i64)), x);
                    b.compare(Comparison::Eq, x[0], moved)
                };
                let stays = self.map(Arc::new(stays), &[asked], DType::Bool, &ty.shape);
                let both: MapFn = Arc::new(|b, x| b.op(Op::And, x));
                inside = Some(match inside {
                    Some(others) => self.map(both, &[others, stays], DType::Bool, &ty.shape),
                    None => stays,
                });
            }
        }
        let of = self.in_memory(operands[0], &from);
        let def = Def::Lookup { axes: lookup.view, from, of, starts };
        let found = Operand::Node(self.node(def, ty.dtype, ty.shape.clone(), equation.prim.name()));
        match (inside, lookup.outside) {
            (Some(inside), Some(value)) => {
                let select: MapFn = Arc::new(|b, x| b.select(x[0], x[1], x[2]));
                self.map(select, &[inside, found, Operand::Literal(value)], ty.dtype, &ty.shape)
            }
            _ => found,
        }
    }

    /// A node for a function of others, without a name of its own.
    fn map(&mut self, f: MapFn, args: &[Operand], dtype: DType, shape: &Shape) -> Operand {
        let def = Def::Map { f, args: args.into(), ops: 2 };
        Operand::Node(self.node(def, dtype, shape.clone(), ""))
    }

    /// A node for one piece of an array, and where in the array it is.
    fn part(&mut self, operands: &[Operand], piece: Piece, from: &Shape, whole: &ArrayType) -> Part {
        let of = match operands[piece.operand] {
            Operand::Literal(literal) => {
                self.node(Def::Fill(literal), whole.dtype, piece.shape.clone(), "fill")
            }
            Operand::Node(id) if keeps_positions(&piece.view, from, &piece.shape) => id,
            Operand::Node(of) => {
                let def = Def::View { axes: piece.view, from: from.clone(), of };
                self.node(def, whole.dtype, piece.shape.clone(), "view")
            }
        };
        let strides: Vec<i64> = whole.shape.strides().into_iter().map(|s| s as i64).collect();
        let start = piece.start.iter().zip(&strides).map(|(&at, stride)| at as i64 * stride).sum();
        let strides = piece.step.iter().zip(&strides).map(|(&step, stride)| step as i64 * stride).collect();
        Part { of, shape: piece.shape, start, strides }
    }

    /// The types of an equation's operands and results.
    fn types(&self, equation: &Equation) -> (Vec<ArrayType>, Vec<ArrayType>) {
        let inputs = equation.inputs.iter().map(|a| self.graph.atom_type(a)).collect();
        (inputs, equation.outputs.iter().map(|&v| self.graph.ty(v).clone()).collect())
    }

    /// A kernel that a primitive writes by itself.
    fn written(
        &mut self,
        equation: &Equation,
        steps: &[KernelFn],
        scratch: &[ArrayType],
        operands: &[Operand],
    ) {
        let (inputs, mut made) = self.types(equation);
        made.extend(scratch.iter().cloned());
        let kernels = steps.iter().map(|step| kernel_of(equation, &inputs, &made, step)).collect();
        let operands = self.all_in_memory(equation, operands);
        let call = self.call(equation, CallKind::Kernels(kernels), operands);
        for ty in scratch {
            let id = self.node(Def::Scratch, ty.dtype, ty.shape.clone(), "scratch");
            self.flow.calls[call].scratch.push(id);
        }
    }

    /// A kernel of an equation whose result is its first operand, changed.
    fn updated(&mut self, equation: &Equation, f: &KernelFn, operands: &[Operand]) {
        let (inputs, outputs) = self.types(equation);
        let kernel = kernel_of(equation, &inputs[1..], &outputs, f);
        let operands = self.all_in_memory(equation, operands);
        self.call(equation, CallKind::Update(kernel), operands);
    }

    fn control(
        &mut self,
        equation: &Equation,
        control: &Control,
        operands: &[Operand],
    ) -> Result<(), FuseError> {
        let (inputs, outputs) = self.types(equation);
        let mut nodes = Vec::new();
        let given = |(operand, ty): (&Operand, ArrayType)| match operand {
            Operand::Literal(literal) if ty.shape.len() <= SMALL => Given::Literal(*literal, ty.shape.len()),
            // A run of elements of an array is read where it is.
            Operand::Node(id) => {
                let (of, offset) = self.found(*id);
                nodes.push(of);
                Given::Array(ty, offset)
            }
            Operand::Literal(_) => {
                nodes.push(self.in_memory(*operand, &ty.shape));
                Given::Array(ty, 0)
            }
        };
        let given: Vec<Given> = operands.iter().zip(inputs).map(given).collect();
        let is_read: Vec<bool> = equation.outputs.iter().map(|var| self.reads[var.0 as usize] > 0).collect();
        let linked = link(control, &given, &outputs, &is_read, self.options)?;
        let Linked { kernel, constants, scratch, cost } = linked;
        let call = self.call(equation, CallKind::Kernels(vec![Costed { kernel, cost }]), nodes);
        for tensor in constants {
            let (dtype, shape) = (tensor.dtype(), tensor.shape().clone());
            let id = self.node(Def::Constant(tensor), dtype, shape, "constant");
            self.flow.calls[call].operands.push(id);
        }
        for (dtype, len) in scratch {
            let id = self.node(Def::Scratch, dtype, Shape::from([len]), "scratch");
            self.flow.calls[call].scratch.push(id);
        }
        Ok(())
    }

    /// The array in which a node's elements lie one after the other, and from where on.
    fn found(&self, mut id: Id) -> (Id, i64) {
        let mut offset = 0;
        while let Def::View { axes, from, of } = &self.flow.nodes[id].def {
            let is_same = |(axis, view): (usize, &AxisView)| view.axis == Some(axis) && view.step == 1;
            let is_whole = |axis: usize| from.size(axis) == self.flow.nodes[id].shape.size(axis);
            let runs = self.flow.nodes[id].shape.rank() == from.rank()
                && axes.iter().enumerate().all(is_same)
                && (1..from.rank()).all(is_whole);
            if !runs {
                break;
            }
            offset +=
                axes.first().map_or(0, |view| view.start) * from.strides().first().map_or(0, |&s| s as i64);
            id = *of;
        }
        (id, offset)
    }

    /// Nodes that hold the operands of an equation.
    fn all_in_memory(&mut self, equation: &Equation, operands: &[Operand]) -> Vec<Id> {
        let shapes: Vec<Shape> = equation.inputs.iter().map(|a| self.graph.atom_type(a).shape).collect();
        operands.iter().zip(&shapes).map(|(&o, shape)| self.in_memory(o, shape)).collect()
    }

    /// Adds a call with its results; returns its number.
    fn call(&mut self, equation: &Equation, kind: CallKind, operands: Vec<Id>) -> usize {
        let number = self.flow.calls.len();
        let mut results = Vec::with_capacity(equation.outputs.len());
        for &var in &equation.outputs {
            let ty = self.graph.ty(var);
            let def = Def::Call { call: number };
            let id = self.node(def, ty.dtype, ty.shape.clone(), equation.prim.name());
            self.values[var.0 as usize] = Some(Operand::Node(id));
            results.push(id);
        }
        let effect = equation.prim.has_effect().then_some(self.flow.nodes.len());
        self.flow.calls.push(Call { kind, operands, results, scratch: Vec::new(), effect });
        number
    }
}

/// The kernel that statements write, of the arrays that they read and make.
fn kernel_of(equation: &Equation, read: &[ArrayType], made: &[ArrayType], f: &KernelFn) -> Costed {
    let mut b = KernelBuilder::new();
    let read: Vec<BufferId> = read.iter().map(|ty| b.param(ty.dtype, false)).collect();
    let made: Vec<BufferId> = made.iter().map(|ty| b.own_param(ty.dtype)).collect();
    f(&mut b, &read, &made);
    let kernel = b.finish(equation.prim.name());
    let cost = kernel_cost(&kernel);
    Costed { kernel, cost }
}

/// A start as a number of some type, negative ones counted from the back.
fn asked(back: Option<usize>, dtype: DType) -> MapFn {
    Arc::new(move |b: &mut KernelBuilder, x: &[Value]| {
        let start = if b.dtype(x[0]) == dtype { x[0] } else { b.op(Op::Convert(dtype), &[x[0]]) };
        let Some(back) = back else { return start };
        let [zero, back] = [0, back as i64].map(|n| b.literal(Literal::from_i64(dtype, n)));
        let is_negative = b.compare(Comparison::Lt, start, zero);
        let from_back = b.op(Op::Add, &[start, back]);
        b.select(is_negative, from_back, start)
    })
}

/// `0 + x`
fn plus_zero() -> MapFn {
    Arc::new(|b: &mut KernelBuilder, x: &[Value]| {
        let zero = b.like(x[0], 0.0);
        b.op(Op::Add, &[zero, x[0]])
    })
}

/// Whether every element of the view is at the same row-major position in the operand: axes of size 1 may
/// come, go and move, all others stay in order.
fn keeps_positions(axes: &[AxisView], from: &Shape, to: &Shape) -> bool {
    if from.len() != to.len() {
        return false;
    }
    let walked = axes.iter().enumerate().filter(|&(i, _)| from.size(i) != 1);
    let mut wanted = (0..to.rank()).filter(|&a| to.size(a) != 1);
    for (_, view) in walked {
        if view.start != 0 || view.step != 1 || view.axis.is_none() || view.axis != wanted.next() {
            return false;
        }
    }
    wanted.next().is_none()
}
