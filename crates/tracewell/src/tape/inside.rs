//! What is inside of compiled functions, loops and branches: found when the recording has ended, by running their graphs
//! again, one compiled primitive at a time. Also puts the nodes in their final order.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Atom, Control, Graph, Lowering, Prim};
use tracewell_trace::Value;

use super::context::{Context, Seen};
use super::node::{Argument, Callee, Kind, NodeId, Origin, Produced, Record, Reference};
use super::record::{Recorded, called_graph, kind_of};
use crate::array::Array;
use crate::executor::Compiled;
use crate::stepping::step;

/// A value as it is given on: what it refers to, its type, and its data where known.
#[derive(Clone)]
struct Given {
    argument: Argument,
    ty: ArrayType,
    value: Option<Tensor>,
}

impl Given {
    fn splat(atom: &Atom) -> Option<Given> {
        let Atom::Splat(splat) = atom else { return None };
        let argument = Argument::Constant(Array::unfilled(Value::Splat(splat.clone())));
        let value = Tensor::full(splat.literal, splat.shape.clone());
        Some(Given { argument, ty: splat.ty(), value: Some(value) })
    }

    /// A part of it, of another type.
    fn part(&self, ty: ArrayType, value: Option<Tensor>) -> Given {
        Given { argument: self.argument.clone(), ty, value }
    }
}

/// A primitive failed: nothing comes after it.
struct Stopped;

/// Nodes that grow.
struct Inside<'c> {
    nodes: Vec<Record>,
    context: &'c dyn Context,
    /// How the call that is opened failed, if it did.
    failure: Option<Record>,
    /// Where data was made first. A graph has data that it captured as a constant, which comes from there.
    made: FxHashMap<DataKey, Reference>,
}

/// Data by its address, which stays its own as long as the tape keeps it.
type DataKey = (usize, ArrayType);

fn data_key(tensor: &Tensor) -> Option<DataKey> {
    (!tensor.is_empty()).then(|| (tensor.as_ptr() as usize, ArrayType::of(tensor)))
}

fn makers(nodes: &[Record]) -> FxHashMap<DataKey, Reference> {
    let mut made = FxHashMap::default();
    for (at, record) in nodes.iter().enumerate() {
        // A call has what was made inside of it.
        if matches!(
            record.kind,
            Kind::Program | Kind::Call(Callee::Function(_) | Callee::Api(_) | Callee::Traced)
        ) {
            continue;
        }
        for (result, produced) in record.results.iter().enumerate() {
            if let Some(key) = produced.value.as_ref().and_then(data_key) {
                made.entry(key).or_insert(Reference { node: NodeId(at as u32), result });
            }
        }
    }
    made
}

/// The nodes of a recording in their final order, with what is inside of compiled calls.
pub(super) fn opened(recorded: Recorded, context: &dyn Context) -> Vec<Record> {
    let Recorded { mut nodes, constants } = recorded;
    let Some(root) = nodes.first_mut() else { return nodes };
    let parameters = root.children.clone();
    root.children = constants.into_iter().chain(parameters).collect();
    let nodes = in_order(nodes);
    let count = nodes.len();
    let made = makers(&nodes);
    let mut inside = Inside { nodes, context, failure: None, made };
    for at in 0..count {
        inside.open(NodeId(at as u32));
    }
    in_order(inside.nodes)
}

/// Opens one node again after its arguments have changed.
pub(super) fn reopened(nodes: Vec<Record>, node: NodeId, context: &dyn Context) -> Vec<Record> {
    let made = makers(&nodes);
    let mut inside = Inside { nodes, context, failure: None, made };
    inside.nodes[node.at()].children.clear();
    inside.open(node);
    inside.nodes
}

impl Inside<'_> {
    /// Fills a call of a graph, a loop or a branch.
    fn open(&mut self, id: NodeId) {
        let record = &self.nodes[id.at()];
        let prim = match &record.kind {
            Kind::Call(Callee::Primitive(prim)) => Some(prim.clone()),
            Kind::Call(Callee::Jit) => None,
            _ => return,
        };
        let graph = record.graph.clone();
        // One that failed while it was traced has no graph: what it did so far is there already.
        if (graph.is_none() && prim.is_none()) || !self.enters(id) {
            return;
        }
        let given: Vec<Given> =
            record.arguments.clone().iter().map(|argument| self.given(argument)).collect();
        let failures = std::mem::take(&mut self.nodes[id.at()].children);
        self.failure = failures.into_iter().next().map(|failed| self.nodes[failed.at()].clone());
        let stopped = match (graph, prim) {
            (Some(graph), _) => self.graph(id, &graph, &given).is_err(),
            (None, Some(prim)) => self.control(id, &prim, &given).is_err(),
            (None, None) => false,
        };
        if let Some(failure) = self.failure.take().filter(|_| !stopped) {
            self.push(id, failure);
        }
    }

    fn given(&self, argument: &Argument) -> Given {
        let (ty, value) = match argument {
            Argument::Reference(reference) => {
                let produced = &self.nodes[reference.node.at()].results[reference.result];
                (produced.ty.clone(), produced.value.clone())
            }
            Argument::Constant(array) => (array.ty(), array.value().known()),
            Argument::Unknown(ty) => (ty.clone(), None),
        };
        Given { argument: argument.clone(), ty, value }
    }

    /// The names of the calls around a node of this parent.
    fn around(&self, parent: NodeId) -> Vec<String> {
        let up = |id: &NodeId| self.nodes[id.at()].parent;
        let mut names: Vec<String> =
            std::iter::successors(Some(parent), up).map(|id| self.nodes[id.at()].name.clone()).collect();
        // The root is no call.
        names.pop();
        names.reverse();
        names
    }

    fn ask<R>(&self, parent: NodeId, record: &Record, question: impl FnOnce(&Seen<'_>) -> R) -> R {
        let around = self.around(parent);
        question(&Seen {
            kind: &record.kind,
            name: &record.name,
            depth: around.len() + 1,
            around: &around,
            location: record.location.as_ref(),
        })
    }

    fn enters(&self, id: NodeId) -> bool {
        let record = &self.nodes[id.at()];
        record.parent.is_none_or(|parent| self.ask(parent, record, |seen| self.context.enters(seen)))
    }

    fn push(&mut self, parent: NodeId, mut record: Record) -> NodeId {
        record.parent = Some(parent);
        let mut notes = std::mem::take(&mut record.notes);
        self.ask(parent, &record, |seen| self.context.annotate(seen, &mut notes));
        record.notes = notes;
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(record);
        self.nodes[parent.at()].children.push(id);
        id
    }

    fn wants(&self, parent: NodeId, record: &Record) -> bool {
        self.ask(parent, record, |seen| self.context.records(seen))
    }

    /// The equations of a graph, as children of its call.
    fn graph(&mut self, parent: NodeId, graph: &Arc<Graph>, given: &[Given]) -> Result<Vec<Given>, Stopped> {
        let mut values: Vec<Option<Given>> = vec![None; graph.types.len()];
        for (number, (var, given)) in graph.inputs.iter().zip(given).enumerate() {
            let mut record = Record::new(Kind::Argument { number }, format!("%{}", var.0));
            record.arguments = vec![given.argument.clone()];
            record.results = vec![Produced { ty: graph.ty(*var).clone(), value: given.value.clone() }];
            record.rerun = true;
            let node = self.push(parent, record);
            let argument = Argument::Reference(Reference { node, result: 0 });
            values[var.0 as usize] =
                Some(Given { argument, ty: graph.ty(*var).clone(), value: given.value.clone() });
        }
        let look = |values: &[Option<Given>], atom: &Atom| {
            let found = || values[atom.var()?.0 as usize].clone();
            let unknown = || {
                let ty = graph.atom_type(atom);
                Given { argument: Argument::Unknown(ty.clone()), ty, value: None }
            };
            Given::splat(atom).or_else(found).unwrap_or_else(unknown)
        };
        for (number, equation) in graph.equations.iter().enumerate() {
            if let Some(failure) = self.failure.take_if(|failure| {
                equation.prim.has_effect()
                    && failure.location.is_some()
                    && failure.location == equation.location
            }) {
                self.push(parent, failure);
                return Err(Stopped);
            }
            let operands: Vec<Given> = equation.inputs.iter().map(|atom| look(&values, atom)).collect();
            let types: Vec<ArrayType> = equation.outputs.iter().map(|&var| graph.ty(var).clone()).collect();
            let origin = Origin::Graph(graph.clone(), number);
            let results = self.equation(
                parent,
                &equation.prim,
                &operands,
                &types,
                Some(origin),
                equation.location.as_ref(),
            )?;
            for (var, result) in equation.outputs.iter().zip(results) {
                values[var.0 as usize] = Some(result);
            }
        }
        let results: Vec<Given> = graph.outputs.iter().map(|atom| look(&values, atom)).collect();
        self.returned(parent, &results);
        Ok(results)
    }

    fn returned(&mut self, parent: NodeId, results: &[Given]) {
        let mut record = Record::new(Kind::Return, "return");
        record.arguments = results.iter().map(|given| given.argument.clone()).collect();
        record.results = results
            .iter()
            .map(|given| Produced { ty: given.ty.clone(), value: given.value.clone() })
            .collect();
        record.rerun = true;
        self.push(parent, record);
    }

    /// One primitive, run again.
    fn equation(
        &mut self,
        parent: NodeId,
        prim: &Prim,
        operands: &[Given],
        types: &[ArrayType],
        origin: Option<Origin>,
        location: Option<&tracewell_graph::Location>,
    ) -> Result<Vec<Given>, Stopped> {
        let operand_types: Vec<ArrayType> = operands.iter().map(|given| given.ty.clone()).collect();
        let (kind, name) = kind_of(prim, &operand_types, types);
        let mut record = Record::new(kind, name);
        record.arguments = operands.iter().map(|given| given.argument.clone()).collect();
        record.origin = origin;
        record.location = location.cloned();
        record.graph = called_graph(prim, &operand_types, types);
        record.rerun = true;
        let data: Vec<Option<Tensor>> = operands.iter().map(|given| given.value.clone()).collect();
        let values = match step(prim, &data, types, &Compiled) {
            Ok(values) => values,
            Err(error) => {
                record.kind = Kind::Failure { message: error.message().to_string() };
                self.push(parent, record);
                return Err(Stopped);
            }
        };
        let data = |result: usize| values.as_ref().and_then(|values| values.get(result).cloned());
        let made: Vec<Produced> =
            types.iter().enumerate().map(|(i, ty)| Produced { ty: ty.clone(), value: data(i) }).collect();
        record.results = made.clone();
        if record.kind == Kind::Constant
            && let [constant] = made.as_slice()
            && let Some(key) = constant.value.as_ref().and_then(data_key)
            && let Some(&reference) = self.made.get(&key)
        {
            let argument = Argument::Reference(reference);
            return Ok(vec![Given { argument, ty: constant.ty.clone(), value: constant.value.clone() }]);
        }
        if !self.wants(parent, &record) {
            let constant = |made: &Produced| match made.array() {
                Some(array) => Argument::Constant(array),
                None => Argument::Unknown(made.ty.clone()),
            };
            let given = made.iter().map(|m| Given {
                argument: constant(m),
                ty: m.ty.clone(),
                value: m.value.clone(),
            });
            return Ok(given.collect());
        }
        let graph = record.graph.clone();
        let is_call = matches!(record.kind, Kind::Call(_));
        let node = self.push(parent, record);
        if is_call && self.enters(node) {
            match graph {
                Some(graph) => drop(self.graph(node, &graph, operands)?),
                None => self.control(node, prim, operands)?,
            }
        }
        let given = |(result, made): (usize, Produced)| {
            let argument = Argument::Reference(Reference { node, result });
            Given { argument, ty: made.ty, value: made.value }
        };
        Ok(made.into_iter().enumerate().map(given).collect())
    }

    /// Turns of a loop, or the branch that was taken, as many as the context wants.
    fn control(&mut self, node: NodeId, prim: &Prim, operands: &[Given]) -> Result<(), Stopped> {
        let record = &self.nodes[node.at()];
        let Some(parent) = record.parent else { return Ok(()) };
        let turns = self.ask(parent, record, |seen| self.context.turns(seen));
        // What was done once is not done again, and what is not known decides nothing.
        if turns == 0 || prim.has_effect() || operands.iter().any(|given| given.value.is_none()) {
            return Ok(());
        }
        let types: Vec<ArrayType> = operands.iter().map(|given| given.ty.clone()).collect();
        let results: Vec<ArrayType> = record.results.iter().map(|result| result.ty.clone()).collect();
        match prim.rules().lower(&types, &results) {
            Ok(Lowering::Control(Control::Switch(switch))) => {
                let index = operands[0].value.as_ref().map_or(0, |index| index.literal(0).as_i64());
                let taken = index.clamp(0, switch.branches.len() as i64 - 1) as usize;
                self.branch(node, &operands[0], "switch");
                self.case(node, Callee::Case(taken), &switch.branches[taken], &operands[1..]).map(drop)
            }
            Ok(Lowering::Control(Control::While(repeat))) => {
                let (cond, rest) = operands.split_at(repeat.cond_consts);
                let (body, carries) = rest.split_at(repeat.body_consts);
                let mut carries = carries.to_vec();
                for turn in 0..turns {
                    let id = self.turn(node, turn, &carries);
                    let holds =
                        self.case(id, Callee::Case(0), &repeat.cond, &[cond, carries.as_slice()].concat())?;
                    self.branch(id, &holds[0], "while");
                    if holds[0].value.as_ref().is_none_or(|holds| holds.literal(0).as_i64() == 0) {
                        return Ok(());
                    }
                    carries =
                        self.case(id, Callee::Case(1), &repeat.body, &[body, carries.as_slice()].concat())?;
                    self.returned(id, &carries);
                }
                Ok(())
            }
            Ok(Lowering::Control(Control::Scan(scan))) => {
                let [consts, carries, xs] = scan.groups(operands.len());
                let mut carried = operands[carries].to_vec();
                for turn in 0..turns.min(scan.length) {
                    let element = if scan.reverse { scan.length - 1 - turn } else { turn };
                    let parts = operands[xs.clone()].iter().map(|x| along(x, 0, element));
                    let all: Vec<Given> =
                        operands[consts.clone()].iter().cloned().chain(carried).chain(parts).collect();
                    carried = self.case(node, Callee::Turn(turn), &scan.body, &all)?;
                    carried.truncate(scan.carries);
                }
                Ok(())
            }
            Ok(Lowering::Control(Control::Each(each))) => {
                for turn in 0..turns.min(each.size) {
                    let part = |(x, &axis): (&Given, &i64)| match usize::try_from(axis) {
                        Ok(axis) => along(x, axis, turn),
                        Err(_) => x.clone(),
                    };
                    let all: Vec<Given> = operands.iter().zip(&each.axes).map(part).collect();
                    self.case(node, Callee::Turn(turn), &each.graph, &all)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn turn(&mut self, parent: NodeId, turn: usize, given: &[Given]) -> NodeId {
        let mut record = Record::new(Kind::Call(Callee::Turn(turn)), format!("turn {turn}"));
        record.arguments = given.iter().map(|given| given.argument.clone()).collect();
        record.rerun = true;
        self.push(parent, record)
    }

    /// A graph of a loop or a branch as a call of its own.
    fn case(
        &mut self,
        parent: NodeId,
        callee: Callee,
        graph: &Arc<Graph>,
        given: &[Given],
    ) -> Result<Vec<Given>, Stopped> {
        let name = match callee {
            Callee::Turn(turn) => format!("turn {turn}"),
            _ => graph.name.clone(),
        };
        let mut record = Record::new(Kind::Call(callee), name);
        record.arguments = given.iter().map(|given| given.argument.clone()).collect();
        record.graph = Some(graph.clone());
        record.rerun = true;
        let node = self.push(parent, record);
        let results = self.graph(node, graph, given)?;
        let produced = |given: &Given| Produced { ty: given.ty.clone(), value: given.value.clone() };
        self.nodes[node.at()].results = results.iter().map(produced).collect();
        let outside = |(result, given): (usize, Given)| Given {
            argument: Argument::Reference(Reference { node, result }),
            ..given
        };
        Ok(results.into_iter().enumerate().map(outside).collect())
    }

    fn branch(&mut self, parent: NodeId, condition: &Given, what: &str) {
        let mut record = Record::new(Kind::Branch, what);
        record.arguments = vec![condition.argument.clone()];
        record.results = vec![Produced { ty: condition.ty.clone(), value: condition.value.clone() }];
        record.rerun = true;
        self.push(parent, record);
    }
}

/// The element of an array at an index of its first or last axis.
fn along(x: &Given, axis: usize, index: usize) -> Given {
    let ty = x.ty.with_shape(x.ty.shape.remove(axis));
    let value = x.value.as_ref().and_then(|tensor| {
        if axis == 0 {
            return tensor.slice_leading(index, 1).ok()?.reshape(ty.shape.clone()).ok();
        }
        let size = tensor.shape().size(axis);
        let elements: Vec<_> = (0..ty.shape.len()).map(|e| tensor.literal(e * size + index)).collect();
        Tensor::from_literals(ty.dtype, ty.shape.clone(), &elements).ok()
    });
    x.part(ty, value)
}

/// Numbers nodes from the root, each call before what is inside of it, and leaves out what nothing holds any more.
pub(super) fn in_order(mut nodes: Vec<Record>) -> Vec<Record> {
    let mut order: Vec<NodeId> = Vec::with_capacity(nodes.len());
    let mut next = vec![NodeId(0)];
    while let Some(id) = next.pop() {
        order.push(id);
        next.extend(nodes[id.at()].children.iter().rev());
    }
    let mut number: Vec<Option<NodeId>> = vec![None; nodes.len()];
    for (new, old) in order.iter().enumerate() {
        number[old.at()] = Some(NodeId(new as u32));
    }
    // What refers to a node that is gone keeps its value.
    let lost: Vec<(NodeId, usize, Argument)> = order
        .iter()
        .flat_map(|&id| {
            nodes[id.at()].arguments.iter().enumerate().map(move |(i, argument)| (id, i, argument))
        })
        .filter_map(|(id, i, argument)| match argument {
            Argument::Reference(reference) if number[reference.node.at()].is_none() => {
                let made = nodes[reference.node.at()].results.get(reference.result)?;
                let kept = made.array().map_or(Argument::Unknown(made.ty.clone()), Argument::Constant);
                Some((id, i, kept))
            }
            _ => None,
        })
        .collect();
    for (id, i, kept) in lost {
        nodes[id.at()].arguments[i] = kept;
    }
    let mut taken: Vec<Option<Record>> = nodes.into_iter().map(Some).collect();
    let mut result: Vec<Record> =
        order.iter().map(|id| taken[id.at()].take().expect("each node has one place")).collect();
    for record in &mut result {
        record.parent = record.parent.and_then(|parent| number[parent.at()]);
        for child in &mut record.children {
            *child = number[child.at()].expect("children are reached from their parent");
        }
        for argument in &mut record.arguments {
            if let Argument::Reference(reference) = argument {
                reference.node = number[reference.node.at()].expect("the lost were replaced");
            }
        }
    }
    for at in 0..result.len() {
        for (position, child) in result[at].children.clone().into_iter().enumerate() {
            result[child.at()].position = position + 1;
        }
    }
    result
}
