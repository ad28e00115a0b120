//! A tape, or a part of it, as a graph.

use rustc_hash::FxHashMap;
use tracewell_graph::{Atom, Graph, GraphBuilder, Location};
use tracewell_trace::{Error, ErrorKind, complete};

use super::Tape;
use super::node::{Argument, Callee, Kind, Node, NodeId, Reference};
use crate::array::Array;
use crate::stepping::call_of;

/// A graph that was taken out of a tape.
#[derive(Clone, Debug)]
pub struct Extract {
    /// What was computed. It can be compiled: [`Lowered::new`](crate::Lowered::new).
    pub graph: Graph,
    /// The nodes that are its inputs: parameters of the root, and constants of the program.
    pub inputs: Vec<NodeId>,
    /// Their values, for which the graph gives what the tape says.
    pub values: Vec<Array>,
}

impl Tape {
    /// All that the recorded function returned, as a graph of its parameters and constants. Calls are inlined, and the
    /// way that Rust `if`s took is held fixed.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let tape = Tape::call(|x: &Array| x.sin() * 2.0, &Array::from(0.5f32));
    /// let extract = tape.graph().unwrap();
    /// let compiled = Lowered::new(&extract.graph).unwrap();
    /// let again = compiled.run(&extract.values).unwrap();
    /// assert_eq!(again[0].item::<f32>(), tape.value().unwrap().item::<f32>());
    /// ```
    #[track_caller]
    pub fn graph(&self) -> Result<Extract, Error> {
        let location = Location::caller();
        let returned = self.root().children().rev().find(|node| *node.kind() == Kind::Return);
        match returned {
            Some(returned) => extract(self, returned.arguments(), &location),
            None => Err(complete(unfinished("the program"), &location)),
        }
    }
}

impl Node<'_> {
    /// What had to be computed for its values, as a graph of parameters of the root and constants.
    #[track_caller]
    pub fn graph(&self) -> Result<Extract, Error> {
        let references: Vec<Argument> = (0..self.types().len())
            .map(|result| Argument::Reference(Reference { node: self.id, result }))
            .collect();
        extract(self.tape, &references, &Location::caller())
    }
}

fn unfinished(what: &str) -> Error {
    Error::new(ErrorKind::Structure, format!("{what} has no value that a graph could give"))
        .note("it failed, or it was traced and did not run")
}

fn extract(tape: &Tape, outputs: &[Argument], location: &Location) -> Result<Extract, Error> {
    let mut extraction =
        Extraction { tape, builder: GraphBuilder::new(), atoms: FxHashMap::default(), inputs: Vec::new() };
    let found: Result<Vec<Atom>, Error> = outputs.iter().map(|output| extraction.argument(output)).collect();
    let found = found.map_err(|error| complete(error, location))?;
    // Inputs in the order of the program, whatever asked for them first.
    extraction.inputs.sort_unstable_by_key(|(node, _)| *node);
    let order: Vec<_> = extraction.inputs.iter().map(|(_, var)| *var).collect();
    let inputs: Vec<NodeId> = extraction.inputs.iter().map(|(node, _)| *node).collect();
    let values = inputs.iter().filter_map(|&id| tape.node(id).value()).collect();
    let graph = extraction.builder.finish_with_inputs("tape", &order, found);
    Ok(Extract { graph, inputs, values })
}

struct Extraction<'t> {
    tape: &'t Tape,
    builder: GraphBuilder,
    atoms: FxHashMap<Reference, Atom>,
    inputs: Vec<(NodeId, tracewell_graph::Var)>,
}

impl Extraction<'_> {
    fn argument(&mut self, argument: &Argument) -> Result<Atom, Error> {
        match argument {
            Argument::Constant(array) => match array.value() {
                tracewell_trace::Value::Splat(splat) => Ok(Atom::Splat(splat.clone())),
                value => value
                    .known()
                    .map(|tensor| self.builder.constant(&tensor))
                    .ok_or_else(|| unfinished("a constant")),
            },
            Argument::Unknown(ty) => Err(unfinished(&format!("a value of type {ty}"))),
            Argument::Reference(reference) => self.reference(*reference),
        }
    }

    /// The atom of a value. Deep tapes must not exhaust the stack, so that what is needed is put on a list.
    fn reference(&mut self, wanted: Reference) -> Result<Atom, Error> {
        let mut next = vec![self.tape.source(wanted)];
        while let Some(&at) = next.last() {
            if self.atoms.contains_key(&at) {
                next.pop();
                continue;
            }
            let node = self.tape.node(at.node);
            let missing: Vec<Reference> = match node.kind() {
                Kind::Primitive(_) | Kind::Call(_) => {
                    node.arguments().iter().filter_map(|a| self.missing(a)).collect()
                }
                _ => Vec::new(),
            };
            if missing.is_empty() {
                self.define(node, at)?;
                next.pop();
            } else {
                next.extend(missing);
            }
        }
        Ok(self.atoms[&self.tape.source(wanted)].clone())
    }

    fn missing(&self, argument: &Argument) -> Option<Reference> {
        let Argument::Reference(reference) = argument else { return None };
        let source = self.tape.source(*reference);
        (!self.atoms.contains_key(&source)).then_some(source)
    }

    /// The equation of a node whose arguments have atoms.
    fn define(&mut self, node: Node<'_>, at: Reference) -> Result<(), Error> {
        let prim = match node.kind() {
            Kind::Primitive(prim) | Kind::Call(Callee::Primitive(prim)) => Some(prim.clone()),
            Kind::Call(_) => node.graph_called().map(call_of),
            Kind::Argument { .. } | Kind::Constant => None,
            _ => return Err(unfinished(node.name())),
        };
        let Some(prim) = prim else {
            if node.is_call() {
                let help = "record it in a context that enters the call";
                return Err(unfinished(&format!("the call of `{}`", node.name())).help(help));
            }
            // A constant inside of a graph stays one; what the program gave is an input.
            let constant = node.equation().and_then(|_| node.value()).and_then(|value| value.value().known());
            let atom = match (constant, node.ty()) {
                (Some(tensor), _) => self.builder.constant(&tensor),
                (None, Some(ty)) => {
                    let var = self.builder.input(ty.clone());
                    self.inputs.push((node.id, var));
                    Atom::Var(var)
                }
                (None, None) => return Err(unfinished(node.name())),
            };
            self.atoms.insert(at, atom);
            return Ok(());
        };
        if prim.has_effect() {
            let message = format!("`{}` has an effect, which a part of a tape must not repeat", prim.name());
            return Err(Error::new(ErrorKind::Structure, message));
        }
        let arguments: Vec<Atom> =
            node.arguments().iter().map(|a| self.argument(a)).collect::<Result<_, _>>()?;
        self.builder.at(node.location().cloned());
        let made = self.builder.bind(prim, &arguments)?;
        for (result, atom) in made.into_iter().enumerate() {
            self.atoms.insert(Reference { node: node.id, result }, atom);
        }
        Ok(())
    }
}
