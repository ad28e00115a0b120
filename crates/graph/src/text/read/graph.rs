//! Reading variables, equations and graphs, and checking their types on the way.

use std::collections::BTreeMap;

use smallvec::SmallVec;
use tracewell_array::DType;

use super::super::lex::Token;
use super::{MAX_DEPTH, Read, Reader};
use crate::graph::{Atom, Equation, Graph, Location, Splat, Var};
use crate::prim::Prim;
use crate::ty::ArrayType;

/// How many operand axes an equation may have for each byte of the text. An operand takes few bytes and its
/// type may have many axes: without a limit, a short text could ask for types that fill the memory.
const AXES_PER_BYTE: usize = 16;

/// The variables of the graph being read.
#[derive(Default)]
struct Scope<'a> {
    /// By the names they have in the text.
    names: BTreeMap<&'a str, Var>,
    types: Vec<ArrayType>,
}

/// A variable about to be defined: its name, its type, and where they stand.
struct Definition<'a> {
    name: &'a str,
    at: usize,
    ty: ArrayType,
    ty_at: usize,
}

/// Variables.
impl<'a> Reader<'a> {
    /// `%0: f32[2,3]`
    fn definition(&mut self) -> Read<Definition<'a>> {
        let at = self.lexer.start();
        let Token::Value(name) = self.lexer.peek()? else { return self.expected("a variable such as `%0`") };
        self.lexer.next()?;
        self.expect(":")?;
        let ty_at = self.lexer.start();
        Ok(Definition { name, at, ty: self.ty()?, ty_at })
    }

    /// Lets the equations that follow use a variable.
    fn define(&self, scope: &mut Scope<'a>, definition: Definition<'a>) -> Read<Var> {
        let Definition { name, at, ty, .. } = definition;
        let var = if self.checked { next_var(&scope.types) } else { plain_number(name) };
        // Names take up text, so a number beyond its length was not reached by counting.
        let Some(var) = var.filter(|var| (var.0 as usize) < self.lexer.text_len()) else {
            return self.error(at, format!("`%{name}` is not a number that fits here"));
        };
        if scope.names.insert(name, var).is_some() && self.checked {
            return self.error(at, format!("`%{name}` is defined twice"));
        }
        let index = var.0 as usize;
        if index >= scope.types.len() {
            scope.types.resize(index + 1, ArrayType::new(DType::Bool, []));
        }
        scope.types[index] = ty;
        Ok(var)
    }

    fn var(&mut self, scope: &Scope<'a>) -> Read<Var> {
        let at = self.lexer.start();
        let Token::Value(name) = self.lexer.peek()? else { return self.expected("a variable such as `%0`") };
        self.lexer.next()?;
        let unchecked = || if self.checked { None } else { plain_number(name) };
        match scope.names.get(name).copied().or_else(unchecked) {
            Some(var) => Ok(var),
            None => self.error(at, format!("`%{name}` is not defined")),
        }
    }

    /// `%0`, or `2.0:f32[2,3]`
    fn atom(&mut self, scope: &Scope<'a>) -> Read<Atom> {
        match self.lexer.peek()? {
            Token::Value(_) => Ok(Atom::Var(self.var(scope)?)),
            Token::Number(_) | Token::Word("nan" | "inf" | "true" | "false") | Token::Sign("-") => {
                let at = self.lexer.start();
                let text = self.literal_text()?;
                if !self.accept(":")? {
                    return self.expected("`:` and the type of the literal");
                }
                let ArrayType { dtype, shape, weak } = self.ty()?;
                Ok(Atom::Splat(Splat { literal: self.literal(dtype, text, at)?, shape, weak }))
            }
            _ => self.expected("an operand such as `%0` or `2.0:f32[2]`"),
        }
    }

    /// Whether an operand is next, and not the next equation: line ends mean nothing.
    fn at_atom(&mut self) -> Read<bool> {
        Ok(match self.lexer.peek()? {
            Token::Value(_) => self.lexer.peek_second()? != Token::Sign(":"),
            Token::Word("nan" | "inf" | "true" | "false") => self.lexer.peek_second()? == Token::Sign(":"),
            Token::Number(_) | Token::Sign("-") => true,
            _ => false,
        })
    }
}

/// Primitives with operands.
impl Reader<'_> {
    /// `add %0, 2.0:f32[2]`, where variables are numbers.
    pub(super) fn applied(&mut self) -> Read<(Prim, Vec<Atom>)> {
        let prim = self.prim(1)?;
        let mut operands = Vec::new();
        while self.lexer.peek()? != Token::End {
            if !operands.is_empty() {
                self.expect(",")?;
            }
            let at = self.lexer.start();
            operands.push(match self.lexer.peek()? {
                Token::Value(name) => {
                    self.lexer.next()?;
                    match plain_number(name) {
                        Some(var) => Atom::Var(var),
                        None => return self.error(at, format!("`%{name}` is not a number that fits here")),
                    }
                }
                _ => self.atom(&Scope::default())?,
            });
        }
        Ok((prim, operands))
    }
}

/// Graphs.
impl<'a> Reader<'a> {
    /// `func @name(…) -> (…) { … }`
    pub(super) fn graph(&mut self, depth: usize) -> Read<Graph> {
        let at = self.lexer.start();
        if depth > MAX_DEPTH {
            return self.error(at, format!("graphs nest more than {MAX_DEPTH} deep"));
        }
        self.expect("func")?;
        self.expect("@")?;
        let name = self.name("a name")?;
        let mut scope = Scope::default();
        self.expect("(")?;
        let inputs = self.list_until(")", |r| {
            let definition = r.definition()?;
            r.define(&mut scope, definition)
        })?;
        self.expect("->")?;
        self.expect("(")?;
        let declared = self.list_until(")", |r| Ok((r.lexer.start(), r.ty()?)))?;
        self.expect("{")?;
        let mut equations = Vec::new();
        while !self.accept("return")? {
            if !matches!(self.lexer.peek()?, Token::Value(_) | Token::Word(_) | Token::Quoted(_)) {
                return self.expected("an equation or `return`");
            }
            equations.push(self.equation(&mut scope, depth)?);
        }
        let outputs_at = self.lexer.start();
        let mut places = Vec::new();
        let outputs = self.list_until("}", |r| {
            places.push(r.lexer.start());
            r.atom(&scope)
        })?;
        let graph = Graph { name, inputs, equations, outputs, types: scope.types };
        if self.checked {
            self.check_outputs(&graph, &declared, &places, outputs_at)?;
        }
        Ok(graph)
    }

    /// That a graph returns what its first line says. Types are compared one by one, before anything copies
    /// them all: many outputs of few bytes may have the same long type.
    fn check_outputs(
        &self,
        graph: &Graph,
        declared: &[(usize, ArrayType)],
        places: &[usize],
        at: usize,
    ) -> Read<()> {
        if declared.len() != graph.outputs.len() {
            let (want, found) = (declared.len(), graph.outputs.len());
            let message = format!("`{}` is declared with {}, found {found}", graph.name, results(want));
            return self.error(at, message);
        }
        for ((output, place), (_, want)) in graph.outputs.iter().zip(places).zip(declared) {
            let found = graph.atom_type(output);
            if found != *want {
                return self.error(*place, format!("the result is declared as {want}, found {found}"));
            }
        }
        Ok(())
    }

    /// `%2: f32[2,3] = mul %0, %1    at src/main.rs:10:5`
    fn equation(&mut self, scope: &mut Scope<'a>, depth: usize) -> Read<Equation> {
        let definitions = match self.lexer.peek()? {
            Token::Value(_) => {
                let definitions = self.list(Self::definition)?;
                self.expect("=")?;
                definitions
            }
            _ => Vec::new(),
        };
        let at = self.lexer.start();
        let prim = self.prim(depth)?;
        let inputs: SmallVec<[Atom; 3]> =
            if self.at_atom()? { self.list(|r| r.atom(scope))?.into() } else { SmallVec::new() };
        let location = if self.accept("at")? { Some(self.location()?) } else { None };
        if self.checked {
            self.check_equation(at, &prim, &inputs, scope, &definitions)?;
        }
        let outputs = definitions.into_iter().map(|d| self.define(scope, d)).collect::<Read<_>>()?;
        Ok(Equation { prim, inputs, outputs, location })
    }

    /// That an equation has the types its primitive gives it.
    fn check_equation(
        &self,
        at: usize,
        prim: &Prim,
        inputs: &[Atom],
        scope: &Scope<'a>,
        definitions: &[Definition<'a>],
    ) -> Read<()> {
        let axes = inputs.iter().map(|atom| match atom {
            Atom::Var(var) => scope.types[var.0 as usize].rank(),
            Atom::Splat(splat) => splat.shape.rank(),
        });
        if axes.fold(0, usize::saturating_add) > AXES_PER_BYTE.saturating_mul(self.lexer.text_len()) {
            return self.error(at, "the operands have more axes than a text of this size can mean");
        }
        let types: Vec<ArrayType> = inputs
            .iter()
            .map(|atom| match atom {
                Atom::Var(var) => scope.types[var.0 as usize].clone(),
                Atom::Splat(splat) => splat.ty(),
            })
            .collect();
        let given = match prim.rules().type_rule(&types) {
            Ok(given) => given,
            Err(error) => return self.error(at, error.message),
        };
        let name = prim.name();
        if given.len() != definitions.len() {
            let (found, want) = (given.len(), definitions.len());
            return self.error(at, format!("`{name}` gives {}, declared with {want}", results(found)));
        }
        for (result, definition) in given.iter().zip(definitions) {
            if *result != definition.ty {
                let (ty, var) = (&definition.ty, definition.name);
                let message = format!("`%{var}` is declared as {ty}, but `{name}` gives {result}");
                return self.error(definition.ty_at, message);
            }
        }
        Ok(())
    }

    /// `src/main.rs:10:5`, or `"my src/main.rs":10:5`
    fn location(&mut self) -> Read<Location> {
        let at = self.lexer.start();
        // Not a look at the next token: a path may begin with what begins none.
        if self.lexer.at_quote() {
            let file = self.quoted()?.into();
            self.expect(":")?;
            let line = self.number()?;
            self.expect(":")?;
            return Ok(Location { file, line, column: self.number()? });
        }
        let mut parts = self.lexer.unspaced().rsplitn(3, ':');
        let (column, line, file) = (parts.next(), parts.next(), parts.next());
        match (file, line.and_then(|n| n.parse().ok()), column.and_then(|n| n.parse().ok())) {
            (Some(file), Some(line), Some(column)) => {
                Ok(Location { file: file.to_owned().into(), line, column })
            }
            _ => self.error(at, "expected a location such as `src/main.rs:10:5`"),
        }
    }
}

/// `1 result`, `2 results`
fn results(count: usize) -> String {
    format!("{count} result{}", if count == 1 { "" } else { "s" })
}

/// The next variable of a graph.
fn next_var(types: &[ArrayType]) -> Option<Var> {
    u32::try_from(types.len()).ok().map(Var)
}

/// A number as it is written: no sign, no leading zero, so that each has one spelling.
fn plain_number(text: &str) -> Option<Var> {
    let number: u32 = text.parse().ok()?;
    (number.to_string() == text).then_some(Var(number))
}
