//! A tape as DOT and as JSON.

use std::fmt::Write;

use super::node::{Argument, Callee, Kind, Node};
use super::{Reference, Tape};
use crate::json;

impl Tape {
    /// As a graph in the language of Graphviz: calls are boxes around what is inside of them, an edge for each use of a
    /// value is labelled with the position of the argument.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from(2.0f32);
    /// let dot = Tape::record(|| x.sqrt()).to_dot();
    /// assert!(dot.starts_with("digraph tape {"));
    /// assert!(dot.contains("n1 -> n2 [label=\"#0\"];"), "{dot}");
    /// ```
    pub fn to_dot(&self) -> String {
        let mut out =
            String::from("digraph tape {\n  compound=true;\n  node [shape=box, fontname=monospace];\n");
        self.root().dot(&mut out, 1);
        for node in self.nodes() {
            for (number, argument) in node.arguments().iter().enumerate() {
                let Argument::Reference(Reference { node: from, .. }) = argument else { continue };
                let style = match node.kind() {
                    // A parameter is what the caller gave.
                    Kind::Argument { .. } => ", style=dotted",
                    _ => "",
                };
                // Writing to a String cannot fail.
                let _ = writeln!(out, "  n{} -> n{} [label=\"#{number}\"{style}];", from.0, node.id.0);
            }
        }
        out + "}\n"
    }

    /// As JSON: the list of nodes, each with its number, its parent, what it is, what it used, its types, its value in
    /// words and its source line.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from(2.0f32);
    /// let json = Tape::record(|| x.sqrt()).to_json();
    /// assert!(json.contains(r#""kind":"primitive","name":"sqrt""#), "{json}");
    /// ```
    pub fn to_json(&self) -> String {
        let nodes = json::list(self.nodes().map(|node| node.json()));
        let error = self.error().map(|error| json::string(error.message()));
        json::object([("version", Some("1".to_string())), ("error", error), ("nodes", Some(nodes))]) + "\n"
    }

    /// As a page of HTML that needs nothing else: it folds, and it searches.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from(2.0f32);
    /// let html = Tape::record(|| x.sqrt()).to_html();
    /// assert!(html.contains("⟨sqrt⟩(@1)"));
    /// ```
    pub fn to_html(&self) -> String {
        super::page::page(self).html()
    }
}

impl Kind {
    /// In one word, for exports.
    fn word(&self) -> &'static str {
        match self {
            Kind::Program => "program",
            Kind::Argument { .. } => "argument",
            Kind::Constant => "constant",
            Kind::Primitive(_) => "primitive",
            Kind::Call(Callee::Jit) => "jit",
            Kind::Call(Callee::Traced) => "traced",
            Kind::Call(Callee::Api(_)) => "api",
            Kind::Call(Callee::Function(_)) => "function",
            Kind::Call(Callee::Primitive(_)) => "nested",
            Kind::Call(Callee::Turn(_)) => "turn",
            Kind::Call(Callee::Case(_)) => "case",
            Kind::Branch => "branch",
            Kind::Return => "return",
            Kind::Failure { .. } => "failure",
        }
    }
}

impl Node<'_> {
    fn dot(&self, out: &mut String, depth: usize) {
        let indent = depth * 2;
        // The quoting of Graphviz is that of JSON, as far as it goes.
        let label = json::string(&format!("{} → {}", self.expression(), self.values_text()));
        // Writing to a String cannot fail.
        let _ = match self.children().len() {
            0 => writeln!(out, "{:indent$}n{} [label={label}];", "", self.id.0),
            _ => {
                let name = json::string(self.name());
                let _ = writeln!(
                    out,
                    "{:indent$}subgraph cluster{} {{\n{:indent$}  label={name};",
                    "", self.id.0, ""
                );
                let _ = writeln!(out, "{:indent$}  n{} [label={label}, style=bold];", "", self.id.0);
                self.children().for_each(|child| child.dot(out, depth + 1));
                writeln!(out, "{:indent$}}}", "")
            }
        };
    }

    fn json(&self) -> String {
        let argument = |argument: &Argument| match argument {
            Argument::Reference(Reference { node, result }) => {
                json::list([node.0.to_string(), result.to_string()])
            }
            Argument::Constant(array) => {
                json::string(&format!("{}: {}", super::print::brief(array), array.ty()))
            }
            Argument::Unknown(ty) => json::string(&ty.to_string()),
        };
        let message = match self.kind() {
            Kind::Failure { message } => Some(json::string(message)),
            _ => None,
        };
        let notes = self.record().notes.0.iter();
        let notes = json::list(notes.map(|(name, note)| json::string(&format!("{name} = {note:?}"))));
        json::object([
            ("id", Some(self.id.0.to_string())),
            ("parent", self.parent().map(|parent| parent.id.0.to_string())),
            ("kind", Some(json::string(self.kind().word()))),
            ("name", Some(json::string(self.name()))),
            ("message", message),
            ("arguments", Some(json::list(self.arguments().iter().map(argument)))),
            ("types", Some(json::list(self.types().map(|ty| json::string(&ty.to_string()))))),
            ("values", Some(json::string(&self.values_text()))),
            ("location", self.location().map(|location| json::string(&location.to_string()))),
            ("equation", self.equation().map(|(_, number, _)| number.to_string())),
            ("rerun", Some(self.is_rerun().to_string())),
            ("notes", Some(notes).filter(|notes| notes != "[]")),
        ])
    }
}
