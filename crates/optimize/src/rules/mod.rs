//! Rewrites, by theme. The only place where passes name primitives.
//!
//! A rule keeps every bit, also of -0.0, infinities and NaN: `x + 0.0` is not `x` for -0.0, `x × 0` is not 0.

mod arithmetic;
mod shape;

use smallvec::SmallVec;
use tracewell_array::Literal;
use tracewell_graph::{ArrayType, Atom, Equation, GraphBuilder, Prim, Splat};

use crate::rebuild::Operands;

/// Looks at an application and says what it may be replaced by.
pub(crate) type Rule = fn(&Scene<'_>) -> Option<Rewrite>;

/// Every rule; the first that applies is taken.
pub(crate) const RULES: &[Rule] = &[arithmetic::arithmetic, shape::shape];

/// What an application may be replaced by. One that changes the type is not taken.
pub(crate) enum Rewrite {
    /// Something that is there already.
    Use(Atom),
    /// Another application.
    Apply(Box<Application>),
}

/// A primitive on operands.
pub(crate) struct Application {
    pub(crate) prim: Prim,
    pub(crate) operands: Operands,
}

/// An application of a primitive, and what its operands are.
pub(crate) struct Scene<'a> {
    pub(crate) builder: &'a GraphBuilder,
    pub(crate) defined: &'a [Option<usize>],
    pub(crate) prim: &'a Prim,
    pub(crate) operands: &'a [Atom],
    /// The type of the result.
    pub(crate) ty: &'a ArrayType,
    /// Operands that nobody else reads.
    pub(crate) alone: &'a [Atom],
}

impl<'a> Scene<'a> {
    /// The equation that defines an operand.
    pub(crate) fn definition(&self, atom: &Atom) -> Option<&'a Equation> {
        let at = (*self.defined.get(atom.var()?.0 as usize)?)?;
        Some(&self.builder.equations()[at])
    }

    /// Whether nobody else reads an operand.
    pub(crate) fn reads_alone(&self, atom: &Atom) -> bool {
        self.alone.contains(atom)
    }

    /// An array like the result, filled with a literal.
    pub(crate) fn splat(&self, literal: Literal) -> Rewrite {
        Rewrite::Use(Atom::Splat(Splat { literal, shape: self.ty.shape.clone(), weak: self.ty.weak }))
    }

    /// Whether an application has the type of the result.
    pub(crate) fn gives(&self, other: &Application) -> bool {
        let types: SmallVec<[ArrayType; 3]> = other.operands.iter().map(|a| self.builder.ty(a)).collect();
        other.prim.rules().type_rule(&types).is_ok_and(|out| matches!(out.as_slice(), [ty] if ty == self.ty))
    }
}

/// Some operand as it is.
fn same(atom: &Atom) -> Option<Rewrite> {
    Some(Rewrite::Use(atom.clone()))
}

/// Another application.
fn apply(prim: impl Into<Prim>, operands: &[&Atom]) -> Option<Rewrite> {
    let operands = operands.iter().map(|&atom| atom.clone()).collect();
    Some(Rewrite::Apply(Box::new(Application { prim: prim.into(), operands })))
}
