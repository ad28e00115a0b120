//! Complex numbers taken apart: programs compute with real and imaginary parts, never with complex numbers.
//!
//! What a primitive does to the parts, its lowering says: [`Lowering::Parts`], views and pieces do the same to each; a
//! graph is written with `real`, `imag` and `complex`, which cancel here. A library call, or what says nothing, gets
//! whole arrays. So complex arrays are left at the inputs and outputs of the graph and around such calls only, where
//! they lie in memory with their parts side by side.
//!
//! Invariant: the types of inputs and outputs stay; the graphs of control flow have parts only.

use std::sync::Arc;

use tracewell_array::Tensor;

use crate::builder::GraphBuilder;
use crate::graph::{Atom, Equation, Graph, Location, Splat};
use crate::prim::{Complex, Constant, Each, Imag, Prim, Real, Scan, Switch, While};
use crate::primitive::{Control, Lowering};
use crate::ty::ArrayType;

/// The graph with parts in place of complex numbers, wherever nobody needs these whole.
pub fn take_apart(graph: &Graph) -> Graph {
    if !has_complex(graph) {
        return graph.clone();
    }
    let mut walk = Walk::default();
    let given: Vec<Atom> = graph.input_types().into_iter().map(|ty| walk.builder.input(ty).into()).collect();
    let inputs = given.into_iter().map(|atom| walk.keep(Value::whole(atom))).collect();
    let results = walk.graph(graph, inputs);
    let outputs = results.iter().zip(graph.output_types()).map(|(&id, ty)| walk.whole(id, &ty)).collect();
    walk.builder.finish(graph.name.clone(), outputs)
}

/// Whether a complex array is anywhere in a graph, or in one that it runs.
pub fn has_complex(graph: &Graph) -> bool {
    let complex = |ty: &ArrayType| ty.dtype.is_complex();
    let inside = |equation: &Equation| {
        let mut found = equation.inputs.iter().any(|atom| complex(&graph.atom_type(atom)));
        if equation.prim.nests() {
            equation.prim.rules().each_param(&mut |_, value| {
                found |= value.graphs().iter().any(|inner| has_complex(inner));
            });
        }
        found
    };
    graph.types.iter().any(complex)
        || graph.output_types().iter().any(complex)
        || graph.equations.iter().any(inside)
}

/// An array of the old graph in the new one.
#[derive(Clone)]
struct Value {
    /// Itself; of a complex one, if it was needed or given whole.
    whole: Option<Atom>,
    /// The real and the imaginary part of a complex one, if they are known.
    parts: Option<[Atom; 2]>,
}

impl Value {
    fn whole(atom: Atom) -> Value {
        Value { whole: Some(atom), parts: None }
    }

    fn parts(re: Atom, im: Atom) -> Value {
        Value { whole: None, parts: Some([re, im]) }
    }
}

/// The number of a value.
type Id = usize;

#[derive(Default)]
struct Walk {
    builder: GraphBuilder,
    values: Vec<Value>,
    /// The line of the equation whose lowering is being copied.
    location: Option<Location>,
}

impl Walk {
    fn keep(&mut self, value: Value) -> Id {
        self.values.push(value);
        self.values.len() - 1
    }

    fn keep_parts(&mut self, [re, im]: [Atom; 2]) -> Id {
        self.keep(Value::parts(re, im))
    }

    fn bind(&mut self, prim: impl Into<Prim>, operands: &[Atom]) -> Atom {
        self.builder.bind1(prim, operands).expect("parts of well-typed arrays are well-typed")
    }

    /// The array in one piece. A filled one is put together too: a program can fill with parts only.
    fn whole(&mut self, id: Id, ty: &ArrayType) -> Atom {
        match &self.values[id].whole {
            Some(Atom::Splat(_)) if ty.dtype.is_complex() => {}
            Some(atom) => return atom.clone(),
            None => {}
        }
        let parts = self.parts(id);
        let whole = self.bind(Complex {}, &parts);
        self.values[id].whole = Some(whole.clone());
        whole
    }

    /// The real and the imaginary part of a complex array.
    fn parts(&mut self, id: Id) -> [Atom; 2] {
        let parts = match &self.values[id] {
            Value { parts: Some(parts), .. } => return parts.clone(),
            Value { whole: Some(Atom::Splat(splat)), .. } => [splat.literal.re(), splat.literal.im()]
                .map(|literal| Atom::Splat(Splat { literal, ..splat.clone() })),
            Value { whole: Some(whole), .. } => {
                let whole = [whole.clone()];
                [self.bind(Real {}, &whole), self.bind(Imag {}, &whole)]
            }
            Value { whole: None, parts: None } => unreachable!("a value is whole or in parts"),
        };
        self.values[id].parts = Some(parts.clone());
        parts
    }

    /// Part `k` of a complex array; any other array as it is.
    fn part(&mut self, id: Id, ty: &ArrayType, k: usize) -> Atom {
        if ty.dtype.is_complex() { self.parts(id)[k].clone() } else { self.whole(id, ty) }
    }

    /// Copies the equations of a graph; returns its outputs.
    fn graph(&mut self, graph: &Graph, inputs: Vec<Id>) -> Vec<Id> {
        let mut map: Vec<Id> = vec![Id::MAX; graph.types.len()];
        graph.inputs.iter().zip(inputs).for_each(|(var, id)| map[var.0 as usize] = id);
        for equation in &graph.equations {
            let operands: Vec<Id> = equation.inputs.iter().map(|atom| self.look(&map, atom)).collect();
            let around = self.location.clone();
            self.location = equation.location.clone().or(around.clone());
            self.builder.at(self.location.clone());
            let results = self.equation(graph, equation, &operands);
            self.location = around;
            equation.outputs.iter().zip(results).for_each(|(var, id)| map[var.0 as usize] = id);
        }
        graph.outputs.iter().map(|atom| self.look(&map, atom)).collect()
    }

    fn look(&mut self, map: &[Id], atom: &Atom) -> Id {
        match atom {
            Atom::Var(var) => map[var.0 as usize],
            Atom::Splat(_) => self.keep(Value::whole(atom.clone())),
        }
    }

    fn equation(&mut self, graph: &Graph, equation: &Equation, operands: &[Id]) -> Vec<Id> {
        let inputs: Vec<ArrayType> = equation.inputs.iter().map(|atom| graph.atom_type(atom)).collect();
        let outputs: Vec<ArrayType> = equation.outputs.iter().map(|&var| graph.ty(var).clone()).collect();
        let prim = &equation.prim;
        let complex = inputs.iter().chain(&outputs).any(|ty| ty.dtype.is_complex());
        let nested = || {
            let mut found = false;
            prim.rules().each_param(&mut |_, value| found |= value.graphs().iter().any(|g| has_complex(g)));
            found
        };
        if !(complex || prim.nests() && nested()) {
            return self.kept(prim, operands, &inputs, outputs);
        }
        match prim {
            Prim::Complex(_) => {
                let parts = [0, 1].map(|k| self.whole(operands[k], &inputs[k]));
                return vec![self.keep_parts(parts)];
            }
            Prim::Real(_) | Prim::Imag(_) => {
                let part = usize::from(matches!(prim, Prim::Imag(_)));
                let part = self.parts(operands[0])[part].clone();
                return vec![self.keep(Value::whole(part))];
            }
            _ => {}
        }
        match prim.rules().lower(&inputs, &outputs) {
            Ok(Lowering::Graph(inner) | Lowering::Late(inner)) => self.graph(&inner, operands.to_vec()),
            Ok(Lowering::Parts | Lowering::View(_) | Lowering::Pieces(_)) => {
                let parts = [0, 1].map(|k| {
                    let both = operands.iter().zip(&inputs);
                    let atoms: Vec<Atom> = both.map(|(&id, ty)| self.part(id, ty, k)).collect();
                    self.bind(prim.clone(), &atoms)
                });
                vec![self.keep_parts(parts)]
            }
            Ok(Lowering::Constant(tensor)) => {
                let parts = split(&tensor).map(|value| self.bind(Constant { value }, &[]));
                vec![self.keep_parts(parts)]
            }
            Ok(Lowering::Control(control)) => self.control(&control, operands, &inputs, &outputs),
            // What cannot be lowered is found, and blamed, where programs are made.
            Ok(_) | Err(_) => self.kept(prim, operands, &inputs, outputs),
        }
    }

    /// The same equation on whole arrays.
    fn kept(
        &mut self,
        prim: &Prim,
        operands: &[Id],
        inputs: &[ArrayType],
        outputs: Vec<ArrayType>,
    ) -> Vec<Id> {
        let atoms: Vec<Atom> = operands.iter().zip(inputs).map(|(&id, ty)| self.whole(id, ty)).collect();
        let results = self.builder.push(prim.clone(), &atoms, outputs);
        results.into_iter().map(|atom| self.keep(Value::whole(atom))).collect()
    }

    /// Control flow over parts.
    fn control(
        &mut self,
        control: &Control,
        operands: &[Id],
        inputs: &[ArrayType],
        outputs: &[ArrayType],
    ) -> Vec<Id> {
        let prim: Prim = match control {
            Control::Switch(switch) => {
                Switch { branches: switch.branches.iter().map(|branch| apart(branch)).collect() }.into()
            }
            Control::While(repeat) => {
                let (cond, rest) = inputs.split_at(repeat.cond_consts);
                let body = &rest[..repeat.body_consts];
                While {
                    cond: apart(&repeat.cond),
                    body: apart(&repeat.body),
                    cond_consts: width_of(cond),
                    body_consts: width_of(body),
                }
                .into()
            }
            Control::Scan(scan) => {
                let [consts, carries, _] = scan.groups(inputs.len());
                let (consts, carries) = (width_of(&inputs[consts]), width_of(&inputs[carries]));
                Scan { body: apart(&scan.body), consts, carries, ..scan.clone() }.into()
            }
            Control::Each(each) => {
                let spread = |axes: &[i64], types: &[ArrayType]| {
                    let each = axes.iter().zip(types);
                    each.flat_map(|(&axis, ty)| std::iter::repeat_n(axis, width(ty))).collect()
                };
                Each {
                    graph: apart(&each.graph),
                    size: each.size,
                    axes: spread(&each.axes, inputs),
                    out_axes: spread(&each.out_axes, outputs),
                }
                .into()
            }
        };
        let mut atoms = Vec::with_capacity(operands.len());
        for (&id, ty) in operands.iter().zip(inputs) {
            atoms.extend((0..width(ty)).map(|k| self.part(id, ty, k)));
        }
        let results = self.builder.bind(prim, &atoms).expect("parts of well-typed arrays are well-typed");
        self.gathered(results, outputs)
    }

    /// Parts in a row as the arrays that they are parts of.
    fn gathered(&mut self, parts: impl IntoIterator<Item = Atom>, types: &[ArrayType]) -> Vec<Id> {
        let mut parts = parts.into_iter();
        let mut next = || parts.next().expect("one array for each part");
        let values = types.iter().map(|ty| {
            if ty.dtype.is_complex() { Value::parts(next(), next()) } else { Value::whole(next()) }
        });
        values.map(|value| self.keep(value)).collect()
    }
}

/// How many arrays an array is in parts.
fn width(ty: &ArrayType) -> usize {
    if ty.dtype.is_complex() { 2 } else { 1 }
}

fn width_of(types: &[ArrayType]) -> usize {
    types.iter().map(width).sum()
}

/// A graph that control flow runs, with parts for inputs and outputs too.
fn apart(graph: &Graph) -> Arc<Graph> {
    let mut walk = Walk::default();
    let mut given = Vec::new();
    for ty in graph.input_types() {
        let part = ArrayType { dtype: ty.dtype.real(), ..ty.clone() };
        given.extend((0..width(&ty)).map(|_| Atom::Var(walk.builder.input(part.clone()))));
    }
    let inputs = walk.gathered(given, &graph.input_types());
    let results = walk.graph(graph, inputs);
    let mut outputs = Vec::new();
    for (&id, ty) in results.iter().zip(graph.output_types()) {
        outputs.extend((0..width(&ty)).map(|k| walk.part(id, &ty, k)));
    }
    Arc::new(walk.builder.finish(graph.name.clone(), outputs))
}

/// The real and the imaginary parts of a constant.
fn split(tensor: &Tensor) -> [Tensor; 2] {
    let dtype = tensor.dtype().real();
    let re: Vec<_> = tensor.literals().map(|literal| literal.re()).collect();
    let im: Vec<_> = tensor.literals().map(|literal| literal.im()).collect();
    [re, im].map(|all| Tensor::from_literals(dtype, tensor.shape(), &all).expect("one part for each element"))
}
