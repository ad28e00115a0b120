//! Writing graphs as text, with notes under their lines if wanted.
//!
//! Total: also a graph that breaks every rule can be written, because the verifier shows its errors this way.
//! Variables have the numbers that they have in memory, and an unknown type is written `?`.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use tracewell_kernel::text::quote;

use super::lex::{file, name};
use super::tensor::write_elided;
use crate::graph::{Atom, Equation, Graph, Var};
use crate::params::ParamValue;
use crate::prim::Prim;

/// `Display` leaves the elements of constants with more than so many out.
const SHOWN_ELEMENTS: usize = 16;

/// The text of a graph: everything but its source locations.
pub fn write(graph: &Graph) -> String {
    text(graph, Style { locations: false, shown: usize::MAX }, &Notes::new())
}

/// The text of a graph with its source locations: all there is to know of it.
pub fn write_with_locations(graph: &Graph) -> String {
    text(graph, Style { locations: true, shown: usize::MAX }, &Notes::new())
}

/// The text of a primitive with its parameters, as in an equation.
///
/// ```
/// use tracewell_graph::{prim, text};
///
/// let written = text::write_prim(&prim::ReduceSum { axes: vec![1] }.into());
/// assert_eq!(written, "reduce_sum[axes=[1]]");
/// assert_eq!(text::read_prim(&written, &text::NoCustom).unwrap().name(), "reduce_sum");
/// ```
pub fn write_prim(prim: &Prim) -> String {
    let (notes, style) = (Notes::new(), Style { locations: true, shown: usize::MAX });
    let mut writer = Writer { out: String::new(), indent: 0, path: Vec::new(), style, notes: &notes };
    writer.prim(0, prim);
    writer.out
}

/// One line of a graph for people, without source locations. Of an equation with graphs in it, the first line.
pub fn write_line(graph: &Graph, line: Line) -> String {
    let text = match line {
        Line::Signature => {
            format!("func @{}({})", name(&graph.name), list(&graph.inputs, |&var| definition(graph, var)))
        }
        Line::Return => format!("return {}", list(&graph.outputs, atom_text)),
        Line::Equation(number) => {
            let style = Style { locations: false, shown: SHOWN_ELEMENTS };
            let notes = Notes::new();
            let mut writer = Writer { out: String::new(), indent: 0, path: Vec::new(), style, notes: &notes };
            if let Some(equation) = graph.equations.get(number) {
                writer.equation(graph, number, equation);
            }
            writer.out
        }
    };
    text.lines().next().unwrap_or_default().to_string()
}

/// The text of a graph for people, each note as a comment under its line.
pub(crate) fn write_with_notes(graph: &Graph, notes: &Notes) -> String {
    text(graph, Style { locations: true, shown: SHOWN_ELEMENTS }, notes)
}

impl fmt::Display for Graph {
    /// For people: without source locations, and without the elements of large constants.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self, Style { locations: false, shown: SHOWN_ELEMENTS }, &Notes::new()))
    }
}

/// A line of a text, under which a note can be written.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// From the outermost graph inwards: the equation, and which of the graphs in its parameters.
    pub path: Vec<(usize, usize)>,
    /// The line of the graph that the path leads to.
    pub line: Line,
}

/// A line of one graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Line {
    /// The first, with name and inputs.
    Signature,
    /// The equation of that number.
    Equation(usize),
    /// The last.
    Return,
}

/// Notes under the lines of a text.
pub(crate) type Notes = BTreeMap<Place, Vec<String>>;

#[derive(Clone, Copy)]
struct Style {
    locations: bool,
    /// Larger constants are written without their elements.
    shown: usize,
}

fn text(graph: &Graph, style: Style, notes: &Notes) -> String {
    let mut writer = Writer { out: String::new(), indent: 0, path: Vec::new(), style, notes };
    writer.graph(graph);
    writer.out.push('\n');
    writer.out
}

/// Appends to a text; a `String` takes everything, so what `write!` returns is of no interest.
macro_rules! push {
    ($out:expr, $($arg:tt)*) => { let _ = write!($out, $($arg)*); };
}

struct Writer<'a> {
    out: String,
    indent: usize,
    path: Vec<(usize, usize)>,
    style: Style,
    notes: &'a Notes,
}

impl Writer<'_> {
    fn new_line(&mut self) {
        push!(self.out, "\n{:1$}", "", self.indent * 2);
    }

    fn notes(&mut self, line: Line) {
        if self.notes.is_empty() {
            return;
        }
        let notes = self.notes;
        for note in notes.get(&Place { path: self.path.clone(), line }).into_iter().flatten() {
            self.new_line();
            // A note must not end its comment: names inside it come from outside.
            push!(self.out, "// {}", note.replace(['\n', '\r'], " "));
        }
    }

    fn graph(&mut self, graph: &Graph) {
        let inputs = list(&graph.inputs, |&var| definition(graph, var));
        let outputs = list(&graph.outputs, |atom| match atom {
            Atom::Var(var) => type_text(graph, *var),
            Atom::Splat(splat) => splat.ty().to_string(),
        });
        push!(self.out, "func @{}({inputs}) -> ({outputs}) {{", name(&graph.name));
        self.indent += 1;
        self.notes(Line::Signature);
        for (number, equation) in graph.equations.iter().enumerate() {
            self.new_line();
            self.equation(graph, number, equation);
            self.notes(Line::Equation(number));
        }
        self.new_line();
        self.out.push_str(format!("return {}", list(&graph.outputs, atom_text)).trim_end());
        self.notes(Line::Return);
        self.indent -= 1;
        self.new_line();
        self.out.push('}');
    }

    fn equation(&mut self, graph: &Graph, number: usize, equation: &Equation) {
        if !equation.outputs.is_empty() {
            push!(self.out, "{} = ", list(&equation.outputs, |&var| definition(graph, var)));
        }
        self.prim(number, &equation.prim);
        if !equation.inputs.is_empty() {
            push!(self.out, " {}", list(&equation.inputs, atom_text));
        }
        if let Some(location) = equation.location.as_ref().filter(|_| self.style.locations) {
            push!(self.out, "    at {}:{}:{}", file(&location.file), location.line, location.column);
        }
    }

    /// A primitive with its parameters, in the equation of that number.
    fn prim(&mut self, number: usize, prim: &Prim) {
        self.out.push_str(&name(prim.name()));
        let mut params = Vec::new();
        prim.rules().each_param(&mut |name, value| params.push((name, value)));
        let mut graphs = 0;
        for (i, (param, value)) in params.iter().enumerate() {
            push!(self.out, "{}{}=", if i == 0 { "[" } else { ", " }, name(param));
            match value.graphs() {
                [] => self.param(value),
                nested => self.nested(nested, number, &mut graphs, matches!(value, ParamValue::Graphs(_))),
            }
        }
        if !params.is_empty() {
            self.out.push(']');
        }
    }

    /// Graphs in an equation's parameters, of which some came before.
    fn nested(&mut self, graphs: &[Arc<Graph>], equation: usize, before: &mut usize, is_list: bool) {
        if is_list {
            self.out.push('[');
        }
        for (i, graph) in graphs.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.path.push((equation, *before));
            *before += 1;
            self.graph(graph);
            self.path.pop();
        }
        if is_list {
            self.out.push(']');
        }
    }

    fn param(&mut self, value: &ParamValue) {
        match value {
            ParamValue::Int(n) => {
                push!(self.out, "{n}");
            }
            ParamValue::Bool(b) => {
                push!(self.out, "{b}");
            }
            ParamValue::Ints(ints) => {
                let ints: Vec<String> = ints.iter().map(i64::to_string).collect();
                push!(self.out, "[{}]", ints.join(","));
            }
            ParamValue::DType(dtype) => {
                push!(self.out, "{dtype}");
            }
            ParamValue::Comparison(comparison) => self.out.push_str(comparison.name()),
            ParamValue::Text(text) => self.out.push_str(&quote(text)),
            ParamValue::Types(types) => {
                push!(self.out, "({})", list(types, ToString::to_string));
            }
            ParamValue::Tensor(tensor) => self.out.push_str(&write_elided(tensor, self.style.shown)),
            // Graphs are written with their place; a list without any is left.
            ParamValue::Graph(_) | ParamValue::Graphs(_) => self.out.push_str("[]"),
        }
    }
}

fn list<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// `%0: f32[2,3]`
fn definition(graph: &Graph, var: Var) -> String {
    format!("%{}: {}", var.0, type_text(graph, var))
}

fn type_text(graph: &Graph, var: Var) -> String {
    graph.types.get(var.0 as usize).map_or("?".to_owned(), ToString::to_string)
}

/// `%0`, or `2.0:f32[2,3]`
fn atom_text(atom: &Atom) -> String {
    match atom {
        Atom::Var(var) => format!("%{}", var.0),
        Atom::Splat(splat) => format!("{}:{}", splat.literal, splat.ty()),
    }
}
