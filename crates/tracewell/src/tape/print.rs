//! A tape as text: one line a node, each level two spaces deeper.

use std::fmt;

use super::node::{Argument, Callee, Kind, Node, Produced};
use super::{Reference, Tape};
use crate::array::Array;

/// So many elements of an array are printed at most.
const ELEMENTS: usize = 4;

/// The first levels of a tape, for printing: [`Tape::levels`].
#[derive(Clone, Copy)]
pub struct Levels<'t> {
    node: Node<'t>,
    levels: usize,
}

impl Tape {
    /// The first levels, one line a node.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from(2.0f32);
    /// let tape = Tape::record(|| x.sqrt());
    /// let text = tape.levels(1).to_string();
    /// assert!(text.starts_with("⟨program⟩() → 1.4142135: f32[]"));
    /// assert!(text.contains("  @1: [Const] 2.0: f32[]\n"), "{text}");
    /// ```
    pub fn levels(&self, levels: usize) -> Levels<'_> {
        self.root().levels(levels)
    }
}

impl<'t> Node<'t> {
    /// The first levels from this node on.
    pub fn levels(&self, levels: usize) -> Levels<'t> {
        Levels { node: *self, levels }
    }

    /// Where it is: the positions of the calls around it and its own, `2.5`.
    pub fn path(&self) -> String {
        let mut all: Vec<String> =
            std::iter::successors(Some(*self), Node::parent).map(|node| node.index().to_string()).collect();
        all.pop();
        all.reverse();
        all.join(".")
    }

    /// A value of another node as this one sees it: `@4` on its own level, `@/2.5` elsewhere.
    fn reference(&self, reference: Reference) -> String {
        let node = self.tape.node(reference.node);
        let near = node.parent() == self.parent();
        let place = if near { node.index().to_string() } else { format!("/{}", node.path()) };
        match node.types().len() {
            0 | 1 => format!("@{place}"),
            _ => format!("@{place}#{}", reference.result),
        }
    }

    fn argument(&self, argument: &Argument) -> String {
        match argument {
            Argument::Reference(reference) => self.reference(*reference),
            Argument::Constant(array) => format!("⟨{}⟩", brief(array)),
            Argument::Unknown(ty) => format!("⟨{ty}⟩"),
        }
    }

    /// What it does, without its value: `⟨sin⟩(@3)`.
    pub fn expression(&self) -> String {
        let arguments: Vec<String> =
            self.arguments().iter().map(|argument| self.argument(argument)).collect();
        let arguments = arguments.join(", ");
        match self.kind() {
            Kind::Argument { .. } if arguments.is_empty() => self.name().to_string(),
            Kind::Argument { .. } => format!("{} = {arguments}", self.name()),
            Kind::Constant => String::new(),
            Kind::Return => format!("return {arguments}"),
            Kind::Branch => {
                let value = self.value().map_or_else(|| "?".to_string(), |value| brief(&value));
                format!("{} since {arguments} == {value}", self.name())
            }
            Kind::Failure { message } => format!("⟨{}⟩({arguments}) failed: {message}", self.name()),
            Kind::Call(Callee::Jit) => format!("⟨jit {}⟩({arguments})", self.name()),
            Kind::Call(Callee::Function(role)) if !role.is_empty() => {
                format!("⟨{role} {}⟩({arguments})", self.name())
            }
            Kind::Program | Kind::Primitive(_) | Kind::Call(_) => format!("⟨{}⟩({arguments})", self.name()),
        }
    }

    /// Its values with their types.
    pub(super) fn values_text(&self) -> String {
        let one = |made: &Produced| match made.array() {
            Some(array) => format!("{}: {}", brief(&array), made.ty),
            None => made.ty.to_string(),
        };
        self.record().results.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// One line: where, what, with which value.
    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |node: &Node<'_>| {
            let location = node.location()?;
            let file = location.file.rsplit(['/', '\\']).next().unwrap_or(&location.file);
            Some(format!("{file}:{}:{}", location.line, location.column))
        };
        if self.parent().is_some() {
            write!(f, "@{}: ", self.index())?;
            match self.kind() {
                Kind::Argument { .. } => write!(f, "[Arg] ")?,
                Kind::Constant => write!(f, "[Const] ")?,
                _ => {
                    let equation = self.equation().map(|(_, number, _)| format!("%{number}"));
                    let parts: Vec<String> = equation.into_iter().chain(place(self)).collect();
                    if !parts.is_empty() {
                        write!(f, "[{}] ", parts.join(" "))?;
                    }
                }
            }
        }
        let (expression, values) = (self.expression(), self.values_text());
        let is_said = matches!(self.kind(), Kind::Branch);
        match (expression.is_empty(), values.is_empty() || is_said) {
            (false, false) => write!(f, "{expression} → {values}")?,
            (false, true) => write!(f, "{expression}")?,
            (true, _) => write!(f, "{values}")?,
        }
        if self.is_rerun() && matches!(self.kind(), Kind::Primitive(_) | Kind::Call(_)) {
            write!(f, " (re-run)")?;
        }
        let notes: Vec<String> =
            self.record().notes.0.iter().map(|(name, note)| format!("{name} = {note:?}")).collect();
        if !notes.is_empty() {
            write!(f, "\t[{}]", notes.join(", "))?;
        }
        Ok(())
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize, levels: usize) -> fmt::Result {
        write!(f, "{:1$}", "", depth * 2)?;
        self.line(f)?;
        writeln!(f)?;
        if levels > 0 {
            self.children().try_for_each(|child| child.write(f, depth + 1, levels - 1))?;
        }
        Ok(())
    }
}

/// The short form: what it does and its value, on one line.
impl fmt::Display for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.line(f)
    }
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.line(f)
    }
}

impl fmt::Display for Levels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.node.write(f, 0, self.levels)
    }
}

impl fmt::Debug for Levels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The first elements, on one line.
pub(super) fn brief(array: &Array) -> String {
    let Some(tensor) = array.value().known() else { return array.ty().to_string() };
    if tensor.rank() == 0 {
        return tensor.literal(0).to_string();
    }
    let shown: Vec<String> = tensor.literals().take(ELEMENTS).map(|literal| literal.to_string()).collect();
    let more = if tensor.len() > ELEMENTS { ", …" } else { "" };
    format!("[{}{more}]", shown.join(", "))
}
