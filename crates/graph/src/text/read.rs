//! Reading graphs from text.
//!
//! One function for each form, at most two tokens ahead. Texts come from anywhere: nothing here panics, nesting
//! is limited by [`MAX_DEPTH`], and memory grows with what was read, never with a number that was read.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use smallvec::SmallVec;
use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_kernel::Comparison;

use super::error::ReadError;
use super::lex::{Lexer, Token, unquote};
use crate::graph::{Atom, Equation, Graph, Location, Splat, Var};
use crate::params::ParamValue;
use crate::prim::Prim;
use crate::ty::ArrayType;

/// How deep graphs nest at most, the outermost included.
pub const MAX_DEPTH: usize = 64;

/// How many operand axes an equation may have for each byte of the text. An operand takes few bytes and its
/// type may have many axes: without a limit, a short text could ask for types that fill the memory.
const AXES_PER_BYTE: usize = 16;

type Read<T> = Result<T, ReadError>;

/// Where primitives that are not built in are found.
pub trait Resolve {
    /// The primitive of that name with these parameters, if there is one.
    fn resolve(&self, name: &str, params: &[(String, ParamValue)]) -> Option<Prim>;
}

/// No primitives but the built-in ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCustom;

impl Resolve for NoCustom {
    fn resolve(&self, _: &str, _: &[(String, ParamValue)]) -> Option<Prim> {
        None
    }
}

/// Reads one graph and checks it: whatever is returned passes the verifier.
pub fn read(text: &str, resolve: &dyn Resolve) -> Result<Graph, ReadError> {
    let mut reader = Reader::new(text, resolve, true);
    let graph = reader.graph(1)?;
    reader.end()?;
    Ok(graph)
}

/// Reads all graphs of a text, one after the other, and checks them.
pub fn read_all(text: &str, resolve: &dyn Resolve) -> Result<Vec<Graph>, ReadError> {
    let mut reader = Reader::new(text, resolve, true);
    let mut graphs = Vec::new();
    while reader.lexer.peek()? != Token::End {
        graphs.push(reader.graph(1)?);
    }
    Ok(graphs)
}

/// Reads one graph that may break every rule but those of the text form: for trying out the verifier.
///
/// Variables have the numbers of the text, and the declared types are believed.
pub fn read_unchecked(text: &str, resolve: &dyn Resolve) -> Result<Graph, ReadError> {
    let mut reader = Reader::new(text, resolve, false);
    let graph = reader.graph(1)?;
    reader.end()?;
    Ok(graph)
}

impl FromStr for Graph {
    type Err = ReadError;

    /// Reads and checks a graph of built-in primitives.
    fn from_str(text: &str) -> Result<Graph, ReadError> {
        read(text, &NoCustom)
    }
}

/// A place in a text, and how the graphs from there on are read.
pub(super) struct Reader<'a> {
    lexer: Lexer<'a>,
    resolve: &'a dyn Resolve,
    checked: bool,
}

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

/// Forms that occur in many places.
impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, resolve: &'a dyn Resolve, checked: bool) -> Reader<'a> {
        Reader { lexer: Lexer::new(text), resolve, checked }
    }

    fn end(&mut self) -> Read<()> {
        match self.lexer.peek()? {
            Token::End => Ok(()),
            _ => self.expected("the end of the text"),
        }
    }

    /// The error that something else stands here.
    fn expected<T>(&mut self, what: &str) -> Read<T> {
        let at = self.lexer.start();
        let found = self.lexer.peek()?;
        self.error(at, format!("expected {what}, found {found}"))
    }

    fn error<T>(&self, at: usize, message: impl Into<String>) -> Read<T> {
        Err(self.lexer.error_at(at, message))
    }

    /// Takes a word or sign if it is next.
    fn accept(&mut self, what: &str) -> Read<bool> {
        let found = matches!(self.lexer.peek()?, Token::Word(text) | Token::Sign(text) if text == what);
        if found {
            self.lexer.next()?;
        }
        Ok(found)
    }

    fn expect(&mut self, what: &str) -> Read<()> {
        if self.accept(what)? { Ok(()) } else { self.expected(&format!("`{what}`")) }
    }

    /// One or more, with commas between.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept(",")? {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// None or more, with commas between, up to a closing sign.
    fn list_until<T>(&mut self, close: &str, item: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        if self.accept(close)? {
            return Ok(Vec::new());
        }
        let items = self.list(item)?;
        if !self.accept(close)? {
            return self.expected(&format!("`,` or `{close}`"));
        }
        Ok(items)
    }

    /// A word, or a name in quotes.
    fn name(&mut self, what: &str) -> Read<String> {
        match self.lexer.peek()? {
            Token::Word(word) => {
                self.lexer.next()?;
                Ok(word.to_owned())
            }
            Token::Quoted(_) => self.quoted(),
            _ => self.expected(what),
        }
    }

    fn quoted(&mut self) -> Read<String> {
        let at = self.lexer.start();
        let Token::Quoted(text) = self.lexer.peek()? else { return self.expected("text in quotes") };
        self.lexer.next()?;
        match unquote(text) {
            Some(name) => Ok(name),
            None => self.error(at, "an escape is not one of `\\\"`, `\\\\`, `\\u{...}`"),
        }
    }

    fn number<T: FromStr>(&mut self) -> Read<T> {
        let at = self.lexer.start();
        let Token::Number(text) = self.lexer.peek()? else { return self.expected("a number") };
        self.lexer.next()?;
        match text.parse() {
            Ok(number) => Ok(number),
            Err(_) => self.error(at, format!("`{text}` is not a number that fits here")),
        }
    }

    fn signed(&mut self) -> Read<i64> {
        let at = self.lexer.start();
        let negative = self.accept("-")?;
        let magnitude: u64 = self.number()?;
        match 0i64.checked_sub_unsigned(magnitude) {
            Some(n) if negative => Ok(n),
            Some(n) if n != i64::MIN => Ok(-n),
            _ => self.error(at, "the number does not fit 64 bits"),
        }
    }

    fn dtype(&mut self) -> Read<DType> {
        let at = self.lexer.start();
        let Token::Word(word) = self.lexer.peek()? else { return self.expected("a type") };
        self.lexer.next()?;
        match DType::parse(word) {
            Some(dtype) => Ok(dtype),
            None => self.error(at, format!("there is no type `{word}`")),
        }
    }

    /// `f32[2,3]` or `~f32[2,3]`
    fn ty(&mut self) -> Read<ArrayType> {
        let weak = self.accept("~")?;
        let dtype = self.dtype()?;
        let at = self.lexer.start();
        self.expect("[")?;
        let shape = Shape::from(self.list_until("]", |r| r.number::<usize>())?);
        if self.checked && shape.checked_len().is_none() {
            return self.error(at, format!("shape {shape} has too many elements"));
        }
        Ok(ArrayType { dtype, shape, weak })
    }

    /// The text of a literal, which may be several tokens without space between: `-1.5`, `nan:0x7fc00001`.
    fn literal_text(&mut self) -> Read<&'a str> {
        let at = self.lexer.start();
        self.accept("-")?;
        let (Token::Word(_) | Token::Number(_)) = self.lexer.peek()? else {
            return self.expected("a literal");
        };
        let nan = self.lexer.next()? == Token::Word("nan");
        if nan && matches!(self.lexer.peek_second(), Ok(Token::Number(_))) && self.accept(":")? {
            self.lexer.next()?;
        }
        Ok(self.lexer.since(at))
    }

    fn literal(&self, dtype: DType, text: &str, at: usize) -> Read<Literal> {
        match Literal::parse(dtype, text) {
            Some(literal) => Ok(literal),
            None => self.error(at, format!("`{text}` is not a literal of type {dtype}")),
        }
    }

    /// `f32[2]{1.0,2.0}`
    fn tensor(&mut self) -> Read<Tensor> {
        let at = self.lexer.start();
        let ArrayType { dtype, shape, weak } = self.ty()?;
        if weak {
            return self.error(at, "the type of a constant is not weak");
        }
        self.expect("{")?;
        let literals = self.list_until("}", |r| {
            let at = r.lexer.start();
            let text = r.literal_text()?;
            r.literal(dtype, text, at)
        })?;
        match Tensor::from_literals(dtype, shape, &literals) {
            Ok(tensor) => Ok(tensor),
            Err(error) => self.error(at, error.to_string()),
        }
    }

    /// Arrays with commas between, and nothing else.
    pub(super) fn tensors(&mut self) -> Read<Vec<Tensor>> {
        if self.lexer.peek()? == Token::End {
            return Ok(Vec::new());
        }
        let tensors = self.list(Self::tensor)?;
        self.end()?;
        Ok(tensors)
    }
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
            Token::Number(_) | Token::Word(_) | Token::Sign("-") => {
                let at = self.lexer.start();
                let text = self.literal_text()?;
                self.expect(":")?;
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
            Token::Word("at" | "return") => false,
            Token::Word(_) => self.lexer.peek_second()? == Token::Sign(":"),
            Token::Number(_) | Token::Sign("-") => true,
            _ => false,
        })
    }
}

/// Graphs.
impl<'a> Reader<'a> {
    /// `func @name(…) -> (…) { … }`
    fn graph(&mut self, depth: usize) -> Read<Graph> {
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
            return self.error(at, format!("`@{}` is declared with {want} results, found {found}", graph.name));
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
        let results = match prim.rules().type_rule(&types) {
            Ok(results) => results,
            Err(error) => return self.error(at, error.message),
        };
        let name = prim.name();
        if results.len() != definitions.len() {
            let (found, want) = (results.len(), definitions.len());
            return self.error(at, format!("`{name}` has {found} results, declared are {want}"));
        }
        for (result, definition) in results.iter().zip(definitions) {
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
        if let Token::Quoted(_) = self.lexer.peek()? {
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

/// Primitives.
impl<'a> Reader<'a> {
    /// `broadcast[shape=[2,3], axes=[]]`
    fn prim(&mut self, depth: usize) -> Read<Prim> {
        let at = self.lexer.start();
        let name = self.name("a primitive")?;
        let params = if self.accept("[")? {
            self.list_until("]", |r| {
                let name = r.name("a parameter")?;
                r.expect("=")?;
                Ok((name, r.param(depth)?))
            })?
        } else {
            Vec::new()
        };
        let built_in = Prim::NAMES.contains(&name.as_str());
        let prim = if built_in {
            Prim::from_params(&name, &params)
        } else {
            self.resolve.resolve(&name, &params)
        };
        match prim {
            Some(prim) => Ok(prim),
            None if built_in => self.error(at, wrong_params(&name, &params)),
            None if params.is_empty() => self.error(at, format!("there is no primitive `{name}`")),
            None => self.error(at, format!("there is no primitive `{name}` with these parameters")),
        }
    }

    fn param(&mut self, depth: usize) -> Read<ParamValue> {
        match self.lexer.peek()? {
            Token::Number(_) | Token::Sign("-") => Ok(ParamValue::Int(self.signed()?)),
            Token::Sign("[") => {
                self.lexer.next()?;
                Ok(ParamValue::Ints(self.list_until("]", Self::signed)?))
            }
            Token::Quoted(_) => Ok(ParamValue::Text(self.quoted()?)),
            Token::Word("func") => Ok(ParamValue::Graph(Arc::new(self.graph(depth + 1)?))),
            Token::Word(word) => {
                if self.lexer.peek_second()? == Token::Sign("[") {
                    return Ok(ParamValue::Tensor(self.tensor()?));
                }
                let at = self.lexer.start();
                self.lexer.next()?;
                if let Some(dtype) = DType::parse(word) {
                    Ok(ParamValue::DType(dtype))
                } else if let Some(comparison) = Comparison::parse(word) {
                    Ok(ParamValue::Comparison(comparison))
                } else if let Ok(bool) = word.parse() {
                    Ok(ParamValue::Bool(bool))
                } else {
                    self.error(at, format!("`{word}` is not something that a parameter can be"))
                }
            }
            _ => self.expected("the value of a parameter"),
        }
    }
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

/// What is wrong with the parameters of a built-in primitive. Its examples know what they should be.
fn wrong_params(name: &str, found: &[(String, ParamValue)]) -> String {
    let mut wanted = Vec::new();
    if let Some(example) = Prim::examples().into_iter().find(|example| example.prim.name() == name) {
        example.prim.rules().each_param(&mut |name, value| wanted.push((name, kind(&value))));
    }
    for (i, (param, value)) in found.iter().enumerate() {
        if found[..i].iter().any(|(earlier, _)| earlier == param) {
            return format!("parameter `{param}` of `{name}` is given twice");
        }
        match wanted.iter().find(|(wanted, _)| wanted == param) {
            None => return format!("`{name}` has no parameter `{param}`"),
            Some((_, wanted)) if *wanted != kind(value) => {
                return format!("parameter `{param}` of `{name}` is {wanted}, found {}", kind(value));
            }
            Some(_) => {}
        }
    }
    match wanted.iter().find(|(wanted, _)| !found.iter().any(|(found, _)| found == wanted)) {
        Some((missing, kind)) => format!("`{name}` needs a parameter `{missing}`, {kind}"),
        None => format!("a number in the parameters of `{name}` does not fit"),
    }
}

fn kind(value: &ParamValue) -> &'static str {
    match value {
        ParamValue::Int(_) => "an integer",
        ParamValue::Bool(_) => "`true` or `false`",
        ParamValue::Ints(_) => "a list of integers",
        ParamValue::DType(_) => "an element type",
        ParamValue::Comparison(_) => "a comparison such as `lt`",
        ParamValue::Text(_) => "text in quotes",
        ParamValue::Tensor(_) => "a constant",
        ParamValue::Graph(_) => "a graph",
    }
}
