//! The part of a graph between given variables and given outputs.

use crate::builder::GraphBuilder;
use crate::graph::{Atom, Equation, Graph, Var};
use crate::prim::Prim;

impl Graph {
    /// The graph that computes `outputs` of this one when `inputs` are given, with its effects.
    ///
    /// `inputs` may be any variables, defined by equations or not, each named once; equations that only they need are
    /// left out. An input of this graph that the outputs or the effects need must be among them.
    pub fn part(&self, name: impl Into<String>, inputs: &[Var], outputs: &[Atom]) -> Graph {
        self.part_with(name.into(), inputs, outputs, Prim::has_effect)
    }

    /// The same without effects that have no results among what is needed: for what is computed beside the graph.
    pub fn pure_part(&self, name: impl Into<String>, inputs: &[Var], outputs: &[Atom]) -> Graph {
        self.part_with(name.into(), inputs, outputs, |_| false)
    }

    fn part_with(&self, name: String, inputs: &[Var], outputs: &[Atom], keep: fn(&Prim) -> bool) -> Graph {
        let mut given = vec![false; self.types.len()];
        inputs.iter().for_each(|var| given[var.0 as usize] = true);
        let mut needed = vec![false; self.types.len()];
        let need = |needed: &mut [bool], atom: &Atom| {
            if let Some(var) = atom.var().filter(|var| !given[var.0 as usize]) {
                needed[var.0 as usize] = true;
            }
        };
        outputs.iter().for_each(|atom| need(&mut needed, atom));
        let mut kept: Vec<&Equation> = Vec::new();
        for equation in self.equations.iter().rev() {
            if equation.outputs.iter().any(|var| needed[var.0 as usize]) || keep(&equation.prim) {
                equation.inputs.iter().for_each(|atom| need(&mut needed, atom));
                kept.push(equation);
            }
        }

        let mut builder = GraphBuilder::new();
        let mut values: Vec<Option<Atom>> = vec![None; self.types.len()];
        for &var in inputs {
            values[var.0 as usize] = Some(builder.input(self.ty(var).clone()).into());
        }
        let look = |values: &[Option<Atom>], atom: &Atom| match atom {
            Atom::Var(var) => {
                values[var.0 as usize].clone().expect("operands are defined before they are used")
            }
            Atom::Splat(_) => atom.clone(),
        };
        for equation in kept.into_iter().rev() {
            builder.at(equation.location.clone());
            let operands: Vec<Atom> = equation.inputs.iter().map(|atom| look(&values, atom)).collect();
            let types = equation.outputs.iter().map(|&var| self.ty(var).clone());
            let results = builder.push(equation.prim.clone(), &operands, types);
            for (&var, result) in equation.outputs.iter().zip(results) {
                // One of several results may be given all the same.
                values[var.0 as usize].get_or_insert(result);
            }
        }
        let outputs = outputs.iter().map(|atom| look(&values, atom)).collect();
        builder.finish(name, outputs)
    }

    /// For each variable, whether it depends on an input for which the flag does not hold. What depends on none, as
    /// every equation without operands, does not, but for effects: those are others each time.
    pub fn depends_beyond(&self, flags: &[bool]) -> Vec<bool> {
        let mut depends = vec![false; self.types.len()];
        for (var, flag) in self.inputs.iter().zip(flags) {
            depends[var.0 as usize] = !flag;
        }
        for equation in &self.equations {
            let reads = |atom: &Atom| atom.var().is_some_and(|var| depends[var.0 as usize]);
            if equation.inputs.iter().any(reads) || equation.prim.has_effect() {
                equation.outputs.iter().for_each(|var| depends[var.0 as usize] = true);
            }
        }
        depends
    }

    /// The number of an input, if the operand is one.
    pub fn input_number(&self, atom: &Atom) -> Option<usize> {
        let var = atom.var()?;
        self.inputs.iter().position(|&input| input == var)
    }
}
