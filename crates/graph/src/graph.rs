//! Graphs: equations in order, each applying a primitive to earlier values.
//!
//! Invariant, kept by [`GraphBuilder`](crate::GraphBuilder): variables are numbered densely in the order of
//! their definition (inputs, then equation by equation), so that equal graphs are equal structures. Names and
//! source locations are for people: printed and parsed, but neither compared nor hashed.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use smallvec::SmallVec;
use tracewell_array::{Literal, Shape};

use crate::prim::Prim;
use crate::ty::ArrayType;

/// A variable of its graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Var(pub u32);

/// An operand: a variable, or an array filled with one literal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Atom {
    /// A variable defined before.
    Var(Var),
    /// Every element is this literal.
    Splat(Splat),
}

/// An array filled with one literal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Splat {
    /// The value of every element.
    pub literal: Literal,
    /// How many there are.
    pub shape: Shape,
    /// Whether its type is weak.
    pub weak: bool,
}

/// `outputs = primitive operands`
#[derive(Clone, Debug)]
pub struct Equation {
    /// What is applied, with its parameters.
    pub prim: Prim,
    /// To what.
    pub inputs: SmallVec<[Atom; 3]>,
    /// The variables it defines.
    pub outputs: SmallVec<[Var; 1]>,
    /// The user's line that asked for it.
    pub location: Option<Location>,
}

/// A place in a user's source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// As the compiler names it.
    pub file: Cow<'static, str>,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1.
    pub column: u32,
}

/// A function of arrays.
#[derive(Clone, Debug)]
pub struct Graph {
    /// For people.
    pub name: String,
    /// The first variables.
    pub inputs: Vec<Var>,
    /// In an order in which every operand is defined before it is used.
    pub equations: Vec<Equation>,
    /// What the graph computes.
    pub outputs: Vec<Atom>,
    /// The type of every variable.
    pub types: Vec<ArrayType>,
}

impl Splat {
    /// Its type.
    pub fn ty(&self) -> ArrayType {
        ArrayType { dtype: self.literal.dtype(), shape: self.shape.clone(), weak: self.weak }
    }
}

impl Atom {
    /// An array of this type filled with a number.
    pub fn fill(ty: &ArrayType, number: f64) -> Atom {
        Atom::Splat(Splat {
            literal: Literal::from_f64(ty.dtype, number),
            shape: ty.shape.clone(),
            weak: ty.weak,
        })
    }

    /// The variable, if it is one.
    pub fn var(&self) -> Option<Var> {
        match self {
            Atom::Var(var) => Some(*var),
            Atom::Splat(_) => None,
        }
    }

    /// The literal that fills it, if it is filled with one.
    pub fn literal(&self) -> Option<Literal> {
        match self {
            Atom::Var(_) => None,
            Atom::Splat(splat) => Some(splat.literal),
        }
    }
}

impl From<Var> for Atom {
    fn from(var: Var) -> Atom {
        Atom::Var(var)
    }
}

impl Graph {
    /// The type of a variable.
    pub fn ty(&self, var: Var) -> &ArrayType {
        &self.types[var.0 as usize]
    }

    /// How often each variable is read; results are read once more.
    pub fn reads(&self) -> Vec<usize> {
        let mut reads = vec![0; self.types.len()];
        let inputs = self.equations.iter().flat_map(|equation| &equation.inputs);
        for var in inputs.chain(&self.outputs).filter_map(Atom::var) {
            reads[var.0 as usize] += 1;
        }
        reads
    }

    /// The type of an operand.
    pub fn atom_type(&self, atom: &Atom) -> ArrayType {
        match atom {
            Atom::Var(var) => self.ty(*var).clone(),
            Atom::Splat(splat) => splat.ty(),
        }
    }

    /// The types of the inputs, in order.
    pub fn input_types(&self) -> Vec<ArrayType> {
        self.inputs.iter().map(|&v| self.ty(v).clone()).collect()
    }

    /// The types of the outputs, in order.
    pub fn output_types(&self) -> Vec<ArrayType> {
        self.outputs.iter().map(|a| self.atom_type(a)).collect()
    }

    /// Memory it holds, in bytes: what a cache must count. Constants dominate.
    pub fn bytes(&self) -> usize {
        let nested: usize = self
            .equations
            .iter()
            .map(|eq| {
                let mut bytes = 0;
                eq.prim.rules().each_param(&mut |_, value| bytes += value.bytes());
                bytes
            })
            .sum();
        size_of::<Graph>()
            + self.equations.len() * size_of::<Equation>()
            + self.types.len() * size_of::<ArrayType>()
            + nested
    }
}

impl PartialEq for Equation {
    fn eq(&self, other: &Equation) -> bool {
        self.prim == other.prim && self.inputs == other.inputs && self.outputs == other.outputs
    }
}

impl Eq for Equation {}

impl Hash for Equation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.prim.hash(state);
        self.inputs.hash(state);
        self.outputs.hash(state);
    }
}

impl PartialEq for Graph {
    fn eq(&self, other: &Graph) -> bool {
        self.inputs == other.inputs
            && self.equations == other.equations
            && self.outputs == other.outputs
            && self.types == other.types
    }
}

impl Eq for Graph {}

impl Hash for Graph {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inputs.hash(state);
        self.equations.hash(state);
        self.outputs.hash(state);
        self.types.hash(state);
    }
}

impl Location {
    /// The line that called the innermost `#[track_caller]` function.
    #[track_caller]
    pub fn caller() -> Location {
        Location::from(std::panic::Location::caller())
    }
}

impl From<&'static std::panic::Location<'static>> for Location {
    fn from(place: &'static std::panic::Location<'static>) -> Location {
        Location { file: Cow::Borrowed(place.file()), line: place.line(), column: place.column() }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
