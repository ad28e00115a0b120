//! What can be wrong with a graph or with applying a rule.

use std::fmt;

use crate::graph::Location;

/// Operands that a primitive is not defined on. The user's mistake; the text names both types.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeError {
    /// The primitive's name.
    pub primitive: String,
    /// What was expected and what was found.
    pub message: String,
    /// The way out.
    pub help: Option<Box<str>>,
}

/// Why a rule (derivative, transpose, batching, lowering) gave no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RuleError {
    /// Operands of the wrong types.
    Type(TypeError),
    /// The primitive says that it has no derivative.
    NotDifferentiable {
        /// The primitive's name.
        primitive: String,
        /// Why, in one clause.
        why: String,
        /// The line that used it, where a walk knows it.
        location: Option<Box<Location>>,
    },
    /// A transposition was asked of something that is not linear: a bug of the rule that produced it.
    NotLinear {
        /// The primitive's name.
        primitive: String,
    },
    /// The primitive cannot do this.
    Unsupported {
        /// The primitive's name.
        primitive: String,
        /// What was asked, and why it cannot be.
        why: String,
    },
}

impl TypeError {
    /// A type error of this primitive.
    pub fn new(primitive: impl Into<String>, message: impl Into<String>) -> TypeError {
        TypeError { primitive: primitive.into(), message: message.into(), help: None }
    }

    /// With the way out.
    pub fn help(self, help: impl Into<Box<str>>) -> TypeError {
        TypeError { help: Some(help.into()), ..self }
    }
}

impl RuleError {
    /// The primitive says that it has no derivative.
    pub fn not_differentiable(primitive: &str, why: &str) -> RuleError {
        RuleError::NotDifferentiable {
            primitive: primitive.to_string(),
            why: why.to_string(),
            location: None,
        }
    }

    /// Adds the line of the equation whose rule refused, unless an inner one is known.
    pub fn at(mut self, line: &Option<Location>) -> RuleError {
        if let RuleError::NotDifferentiable { location: location @ None, .. } = &mut self {
            *location = line.clone().map(Box::new);
        }
        self
    }

    /// A transposition was asked of something that is not linear.
    pub fn not_linear(primitive: &str) -> RuleError {
        RuleError::NotLinear { primitive: primitive.to_string() }
    }
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for TypeError {}

impl From<TypeError> for RuleError {
    fn from(error: TypeError) -> RuleError {
        RuleError::Type(error)
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleError::Type(error) => write!(f, "{error}"),
            RuleError::NotDifferentiable { primitive, why, .. } => {
                write!(f, "`{primitive}` has no derivative: {why}")
            }
            RuleError::NotLinear { primitive } => {
                write!(f, "`{primitive}` is not linear in the operand it was transposed for")
            }
            RuleError::Unsupported { primitive, why } => write!(f, "`{primitive}`: {why}"),
        }
    }
}

impl std::error::Error for RuleError {}
