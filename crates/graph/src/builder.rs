//! Building graphs: the one way equations are made, each typed as it is added.

use smallvec::SmallVec;
use tracewell_array::Tensor;

use crate::error::TypeError;
use crate::graph::{Atom, Equation, Graph, Location, Var};
use crate::prim::{Constant, Prim};
use crate::ty::ArrayType;

/// A graph under construction.
#[derive(Debug, Default)]
pub struct GraphBuilder {
    inputs: Vec<Var>,
    equations: Vec<Equation>,
    types: Vec<ArrayType>,
    location: Option<Location>,
}

impl GraphBuilder {
    /// An empty graph.
    pub fn new() -> GraphBuilder {
        GraphBuilder::default()
    }

    /// Adds an input. The finished graph lists inputs first, whenever they were added.
    pub fn input(&mut self, ty: ArrayType) -> Var {
        let var = self.define(ty);
        self.inputs.push(var);
        var
    }

    fn define(&mut self, ty: ArrayType) -> Var {
        self.types.push(ty);
        Var((self.types.len() - 1) as u32)
    }

    /// The equations that follow come from this line.
    pub fn at(&mut self, location: Option<Location>) {
        self.location = location;
    }

    /// The type of an operand.
    pub fn ty(&self, atom: &Atom) -> ArrayType {
        match atom {
            Atom::Var(var) => self.types[var.0 as usize].clone(),
            Atom::Splat(splat) => splat.ty(),
        }
    }

    /// The equations so far.
    pub fn equations(&self) -> &[Equation] {
        &self.equations
    }

    /// Applies a primitive: checks the operands by its type rule and adds the equation.
    pub fn bind(&mut self, prim: impl Into<Prim>, inputs: &[Atom]) -> Result<SmallVec<[Atom; 1]>, TypeError> {
        let prim = prim.into();
        let types: SmallVec<[ArrayType; 3]> = inputs.iter().map(|a| self.ty(a)).collect();
        let outputs = prim.rules().type_rule(&types)?;
        Ok(self.push(prim, inputs, outputs))
    }

    /// Adds an equation whose output types are known to be right.
    pub fn push(
        &mut self,
        prim: Prim,
        inputs: &[Atom],
        outputs: impl IntoIterator<Item = ArrayType>,
    ) -> SmallVec<[Atom; 1]> {
        let outputs: SmallVec<[Var; 1]> = outputs.into_iter().map(|ty| self.define(ty)).collect();
        let atoms = outputs.iter().map(|&v| Atom::Var(v)).collect();
        self.equations.push(Equation {
            prim,
            inputs: inputs.into(),
            outputs,
            location: self.location.clone(),
        });
        atoms
    }

    /// Applies a primitive of one result.
    pub fn bind1(&mut self, prim: impl Into<Prim>, inputs: &[Atom]) -> Result<Atom, TypeError> {
        let mut outputs = self.bind(prim, inputs)?;
        debug_assert_eq!(outputs.len(), 1);
        Ok(outputs.remove(0))
    }

    /// A concrete array as an operand.
    pub fn constant(&mut self, value: &Tensor) -> Atom {
        let ty = ArrayType::of(value);
        self.push(Prim::from(Constant { value: value.clone() }), &[], [ty]).remove(0)
    }

    /// Copies the equations of `graph` to this one, its inputs replaced by `inputs`; returns its outputs.
    pub fn inline(&mut self, graph: &Graph, inputs: &[Atom]) -> Vec<Atom> {
        assert_eq!(graph.inputs.len(), inputs.len(), "inlining needs one operand for each input");
        let mut map: Vec<Option<Atom>> = vec![None; graph.types.len()];
        for (var, atom) in graph.inputs.iter().zip(inputs) {
            map[var.0 as usize] = Some(atom.clone());
        }
        let look = |map: &[Option<Atom>], atom: &Atom| match atom {
            Atom::Var(v) => map[v.0 as usize].clone().expect("operands are defined before they are used"),
            Atom::Splat(_) => atom.clone(),
        };
        let outer = self.location.clone();
        for eq in &graph.equations {
            let inputs: SmallVec<[Atom; 3]> = eq.inputs.iter().map(|a| look(&map, a)).collect();
            self.location = eq.location.clone().or_else(|| outer.clone());
            let outputs =
                self.push(eq.prim.clone(), &inputs, eq.outputs.iter().map(|&v| graph.ty(v).clone()));
            for (var, atom) in eq.outputs.iter().zip(outputs) {
                map[var.0 as usize] = Some(atom);
            }
        }
        self.location = outer;
        graph.outputs.iter().map(|a| look(&map, a)).collect()
    }

    /// The finished graph, numbered densely with its inputs first.
    pub fn finish(self, name: impl Into<String>, outputs: Vec<Atom>) -> Graph {
        let inputs = self.inputs.clone();
        self.finish_with_inputs(name, &inputs, outputs)
    }

    /// The finished graph with its inputs in the order given, which must name each once.
    pub fn finish_with_inputs(self, name: impl Into<String>, order: &[Var], outputs: Vec<Atom>) -> Graph {
        debug_assert_eq!(order.len(), self.inputs.len(), "each input is named once");
        let mut number: Vec<Option<Var>> = vec![None; self.types.len()];
        let mut types = Vec::with_capacity(self.types.len());
        let mut define = |number: &mut [Option<Var>], var: Var| {
            let new = Var(types.len() as u32);
            types.push(self.types[var.0 as usize].clone());
            number[var.0 as usize] = Some(new);
            new
        };
        let inputs: Vec<Var> = order.iter().map(|&v| define(&mut number, v)).collect();
        let look = |number: &[Option<Var>], atom: &Atom| match atom {
            Atom::Var(v) => {
                Atom::Var(number[v.0 as usize].expect("operands are defined before they are used"))
            }
            Atom::Splat(_) => atom.clone(),
        };
        let equations = self
            .equations
            .into_iter()
            .map(|eq| {
                let inputs = eq.inputs.iter().map(|a| look(&number, a)).collect();
                let outputs = eq.outputs.iter().map(|&v| define(&mut number, v)).collect();
                Equation { prim: eq.prim, inputs, outputs, location: eq.location }
            })
            .collect();
        let outputs = outputs.iter().map(|a| look(&number, a)).collect();
        Graph { name: name.into(), inputs, equations, outputs, types }
    }
}
