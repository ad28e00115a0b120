//! Making a graph that fails small, so that it can be read.
//!
//! Greedy: of all graphs that are one edit simpler, the first that still fails takes the place of the last,
//! until none does. Every edit removes an equation, an output or an input, or puts a graph in the place of what runs
//! it, so it ends.

use std::sync::Arc;

use tracewell_graph::{Atom, Equation, Graph, GraphBuilder, Lowering, ParamValue, Prim, Var, verify};

use super::once::{applied_once, may_change};

/// What becomes of one equation.
enum Edit {
    /// New inputs stand for its results.
    Inputs,
    /// Ones stand for its results.
    Ones,
    /// One of its operands stands for its only result.
    Operand(usize),
    /// The graph that it means stands in its place.
    Inline(Arc<Graph>),
    /// Another primitive of the same types.
    Replace(Prim),
}

/// The smallest graph that can be reached from this one and of which `fails` still holds.
///
/// The graphs it is asked about may have other inputs than the first.
pub fn shrink(graph: Graph, fails: &mut dyn FnMut(&Graph) -> bool) -> Graph {
    let mut smallest = graph;
    loop {
        let smaller = candidates(&smallest).find(|candidate| fails(candidate));
        match smaller {
            Some(smaller) => smallest = smaller,
            None => return smallest,
        }
    }
}

/// Graphs one edit simpler, the boldest first. Made one by one, as they are asked for.
fn candidates(graph: &Graph) -> impl Iterator<Item = Graph> {
    // The results of one equation as outputs: nothing after it counts. It may be one that no output needs.
    let prefixes = graph.equations.iter().map(|equation| {
        let outputs = equation.outputs.iter().copied().map(Atom::from).collect();
        sweep(&Graph { outputs, ..graph.clone() }, false)
    });
    let prefixes = prefixes.filter(|prefix| size(prefix) < size(graph));
    let outputs = graph.outputs.len();
    let one_output = (0..if outputs > 1 { outputs } else { 0 }).map(|i| with_outputs(graph, |j| j == i));
    let fewer_outputs = (0..if outputs > 2 { outputs } else { 0 }).map(|i| with_outputs(graph, |j| j != i));
    let dead = std::iter::once_with(|| sweep(graph, false)).filter(|swept| size(swept) < size(graph));
    // Late equations first: with one go all those that only it needs.
    let edits = (0..graph.equations.len()).rev().flat_map(|i| edits(graph, i).map(move |edit| (i, edit)));
    let edited = edits.map(|(i, edit)| {
        let edited = apply(graph, i, &edit);
        // What a call computed in vain may be what matters; it can be swept in the next round.
        if matches!(edit, Edit::Inline(_)) { edited } else { sweep(&edited, false) }
    });
    // Weak numbers that meet in another place may not be well-typed there.
    let edited = edited.filter(|edited| verify(edited).is_ok());
    let fewer_inputs = graph.inputs.iter().map(|&input| sweep(&without_input(graph, input), false));
    prefixes.chain(one_output).chain(fewer_outputs).chain(dead).chain(edited).chain(fewer_inputs)
}

/// Equations, also nested ones, then outputs, then inputs.
fn size(graph: &Graph) -> (usize, usize, usize) {
    let inside =
        |equation: &Equation| nested(&equation.prim).iter().map(|inner| size(inner).0).sum::<usize>();
    let equations = graph.equations.iter().map(|equation| 1 + inside(equation)).sum();
    (equations, graph.outputs.len(), graph.inputs.len())
}

/// The graphs among a primitive's parameters.
fn nested(prim: &Prim) -> Vec<Arc<Graph>> {
    let mut all = Vec::new();
    prim.rules().each_param(&mut |_, value| all.extend_from_slice(value.graphs()));
    all
}

/// All that can be done with one equation.
fn edits(graph: &Graph, number: usize) -> impl Iterator<Item = Edit> {
    let equation = &graph.equations[number];
    let same_type = |atom: &Atom| match equation.outputs.as_slice() {
        [var] => graph.atom_type(atom) == *graph.ty(*var),
        _ => false,
    };
    let operands = equation.inputs.iter().enumerate().filter(move |(_, atom)| same_type(atom));
    let operands = operands.map(|(i, _)| Edit::Operand(i));
    let types = |atoms: &[Atom]| atoms.iter().map(|atom| graph.atom_type(atom)).collect::<Vec<_>>();
    let outputs: Vec<Atom> = equation.outputs.iter().copied().map(Atom::from).collect();
    let inline = match equation.prim.rules().lower(&types(&equation.inputs), &types(&outputs)) {
        // A graph that expands to itself would never end.
        Ok(Lowering::Graph(inner)) if !nested(&equation.prim).is_empty() => vec![inner],
        Ok(Lowering::Control(control)) => applied_once(&control, &types(&equation.inputs)),
        _ => Vec::new(),
    };
    let inline = inline.into_iter().map(Edit::Inline);
    let inner = simpler_inside(&equation.prim).into_iter().map(Edit::Replace);
    [Edit::Inputs, Edit::Ones].into_iter().chain(operands).chain(inline).chain(inner)
}

/// The primitive with one equation fewer in one of the graphs it nests, whose inputs and outputs stay.
fn simpler_inside(prim: &Prim) -> Vec<Prim> {
    let graphs = nested(prim);
    let simpler = graphs.iter().enumerate().flat_map(|(number, inner)| {
        let may_change = may_change(prim, number, inner);
        let equations = (0..inner.equations.len()).rev().filter(move |&i| may_change[i]);
        let edited = equations.flat_map(|i| {
            let edits = edits(inner, i).filter(|edit| !matches!(edit, Edit::Inputs));
            edits.map(|edit| sweep(&apply(inner, i, &edit), true)).collect::<Vec<Graph>>()
        });
        edited.map(move |simpler| (number, simpler))
    });
    simpler.filter_map(|(number, simpler)| with_graph(prim, number, &Arc::new(simpler))).collect()
}

/// The primitive with another graph for the one of this number.
fn with_graph(prim: &Prim, number: usize, other: &Arc<Graph>) -> Option<Prim> {
    let mut next = 0..;
    let mut place = |graph: Arc<Graph>| if next.next() == Some(number) { other.clone() } else { graph };
    let mut params = Vec::new();
    prim.rules().each_param(&mut |name, value| {
        let value = match value {
            ParamValue::Graph(graph) => ParamValue::Graph(place(graph)),
            ParamValue::Graphs(graphs) => ParamValue::Graphs(graphs.into_iter().map(&mut place).collect()),
            value => value,
        };
        params.push((name.to_owned(), value));
    });
    Prim::from_params(prim.name(), &params)
}

fn with_outputs(graph: &Graph, keep: impl Fn(usize) -> bool) -> Graph {
    let outputs = graph.outputs.iter().enumerate().filter(|(i, _)| keep(*i)).map(|(_, atom)| atom.clone());
    sweep(&Graph { outputs: outputs.collect(), ..graph.clone() }, false)
}

/// A graph under reconstruction: what stands for each variable of the old one.
struct Rebuild<'g> {
    graph: &'g Graph,
    builder: GraphBuilder,
    map: Vec<Option<Atom>>,
}

impl<'g> Rebuild<'g> {
    fn new(graph: &'g Graph) -> Rebuild<'g> {
        Rebuild { graph, builder: GraphBuilder::new(), map: vec![None; graph.types.len()] }
    }

    fn set(&mut self, var: Var, atom: Atom) {
        self.map[var.0 as usize] = Some(atom);
    }

    fn input(&mut self, var: Var) {
        let atom = self.builder.input(self.graph.ty(var).clone()).into();
        self.set(var, atom);
    }

    fn ones(&mut self, var: Var) {
        self.set(var, Atom::fill(self.graph.ty(var), 1.0));
    }

    fn atoms(&self, atoms: &[Atom]) -> Vec<Atom> {
        let look = |atom: &Atom| match atom {
            Atom::Var(var) => self.map[var.0 as usize].clone().expect("defined before it is used"),
            Atom::Splat(_) => atom.clone(),
        };
        atoms.iter().map(look).collect()
    }

    fn equation(&mut self, prim: &Prim, equation: &Equation) {
        let inputs = self.atoms(&equation.inputs);
        let types: Vec<_> = equation.outputs.iter().map(|&var| self.graph.ty(var).clone()).collect();
        self.builder.at(equation.location.clone());
        let outputs = self.builder.push(prim.clone(), &inputs, types);
        for (&var, atom) in equation.outputs.iter().zip(outputs) {
            self.set(var, atom);
        }
    }

    fn finish(self) -> Graph {
        let outputs = self.atoms(&self.graph.outputs);
        self.builder.finish(self.graph.name.clone(), outputs)
    }
}

/// The graph with one equation edited.
fn apply(graph: &Graph, number: usize, edit: &Edit) -> Graph {
    let mut rebuild = Rebuild::new(graph);
    for &var in &graph.inputs {
        rebuild.input(var);
    }
    for (i, equation) in graph.equations.iter().enumerate() {
        match edit {
            _ if i != number => rebuild.equation(&equation.prim, equation),
            Edit::Replace(prim) => rebuild.equation(prim, equation),
            Edit::Inputs => equation.outputs.iter().for_each(|&var| rebuild.input(var)),
            Edit::Ones => equation.outputs.iter().for_each(|&var| rebuild.ones(var)),
            Edit::Operand(operand) => {
                let atom = rebuild.atoms(&equation.inputs).swap_remove(*operand);
                equation.outputs.iter().for_each(|&var| rebuild.set(var, atom.clone()));
            }
            Edit::Inline(inner) => {
                let inputs = rebuild.atoms(&equation.inputs);
                rebuild.builder.at(equation.location.clone());
                let outputs = rebuild.builder.inline(inner, &inputs);
                for (&var, atom) in equation.outputs.iter().zip(outputs) {
                    rebuild.set(var, atom);
                }
            }
        }
    }
    rebuild.finish()
}

/// The graph with ones in place of an input.
fn without_input(graph: &Graph, input: Var) -> Graph {
    let mut rebuild = Rebuild::new(graph);
    for &var in &graph.inputs {
        if var == input { rebuild.ones(var) } else { rebuild.input(var) }
    }
    for equation in &graph.equations {
        rebuild.equation(&equation.prim, equation);
    }
    rebuild.finish()
}

/// The graph without what no output needs; inputs may be part of a signature that must stay.
fn sweep(graph: &Graph, keep_inputs: bool) -> Graph {
    let mut live = vec![false; graph.types.len()];
    let mark = |atoms: &[Atom], live: &mut [bool]| {
        atoms.iter().filter_map(Atom::var).for_each(|var| live[var.0 as usize] = true);
    };
    mark(&graph.outputs, &mut live);
    let mut needed = Vec::new();
    for equation in graph.equations.iter().rev() {
        if equation.outputs.iter().any(|var| live[var.0 as usize]) {
            mark(&equation.inputs, &mut live);
            needed.push(equation);
        }
    }
    let mut rebuild = Rebuild::new(graph);
    for &var in graph.inputs.iter().filter(|var| keep_inputs || live[var.0 as usize]) {
        rebuild.input(var);
    }
    for equation in needed.into_iter().rev() {
        rebuild.equation(&equation.prim, equation);
    }
    rebuild.finish()
}
