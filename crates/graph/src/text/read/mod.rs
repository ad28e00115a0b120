//! Reading graphs from text.
//!
//! One function for each form, at most two tokens ahead. Texts come from anywhere: nothing here panics, nesting
//! is limited by [`MAX_DEPTH`], and memory grows with what was read, never with a number that was read.

mod graph;
mod prim;

use std::str::FromStr;

use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_kernel::text::unquote;

use super::error::ReadError;
use super::lex::{Lexer, Token};
use crate::graph::{Atom, Graph};
use crate::params::ParamValue;
use crate::prim::Prim;
use crate::ty::ArrayType;

/// How deep graphs nest at most, the outermost included.
pub const MAX_DEPTH: usize = 64;

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

/// Reads one primitive with its parameters, as [`write_prim`](super::write_prim) wrote it.
pub fn read_prim(text: &str, resolve: &dyn Resolve) -> Result<Prim, ReadError> {
    let mut reader = Reader::new(text, resolve, true);
    let prim = reader.prim(1)?;
    reader.end()?;
    Ok(prim)
}

/// Reads one primitive with its operands, of which variables are numbers: `add %0, 2.0:f32[2]`.
pub fn read_applied(text: &str, resolve: &dyn Resolve) -> Result<(Prim, Vec<Atom>), ReadError> {
    Reader::new(text, resolve, true).applied()
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
pub(in crate::text) struct Reader<'a> {
    lexer: Lexer<'a>,
    resolve: &'a dyn Resolve,
    checked: bool,
}

/// Forms that occur in many places.
impl<'a> Reader<'a> {
    pub(in crate::text) fn new(text: &'a str, resolve: &'a dyn Resolve, checked: bool) -> Reader<'a> {
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
            None => self.error(at, "an escape is not one of `\\\"`, `\\\\`, `\\n`, `\\u{...}`"),
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

    /// The text of a literal, which may be several tokens without space between: `-1.5`, `nan:0x7fc00001`, and two
    /// such with a sign between for a complex number.
    fn literal_text(&mut self) -> Read<&'a str> {
        let at = self.lexer.start();
        self.accept("-")?;
        self.magnitude()?;
        if self.accept("+")? || self.accept("-")? {
            self.magnitude()?;
        }
        Ok(self.lexer.since(at))
    }

    /// A literal without its sign.
    fn magnitude(&mut self) -> Read<()> {
        let (Token::Word(_) | Token::Number(_)) = self.lexer.peek()? else {
            return self.expected("a literal");
        };
        let nan = self.lexer.next()? == Token::Word("nan");
        if nan && matches!(self.lexer.peek_second(), Ok(Token::Number(_))) && self.accept(":")? {
            self.lexer.next()?;
        }
        Ok(())
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
    pub(in crate::text) fn tensors(&mut self) -> Read<Vec<Tensor>> {
        if self.lexer.peek()? == Token::End {
            return Ok(Vec::new());
        }
        let tensors = self.list(Self::tensor)?;
        self.end()?;
        Ok(tensors)
    }
}
