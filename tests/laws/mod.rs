//! The laws: what must hold of every primitive, whatever it computes.
//!
//! A primitive states its rules one by one; the laws say how the rules must agree. Each is checked on every use
//! that a primitive gives as an example, with inputs drawn from a seed, so that a failure can be repeated.

mod adjoint;
mod allowance;
mod batching;
mod compiled;
mod derivative;
mod inputs;
mod nesting;
mod primal;
mod rng;
mod rows;
mod same;
mod single;
mod table;
mod text;
mod types;

pub use table::{Cell, Table, dtype, table, table_of};

use tracewell_graph::Example;

/// What came of checking a law.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It holds.
    Checked,
    /// It says nothing about this use, and why.
    NotApplicable(&'static str),
}

/// A law of primitives.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// One word.
    pub name: &'static str,
    /// What it says.
    pub statement: &'static str,
    /// Whether it holds of a use of a primitive, on inputs drawn from a seed; the error says how it does not.
    pub check: fn(&Example, u64) -> Result<Outcome, String>,
}

/// All of them.
pub const LAWS: [Law; 9] = [
    Law { name: "types", statement: "the type rule gives the types of eval's results", check: types::check },
    Law { name: "text", statement: "the text of an equation reads back as the equation", check: text::check },
    Law { name: "derivative", statement: "jvp is the limit of differences", check: derivative::check },
    Law {
        name: "adjoint", statement: "⟨T u, v⟩ = ⟨u, Tᵀ v⟩ for T = linearize", check: adjoint::check
    },
    Law {
        name: "nesting",
        statement: "derivatives and batches nest in any order, and compile",
        check: nesting::check,
    },
    Law { name: "batching", statement: "batching is a loop", check: batching::check },
    Law { name: "rows", statement: "some rows are what they are among all", check: rows::check },
    Law { name: "primal", statement: "jvp and linearize leave the value alone", check: primal::check },
    Law { name: "compiled", statement: "machine code computes what eval does", check: compiled::check },
];
