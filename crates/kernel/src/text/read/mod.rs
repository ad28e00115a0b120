//! Reading kernels and programs from text.
//!
//! One function for each form, one token ahead. Texts come from anywhere: nothing here panics, nesting is
//! limited by [`MAX_DEPTH`], and memory grows with what was read, never with a number that was read.

mod kernel;
mod program;

use std::collections::BTreeMap;
use std::str::FromStr;

use tracewell_array::{DType, Literal, Shape};

use super::lex::{Lexer, ReadError, Token};
use super::quoted::unquote;
use crate::ir::{BufferId, Kernel, Size, SizeId, Value};
use crate::library::Custom;
use crate::program::Program;

/// How deep regions nest at most, the body of the kernel included.
pub const MAX_DEPTH: usize = 64;

type Read<T> = Result<T, ReadError>;

/// Reads one kernel. Users' functions are asked for by name.
pub fn read_kernel(text: &str, resolve: &dyn Fn(&str) -> Option<Custom>) -> Result<Kernel, ReadError> {
    let mut reader = Reader::new(text, resolve);
    let kernel = reader.kernel()?;
    reader.end()?;
    Ok(kernel)
}

/// Reads one program. Users' functions are asked for by name.
pub fn read_program(text: &str, resolve: &dyn Fn(&str) -> Option<Custom>) -> Result<Program, ReadError> {
    let mut reader = Reader::new(text, resolve);
    let program = reader.program()?;
    reader.end()?;
    Ok(program)
}

impl FromStr for Kernel {
    type Err = ReadError;

    /// Reads a kernel that calls no functions of users.
    fn from_str(text: &str) -> Result<Kernel, ReadError> {
        read_kernel(text, &|_| None)
    }
}

impl FromStr for Program {
    type Err = ReadError;

    /// Reads a program that calls no functions of users.
    fn from_str(text: &str) -> Result<Program, ReadError> {
        read_program(text, &|_| None)
    }
}

struct Reader<'a> {
    lexer: Lexer<'a>,
    resolve: &'a dyn Fn(&str) -> Option<Custom>,
    /// The values of the kernel being read, by the names they have in its text.
    names: BTreeMap<&'a str, Value>,
    values: Vec<DType>,
}

/// A value about to be defined: its name, where that stands, and its type.
#[derive(Clone, Copy)]
struct Definition<'a> {
    name: &'a str,
    at: usize,
    dtype: DType,
}

/// Forms that occur in many places.
impl<'a> Reader<'a> {
    fn new(text: &'a str, resolve: &'a dyn Fn(&str) -> Option<Custom>) -> Reader<'a> {
        Reader { lexer: Lexer::new(text), resolve, names: BTreeMap::new(), values: Vec::new() }
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
        Err(self.lexer.error_at(at, format!("expected {what}, found {found}")))
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
        self.expect(close)?;
        Ok(items)
    }

    fn word(&mut self, what: &str) -> Read<&'a str> {
        match self.lexer.peek()? {
            Token::Word(word) => {
                self.lexer.next()?;
                Ok(word)
            }
            _ => self.expected(what),
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
        let word = self.word("a type")?;
        match DType::parse(word) {
            Some(dtype) => Ok(dtype),
            None => self.error(at, format!("there is no type `{word}`")),
        }
    }

    /// A type if one is next. A literal such as `true` is not one.
    fn optional_dtype(&mut self) -> Read<Option<DType>> {
        match self.lexer.peek()? {
            Token::Word(word) if DType::parse(word).is_some() => Ok(Some(self.dtype()?)),
            _ => Ok(None),
        }
    }

    fn shape(&mut self) -> Read<Shape> {
        self.expect("[")?;
        Ok(Shape::from(self.list_until("]", |r| r.number::<usize>())?))
    }

    /// `@name` or `@"name"`
    fn name(&mut self) -> Read<String> {
        self.expect("@")?;
        match self.lexer.peek()? {
            Token::Word(word) => {
                self.lexer.next()?;
                Ok(word.to_owned())
            }
            Token::Quoted(_) => self.quoted(),
            _ => self.expected("a name"),
        }
    }

    fn quoted(&mut self) -> Read<String> {
        let at = self.lexer.start();
        let Token::Quoted(text) = self.lexer.peek()? else { return self.expected("a quoted name") };
        self.lexer.next()?;
        match unquote(text) {
            Some(name) => Ok(name),
            None => self.error(at, "an escape is not one of `\\\"`, `\\\\`, `\\n`, `\\u{...}`"),
        }
    }

    /// A word made of a letter and a number: `b0`, `s0`.
    fn numbered(&mut self, letter: char, what: &str) -> Read<u32> {
        let at = self.lexer.start();
        let word = self.word(what)?;
        match plain_number(word.strip_prefix(letter)) {
            Some(number) => Ok(number),
            None => self.error(at, format!("expected {what}, found `{word}`")),
        }
    }

    fn buffer(&mut self) -> Read<BufferId> {
        Ok(BufferId(self.numbered('b', "a buffer such as `b0`")?))
    }

    fn size(&mut self) -> Read<Size> {
        match self.lexer.peek()? {
            Token::Word(_) => Ok(Size::Param(SizeId(self.numbered('s', "a size such as `s0`")?))),
            _ => Ok(Size::Const(self.signed()?)),
        }
    }

    /// The text of a literal may be several tokens without space between: `-1.5`, `nan:0x7fc00001`.
    fn literal(&mut self, dtype: DType) -> Read<Literal> {
        let at = self.lexer.start();
        self.accept("-")?;
        let (Token::Word(_) | Token::Number(_)) = self.lexer.peek()? else {
            return self.expected("a literal");
        };
        if self.lexer.next()? == Token::Word("nan") && self.accept(":")? {
            self.lexer.next()?;
        }
        let text = self.lexer.between(at, self.lexer.end());
        match Literal::parse(dtype, text) {
            Some(literal) => Ok(literal),
            None => self.error(at, format!("`{text}` is not a literal of type {dtype}")),
        }
    }
}

/// Values.
impl<'a> Reader<'a> {
    fn value(&mut self) -> Read<Value> {
        let at = self.lexer.start();
        let Token::Value(name) = self.lexer.peek()? else { return self.expected("a value such as `%0`") };
        self.lexer.next()?;
        match self.names.get(name) {
            Some(value) => Ok(*value),
            None => self.error(at, format!("`%{name}` is not defined")),
        }
    }

    /// `%0: f32`; the type may be left out where there is a default.
    fn definition(&mut self, default: Option<DType>) -> Read<Definition<'a>> {
        let at = self.lexer.start();
        let Token::Value(name) = self.lexer.peek()? else { return self.expected("a value such as `%0`") };
        self.lexer.next()?;
        let dtype = match default {
            Some(dtype) if !self.accept(":")? => dtype,
            Some(_) => self.dtype()?,
            None => {
                self.expect(":")?;
                self.dtype()?
            }
        };
        Ok(Definition { name, at, dtype })
    }

    /// Gives the next number.
    fn allot(&mut self, definition: Definition<'a>) -> Read<Value> {
        let Ok(number) = u32::try_from(self.values.len()) else {
            return self.error(definition.at, "a kernel cannot have so many values");
        };
        self.values.push(definition.dtype);
        Ok(Value(number))
    }

    /// Lets the text that follows use a value.
    fn bind(&mut self, definition: Definition<'a>, value: Value) -> Read<()> {
        match self.names.insert(definition.name, value) {
            None => Ok(()),
            Some(_) => self.error(definition.at, format!("`%{}` is defined twice", definition.name)),
        }
    }

    fn define(&mut self, definition: Definition<'a>) -> Read<Value> {
        let value = self.allot(definition)?;
        self.bind(definition, value)?;
        Ok(value)
    }
}

/// A number as it is written: no sign, no leading zero, so that each has one spelling.
fn plain_number(text: Option<&str>) -> Option<u32> {
    let text = text?;
    let number = text.parse().ok()?;
    (u32::to_string(&number) == text).then_some(number)
}
