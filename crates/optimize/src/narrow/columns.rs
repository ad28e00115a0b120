//! Arrays in columns: the graph written again.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use tracewell_array::Shape;
use tracewell_graph::prim::{
    Add, And, Broadcast, Concatenate, Convert, Max, Min, Mul, Or, Permute, Reshape, Slice, Xor,
};
use tracewell_graph::{ArrayType, Atom, Equation, Graph, GraphBuilder, Prim, Splat, Var};
use tracewell_kernel::Combine;

use super::NARROW;
use super::role::{Column, Role, lead};

type Columns = SmallVec<[Atom; NARROW]>;

/// What an array of the old graph is in the new one.
#[derive(Clone, Default)]
struct Known {
    whole: Option<Atom>,
    columns: Option<Columns>,
}

pub(super) struct Work<'g> {
    graph: &'g Graph,
    builder: GraphBuilder,
    known: Vec<Known>,
    /// Arrays that are whole, whose columns are found elsewhere.
    views: FxHashMap<Var, (&'g Equation, Vec<Column>)>,
}

impl<'g> Work<'g> {
    pub(super) fn new(graph: &'g Graph) -> Work<'g> {
        let mut work = Work {
            graph,
            builder: GraphBuilder::new(),
            known: vec![Known::default(); graph.types.len()],
            views: FxHashMap::default(),
        };
        for &var in &graph.inputs {
            let input = work.builder.input(graph.ty(var).clone());
            work.known[var.0 as usize].whole = Some(input.into());
        }
        work
    }

    pub(super) fn finish(mut self) -> Graph {
        let outputs = self.graph.outputs.iter().map(|atom| self.whole(atom)).collect();
        self.builder.finish(self.graph.name.clone(), outputs)
    }

    pub(super) fn equation(&mut self, equation: &'g Equation, role: Option<&Role>, apart: bool) {
        self.builder.at(equation.location.clone());
        let out = equation.outputs.first().map_or(0, |var| var.0 as usize);
        let operand = |this: &Self| {
            let var = equation.inputs.first().and_then(Atom::var)?;
            this.known[var.0 as usize].columns.clone()
        };
        let columns = match role {
            Some(Role::Map) if apart => self.each(equation),
            Some(Role::Reduce) if apart => self.each(equation),
            Some(Role::Join(columns) | Role::Look(columns)) if apart => Some(self.found(equation, columns)),
            Some(Role::Reshape) if apart => Some(self.reshaped(equation)),
            Some(Role::Repeat(places)) if apart => Some(self.repeated(equation, places)),
            _ => None,
        };
        if columns.is_some() {
            self.known[out].columns = columns;
            return;
        }
        let whole = match role {
            Some(Role::Drop) => operand(self).map(|columns| columns[0].clone()),
            Some(Role::Fold(combine)) => operand(self).map(|columns| self.folded(*combine, &columns)),
            _ => None,
        };
        if whole.is_some() {
            self.known[out].whole = whole;
            return;
        }
        if let Some(Role::Look(columns)) = role {
            self.views.insert(equation.outputs[0], (equation, columns.clone()));
        }
        let operands: Vec<Atom> = equation.inputs.iter().map(|atom| self.whole(atom)).collect();
        let types = equation.outputs.iter().map(|&var| self.graph.ty(var).clone());
        let results = self.builder.push(equation.prim.clone(), &operands, types);
        for (&var, result) in equation.outputs.iter().zip(results) {
            self.known[var.0 as usize].whole = Some(result);
        }
    }

    /// The same function of each column, if its type rule has nothing against it.
    fn each(&mut self, equation: &Equation) -> Option<Columns> {
        let ty = self.graph.ty(equation.outputs[0]);
        let wanted = ty.with_shape(lead(&ty.shape));
        let operands: Vec<Columns> = equation.inputs.iter().map(|atom| self.columns(atom)).collect();
        let types: Vec<ArrayType> = operands.iter().map(|columns| self.builder.ty(&columns[0])).collect();
        let made = equation.prim.rules().type_rule(&types).ok()?;
        if made.len() != 1 || (made[0].dtype, &made[0].shape) != (wanted.dtype, &wanted.shape) {
            return None;
        }
        let one = |j: usize| {
            let operands: Vec<Atom> = operands.iter().map(|columns| columns[j].clone()).collect();
            self.builder.push(equation.prim.clone(), &operands, [wanted.clone()]).remove(0)
        };
        Some((0..operands[0].len()).map(one).collect())
    }

    /// Columns that are columns of operands, of the type of the whole: some of them may be weaker.
    fn found(&mut self, equation: &Equation, columns: &[Column]) -> Columns {
        let ty = self.graph.ty(equation.outputs[0]);
        let shape = lead(&ty.shape);
        let one = |column: &Column| {
            let found = match *column {
                Column::Of(operand, at) => self.columns(&equation.inputs[operand])[at].clone(),
                Column::All(operand) => self.whole(&equation.inputs[operand]),
                Column::Fill(operand) => match self.whole(&equation.inputs[operand]) {
                    Atom::Splat(splat) => Atom::Splat(Splat { shape: shape.clone(), ..splat }),
                    scalar => self.bind(Broadcast { shape: shape.clone(), axes: Vec::new() }, &[scalar]),
                },
            };
            if self.builder.ty(&found).weak == ty.weak {
                return found;
            }
            self.bind(Convert { dtype: ty.dtype, weak: ty.weak }, &[found])
        };
        columns.iter().map(one).collect()
    }

    fn reshaped(&mut self, equation: &Equation) -> Columns {
        let shape = lead(&self.graph.ty(equation.outputs[0]).shape);
        let columns = self.columns(&equation.inputs[0]);
        columns.iter().map(|column| self.reshape(column, &shape)).collect()
    }

    fn repeated(&mut self, equation: &Equation, places: &[usize]) -> Columns {
        let shape = lead(&self.graph.ty(equation.outputs[0]).shape);
        // Without the axes of size 1 that are repeated.
        let kept: Shape = places.iter().map(|&axis| shape.size(axis)).collect();
        let columns = self.columns(&equation.inputs[0]);
        let one = |column: &Atom| {
            let column = self.reshape(column, &kept);
            self.bind(Broadcast { shape: shape.clone(), axes: places.to_vec() }, &[column])
        };
        columns.iter().map(one).collect()
    }

    /// All columns combined, in the order in which a kernel combines the elements of a row: those that are half of its
    /// lanes apart first, then those that are a quarter.
    fn folded(&mut self, combine: Combine, columns: &[Atom]) -> Atom {
        let mut lanes: Vec<Atom> = columns.to_vec();
        while lanes.len() > 1 {
            let apart = lanes.len().next_power_of_two() / 2;
            let others = lanes.split_off(apart);
            for (lane, other) in lanes.iter_mut().zip(others) {
                *lane = self.bind(function(combine), &[lane.clone(), other]);
            }
        }
        let all = lanes.pop().expect("a narrow axis is not empty");
        let ty = self.builder.ty(&all);
        match combine {
            // A sum starts from 0, so that it is never -0.
            Combine::Add if ty.dtype.is_float() => {
                let zero = Atom::fill(&ty, 0.0);
                self.bind(Add {}, &[all, zero])
            }
            _ => all,
        }
    }

    fn reshape(&mut self, atom: &Atom, shape: &Shape) -> Atom {
        if self.builder.ty(atom).shape == *shape {
            return atom.clone();
        }
        self.bind(Reshape { shape: shape.clone() }, std::slice::from_ref(atom))
    }

    fn bind(&mut self, prim: impl Into<Prim>, operands: &[Atom]) -> Atom {
        self.builder.bind1(prim, operands).expect("an array is taken apart and put together as it is")
    }

    /// The columns of an array: those it was made of, or parts of the whole.
    fn columns(&mut self, atom: &Atom) -> Columns {
        let ty = self.graph.atom_type(atom);
        let last = ty.shape.rank() - 1;
        let width = ty.shape.size(last);
        let var = match atom {
            Atom::Splat(splat) => {
                let column = Atom::Splat(Splat { shape: lead(&ty.shape), ..splat.clone() });
                return smallvec![column; width];
            }
            Atom::Var(var) => *var,
        };
        if let Some(columns) = &self.known[var.0 as usize].columns {
            return columns.clone();
        }
        let columns = match self.views.get(&var).cloned() {
            Some((equation, columns)) => self.found(equation, &columns),
            None => {
                let mut whole = self.whole(atom);
                let mut axis = last;
                if width > NARROW {
                    // Elements of a column are far apart: as rows of a copy they lie side by side.
                    let axes = std::iter::once(last).chain(0..last).collect();
                    (whole, axis) = (self.bind(Permute { axes }, &[whole]), 0);
                }
                let sizes = self.builder.ty(&whole).shape.sizes().to_vec();
                let column = |j: usize| {
                    let (mut start, mut limit) = (vec![0; last + 1], sizes.clone());
                    (start[axis], limit[axis]) = (j, j + 1);
                    let part = self
                        .bind(Slice { start, limit, step: vec![1; last + 1] }, std::slice::from_ref(&whole));
                    self.bind(Reshape { shape: lead(&ty.shape) }, &[part])
                };
                (0..width).map(column).collect()
            }
        };
        self.known[var.0 as usize].columns = Some(columns.clone());
        columns
    }

    /// The array itself, put together if it is in columns.
    fn whole(&mut self, atom: &Atom) -> Atom {
        let Atom::Var(var) = atom else { return atom.clone() };
        let known = self.known[var.0 as usize].clone();
        if let Some(whole) = known.whole {
            return whole;
        }
        let columns = known.columns.expect("operands are defined before they are used");
        let shape = &self.graph.ty(*var).shape;
        let last = shape.rank() - 1;
        let part =
            |column: &Atom| self.bind(Reshape { shape: shape.with(last, 1) }, std::slice::from_ref(column));
        let parts: Vec<Atom> = columns.iter().map(part).collect();
        let whole = match parts.as_slice() {
            [part] => part.clone(),
            _ => self.bind(Concatenate { axis: last }, &parts),
        };
        self.known[var.0 as usize].whole = Some(whole.clone());
        whole
    }
}

/// The elementwise function of what a reduction does.
fn function(combine: Combine) -> Prim {
    match combine {
        Combine::Add => Add {}.into(),
        Combine::Mul => Mul {}.into(),
        Combine::Min => Min {}.into(),
        Combine::Max => Max {}.into(),
        Combine::And => And {}.into(),
        Combine::Or => Or {}.into(),
        Combine::Xor => Xor {}.into(),
    }
}
