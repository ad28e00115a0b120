//! Changing a value, and running again only what depends on it.

use std::collections::BTreeSet;
use std::sync::Arc;

use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Graph, Location, Prim};
use tracewell_trace::{Error, ErrorKind, complete};

use super::Tape;
use super::inside::{in_order, reopened};
use super::node::{Argument, Callee, Kind, NodeId, Record, Reference};
use crate::array::Array;
use crate::executor::Compiled;
use crate::stepping::{call_of, constant_data, step};

/// A tape with other values.
#[derive(Clone, Debug)]
pub struct Updated {
    /// What the tape would be, had the values been these.
    pub tape: Tape,
    /// The nodes of it whose values are others, in the order of the program.
    pub changed: Vec<NodeId>,
    /// How many primitives were run for it.
    pub runs: usize,
}

impl Tape {
    /// The tape with other values of some nodes, for which only what depends on them is run again: one compiled primitive
    /// at a time, and no further where a result is the same as before.
    ///
    /// Nodes that can be changed have one value: parameters, constants, primitives, calls. An error if a value that the
    /// program looked at would be another: then it may have gone another way, and only a new recording knows.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let (x, y) = (Array::from(2.0f32), Array::from(3.0f32));
    /// let tape = Tape::record(|| x.exp() + y.square());
    /// let three = tape.nodes().find(|node| node.value().is_some_and(|v| v.item::<f32>() == 3.0)).unwrap();
    /// let updated = tape.update(&[(three.id(), &Array::from(4.0f32))]).unwrap();
    /// assert_eq!(updated.tape.value().unwrap().item::<f32>(), 2.0f32.exp() + 16.0);
    /// assert_eq!(updated.runs, 2);
    /// ```
    #[track_caller]
    pub fn update(&self, changes: &[(NodeId, &Array)]) -> Result<Updated, Error> {
        let location = Location::caller();
        self.updated(changes).map_err(|error| complete(error, &location))
    }

    fn updated(&self, changes: &[(NodeId, &Array)]) -> Result<Updated, Error> {
        let mut given = Vec::with_capacity(changes.len());
        for &(id, array) in changes {
            given.push((id, self.replacement(id, array)?));
        }
        let mut work = Work {
            tape: self,
            nodes: self.nodes.clone(),
            given,
            changed: BTreeSet::new(),
            reopened: Vec::new(),
            runs: 0,
        };
        work.visit(NodeId(0))?;
        let Work { mut nodes, changed, reopened: again, runs, .. } = work;
        let mut marked: Vec<NodeId> = changed.iter().map(|reference| reference.node).collect();
        marked.dedup();
        // What is inside of a loop is another thing for other values.
        for &id in &again {
            nodes = reopened(nodes, id, &*self.context);
        }
        for record in &mut nodes {
            record.notes.0.retain(|(name, _)| *name != MARK);
        }
        for id in marked {
            nodes[id.at()].notes.0.push((MARK, Arc::new(())));
        }
        let mut nodes = in_order(nodes);
        let mut changed = Vec::new();
        for (at, record) in nodes.iter_mut().enumerate() {
            let before = record.notes.0.len();
            record.notes.0.retain(|(name, _)| *name != MARK);
            if record.notes.0.len() < before {
                changed.push(NodeId(at as u32));
            }
        }
        let tape = Tape { nodes, context: self.context.clone(), error: self.error.clone() };
        Ok(Updated { tape, changed, runs })
    }

    /// The data that a node is to have.
    fn replacement(&self, id: NodeId, array: &Array) -> Result<Tensor, Error> {
        let node = self.node(id);
        let fixed = || {
            Error::new(
                ErrorKind::Structure,
                format!("`{}` is no node with one value that can be changed", node.name()),
            )
            .help("change a parameter, a constant, a primitive or a call")
        };
        let [made] = node.record().results.as_slice() else { return Err(fixed()) };
        if matches!(node.kind(), Kind::Return | Kind::Branch | Kind::Program | Kind::Failure { .. }) {
            return Err(fixed());
        }
        let plain = |ty: &ArrayType| ArrayType { weak: false, ..ty.clone() };
        if plain(&made.ty) != plain(&array.ty()) {
            let message = format!("`{}` is {}, and cannot become {}", node.name(), made.ty, array.ty());
            return Err(
                Error::new(ErrorKind::Type, message).help("record the program again with the new array")
            );
        }
        let is_loop = |node: &super::Node<'_>| node.primitive().is_some_and(Prim::is_control);
        if let Some(around) = node.query(super::Axis::Ancestor).into_iter().find(is_loop) {
            let message =
                format!("`{}` is inside of a `{}`, which runs as a whole", node.name(), around.name());
            let help = "change an operand of the loop, and its turns are run again";
            return Err(Error::new(ErrorKind::Structure, message).help(help));
        }
        array.value().known().ok_or_else(fixed)
    }
}

/// By which changed nodes are found again after they were numbered anew.
const MARK: &str = "\0changed";

struct Work<'t> {
    tape: &'t Tape,
    nodes: Vec<Record>,
    given: Vec<(NodeId, Tensor)>,
    changed: BTreeSet<Reference>,
    reopened: Vec<NodeId>,
    runs: usize,
}

impl Work<'_> {
    /// Brings a node up to date, and what is inside of it.
    fn visit(&mut self, id: NodeId) -> Result<(), Error> {
        let record = &self.nodes[id.at()];
        let is_changed = |argument: &Argument| match argument {
            Argument::Reference(reference) => self.changed.contains(reference),
            Argument::Constant(_) | Argument::Unknown(_) => false,
        };
        let stale = record.arguments.iter().any(is_changed);
        let kind = record.kind.clone();
        let children = record.children.clone();
        if let Some((_, tensor)) = self.given.iter().find(|(node, _)| *node == id) {
            let tensor = tensor.clone();
            self.set(id, vec![Some(tensor)]);
            return Ok(());
        }
        match kind {
            Kind::Constant | Kind::Failure { .. } => Ok(()),
            Kind::Argument { .. } | Kind::Return if stale => {
                let values =
                    self.nodes[id.at()].arguments.iter().map(|argument| self.value(argument)).collect();
                self.set(id, values);
                Ok(())
            }
            Kind::Branch if stale => Err(self.another_way(id)),
            Kind::Primitive(prim) if stale => self.run(id, &prim),
            // It runs as a whole, with the old data inside.
            Kind::Call(_) if children.is_empty() && self.captured_changes(id) => Err(self.not_recorded(id)),
            Kind::Call(Callee::Primitive(prim)) if stale && prim.is_control() => {
                self.reopened.push(id);
                self.run(id, &prim)
            }
            Kind::Call(_) if stale && children.is_empty() => match self.nodes[id.at()].graph.clone() {
                Some(graph) => self.run(id, &call_of(&graph)),
                None => Err(self.not_recorded(id)),
            },
            Kind::Call(_) | Kind::Program => {
                for child in &children {
                    self.visit(*child)?;
                }
                let is_return = |child: &&NodeId| self.nodes[child.at()].kind == Kind::Return;
                if let Some(&returned) = children.iter().rev().find(is_return) {
                    let values =
                        self.nodes[returned.at()].results.iter().map(|made| made.value.clone()).collect();
                    self.set(id, values);
                }
                Ok(())
            }
            Kind::Argument { .. } | Kind::Return | Kind::Branch | Kind::Primitive(_) => Ok(()),
        }
    }

    /// Whether what a call runs may have captured data that is other data now: of a graph it is known, of a function
    /// that was not entered it is not.
    fn captured_changes(&self, id: NodeId) -> bool {
        let mut captured = Vec::new();
        match &self.nodes[id.at()] {
            Record { graph: Some(graph), .. } => data_of(graph, &mut captured),
            Record { kind: Kind::Call(Callee::Primitive(prim)), .. } => data_inside(prim, &mut captured),
            _ => return !self.changed.is_empty(),
        }
        let old = |reference: &Reference| {
            self.tape.nodes[reference.node.at()].results[reference.result].value.as_ref()
        };
        let changed: Vec<usize> =
            self.changed.iter().filter_map(old).map(|data| data.as_ptr() as usize).collect();
        captured.iter().any(|data| !data.is_empty() && changed.contains(&(data.as_ptr() as usize)))
    }

    fn value(&self, argument: &Argument) -> Option<Tensor> {
        match argument {
            Argument::Reference(Reference { node, result }) => {
                self.nodes[node.at()].results[*result].value.clone()
            }
            Argument::Constant(array) => array.value().known(),
            Argument::Unknown(_) => None,
        }
    }

    /// Gives a node values, and notes which are others than before.
    fn set(&mut self, id: NodeId, values: Vec<Option<Tensor>>) {
        for (result, value) in values.into_iter().enumerate() {
            // A turn of a loop has none of its own.
            let Some(made) = self.nodes[id.at()].results.get_mut(result) else { return };
            let same = match (&made.value, &value) {
                (Some(old), Some(new)) => old.bits_eq(new),
                (None, None) => true,
                _ => false,
            };
            // A parameter may be a part of what was given; its type stays.
            let fits = value.as_ref().is_none_or(|value| *value.shape() == made.ty.shape);
            if !same && fits {
                made.value = value;
                self.changed.insert(Reference { node: id, result });
            }
        }
    }

    fn run(&mut self, id: NodeId, prim: &Prim) -> Result<(), Error> {
        let record = &self.nodes[id.at()];
        if prim.has_effect() {
            let message = format!("`{}` has an effect, which must not be repeated", prim.name());
            return Err(self.placed(id, Error::new(ErrorKind::Structure, message)));
        }
        let operands: Vec<Option<Tensor>> =
            record.arguments.iter().map(|argument| self.value(argument)).collect();
        let types: Vec<ArrayType> = record.results.iter().map(|made| made.ty.clone()).collect();
        let found = step(prim, &operands, &types, &Compiled).map_err(|error| self.placed(id, error))?;
        self.runs += 1;
        // What was traced and did not run has no values now either.
        if let Some(found) = found {
            self.set(id, found.into_iter().map(Some).collect());
        }
        Ok(())
    }

    fn placed(&self, id: NodeId, error: Error) -> Error {
        match &self.nodes[id.at()].location {
            Some(location) => error.at(location.clone()),
            None => error,
        }
    }

    fn another_way(&self, id: NodeId) -> Error {
        let node = self.tape.node(id);
        let message = format!(
            "the program looked at @{} by `{}`, and may go another way now",
            node.path(),
            node.name()
        );
        let error = Error::new(ErrorKind::Structure, message).note(format!("it was: {}", node.expression()));
        self.placed(id, error.help("record the program again with the new value"))
    }

    fn not_recorded(&self, id: NodeId) -> Error {
        let message = format!(
            "what is inside of `{}` was not recorded, so that it cannot run again",
            self.nodes[id.at()].name
        );
        let error = Error::new(ErrorKind::Structure, message);
        self.placed(id, error.help("record in a context that enters the call"))
    }
}

/// All data in a graph.
fn data_of(graph: &Graph, data: &mut Vec<Tensor>) {
    for equation in &graph.equations {
        if equation.inputs.is_empty() {
            data.extend(constant_data(&equation.prim));
        }
        data_inside(&equation.prim, data);
    }
}

fn data_inside(prim: &Prim, data: &mut Vec<Tensor>) {
    let mut graphs: Vec<Arc<Graph>> = Vec::new();
    prim.rules().each_param(&mut |_, value| graphs.extend_from_slice(value.graphs()));
    graphs.iter().for_each(|graph| data_of(graph, data));
}
