//! Reading call trees from text: one function for each form, one token ahead.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_graph::text::{Resolve, unquote};
use tracewell_graph::{ArrayType, Location, Splat, text as graph_text};
use tracewell_trace::{Api, ErrorKind, Form};

use super::MAX_DEPTH;
use super::lex::{Lexer, Token};
use crate::failure::{Failure, Stage};
use crate::tree::{Answer, ApiCall, Bind, Body, CallTree, Name, Operand, Statement, Typed};

/// Why a text is no call tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ReadError {}

type Read<T> = Result<T, String>;

/// Reads a tree. `file` gives the arrays that are in files, by their names; `resolve` primitives of users.
pub fn read(
    text: &str,
    resolve: &dyn Resolve,
    file: &dyn Fn(&str) -> Result<Tensor, String>,
) -> Result<CallTree, ReadError> {
    let mut reader =
        Reader { lexer: Lexer::new(text), resolve, file, data: Vec::new(), types: BTreeMap::new(), depth: 0 };
    reader.tree().map_err(|message| ReadError { line: reader.lexer.line(), message })
}

/// Reads the line of a failure.
pub fn read_failure(text: &str) -> Result<Failure, ReadError> {
    let file = |_: &str| Err("there are no files here".to_string());
    let mut reader = Reader {
        lexer: Lexer::new(text),
        resolve: &graph_text::NoCustom,
        file: &file,
        data: Vec::new(),
        types: BTreeMap::new(),
        depth: 0,
    };
    let read = reader.expect_word("failure").and_then(|()| reader.failure());
    read.map_err(|message| ReadError { line: 1, message })
}

struct Reader<'a> {
    lexer: Lexer<'a>,
    resolve: &'a dyn Resolve,
    file: &'a dyn Fn(&str) -> Result<Tensor, String>,
    data: Vec<Tensor>,
    /// The types of what was defined so far.
    types: BTreeMap<u32, ArrayType>,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn tree(&mut self) -> Read<CallTree> {
        self.expect_word("repro")?;
        let format: u32 = self.number()?;
        if format != 1 {
            return Err(format!("this is format {format}, and only format 1 is known"));
        }
        let mut tree = CallTree {
            version: String::new(),
            settings: Vec::new(),
            main: Body::main(Location { file: Cow::Borrowed(""), line: 0, column: 0 }),
            failure: None,
            stand_ins: Vec::new(),
            answers: Vec::new(),
        };
        loop {
            match self.word()? {
                "version" => tree.version = self.quoted()?,
                "setting" => {
                    let setting = (self.quoted()?, self.quoted()?);
                    tree.settings.push(setting);
                }
                "stand_in" => {
                    let text = self.quoted()?;
                    tree.stand_ins.push(text);
                }
                "failure" => tree.failure = Some(self.failure()?),
                "data" => self.datum()?,
                "answer" => {
                    let answer = self.answer()?;
                    tree.answers.push(answer);
                }
                "main" => break,
                other => return Err(format!("`{other}` begins nothing that is known")),
            }
        }
        tree.main = self.body(None, String::new(), Vec::new(), Vec::new())?;
        match self.lexer.next()? {
            Token::End => Ok(tree),
            found => Err(format!("expected the end of the text, found {found}")),
        }
    }

    fn failure(&mut self) -> Read<Failure> {
        let kind = self.quoted()?;
        let stage = self.word()?;
        let stage = Stage::parse(stage).ok_or_else(|| format!("there is no stage `{stage}`"))?;
        let primitive = if self.accept_word("of")? { Some(self.quoted()?) } else { None };
        Ok(Failure { kind, stage, primitive, message: self.quoted()? })
    }

    fn datum(&mut self) -> Read<()> {
        let number: usize = self.number()?;
        if number != self.data.len() {
            return Err(format!("data {} is next, found {number}", self.data.len()));
        }
        let tensor = if self.accept_word("file")? {
            let name = self.quoted()?;
            (self.file)(&name)?
        } else {
            let mut found = graph_text::read_tensors(&self.quoted()?).map_err(|error| error.to_string())?;
            if found.len() != 1 {
                return Err(format!("one array is expected here, found {}", found.len()));
            }
            found.remove(0)
        };
        self.data.push(tensor);
        Ok(())
    }

    /// `$0`, which was read.
    fn known_datum(&mut self) -> Read<Tensor> {
        self.expect('$')?;
        let index: usize = self.number()?;
        self.data.get(index).cloned().ok_or_else(|| format!("there is no data {index}"))
    }

    /// `"function" 17 ($0, $1)`, or `"function" 17 failed`
    fn answer(&mut self) -> Read<Answer> {
        let (function, given) = (self.quoted()?, self.number()?);
        let failed = self.accept_word("failed")?;
        let results = if failed { None } else { Some(self.list('(', ')', Reader::known_datum)?) };
        Ok(Answer { function, given, results })
    }

    /// `at … { … }`
    fn body(
        &mut self,
        name: Option<String>,
        role: String,
        parameters: Vec<Typed>,
        forms: Vec<(String, Form<Name>)>,
    ) -> Read<Body> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("functions nest more than {MAX_DEPTH} deep"));
        }
        let location = self.at()?;
        self.expect('{')?;
        let (mut statements, mut returned) = (Vec::new(), None);
        while !self.accept('}')? {
            if returned.is_some() {
                return Err("nothing comes after `return`".to_string());
            }
            match self.word()? {
                "bind" => statements.push(self.bind()?),
                "api" => statements.push(Statement::Api(Arc::new(self.api()?))),
                "ask" => {
                    let (operand, what) = (self.operand()?, self.quoted()?);
                    statements.push(Statement::Ask { operand, what, location: self.at()? });
                }
                "call" => {
                    let name = self.quoted()?;
                    let operands = self.list('(', ')', Self::operand)?;
                    let arguments = self.list('[', ']', Self::quoted)?;
                    statements.push(Statement::Call { name, operands, arguments, location: self.at()? });
                }
                "raise" => {
                    let kind = self.word()?;
                    let kind = ErrorKind::parse(kind).ok_or_else(|| format!("there is no kind `{kind}`"))?;
                    let message = self.quoted()?;
                    statements.push(Statement::Raise { kind, message, location: self.at()? });
                }
                "panic" => {
                    let text = self.quoted()?;
                    statements.push(Statement::Panic { text });
                }
                "return" => returned = Some(self.form(0, &mut |reader| reader.operand())?),
                other => return Err(format!("`{other}` begins no statement")),
            }
        }
        self.depth -= 1;
        Ok(Body { name, role, location, parameters, forms, statements, returned })
    }

    fn bind(&mut self) -> Read<Statement> {
        let prim = self.quoted()?;
        let prim = graph_text::read_prim(&prim, self.resolve).map_err(|error| error.message)?;
        let operands = self.list('(', ')', Self::operand)?;
        self.arrow()?;
        let results = self.list('(', ')', Self::define)?;
        Ok(Statement::Bind(Bind { prim, operands, results, location: self.at()? }))
    }

    fn api(&mut self) -> Read<ApiCall> {
        let name = self.quoted()?;
        let api = Api::parse(&name).ok_or_else(|| format!("there is no API `{name}`"))?;
        let function = if self.at_quote()? { Some(self.quoted()?) } else { None };
        let arguments = self.list('(', ')', |reader| {
            let root = reader.quoted()?;
            reader.expect(':')?;
            Ok((root, reader.form(0, &mut |reader| reader.operand())?))
        })?;
        let mut options = Vec::new();
        if self.peek()? == Token::Sign('[') {
            options = self.list('[', ']', |reader| {
                let name = reader.quoted()?;
                reader.expect('=')?;
                Ok((name, reader.quoted()?))
            })?;
        }
        let location = self.at()?;
        self.expect('{')?;
        let mut bodies = Vec::new();
        while !self.accept('}')? {
            self.expect_word("fn")?;
            bodies.push(Arc::new(self.function()?));
        }
        let mut results = None;
        if self.peek()? == Token::Sign('-') {
            self.arrow()?;
            results = Some(self.form(0, &mut Self::define)?);
        }
        let returned = if self.accept_word("returns")? { Some(self.number()?) } else { None };
        Ok(ApiCall { api, function, arguments, options, bodies, results, returned, location })
    }

    fn function(&mut self) -> Read<Body> {
        let name = if self.at_quote()? { Some(self.quoted()?) } else { None };
        let role = if self.accept_word("as")? { self.quoted()? } else { String::new() };
        let parameters = self.list('(', ')', Self::define)?;
        let mut forms = Vec::new();
        if self.accept_word("trees")? {
            forms = self.list('(', ')', |reader| {
                let root = reader.quoted()?;
                reader.expect(':')?;
                let form = reader.form(0, &mut |reader| Ok(reader.var()?.name))?;
                Ok((root, form))
            })?;
        }
        self.body(name, role, parameters, forms)
    }

    /// `%0: f32[2]`
    fn define(&mut self) -> Read<Typed> {
        self.expect('%')?;
        let var: u32 = self.number()?;
        self.expect(':')?;
        let ty = self.ty()?;
        match self.types.insert(var, ty.clone()) {
            Some(before) if before != ty => {
                Err(format!("`%{var}` is defined twice, as {before} and as {ty}"))
            }
            _ => Ok(Typed { name: Name { frame: 0, var }, ty }),
        }
    }

    /// `%0`, which was defined.
    fn var(&mut self) -> Read<Typed> {
        self.expect('%')?;
        let var: u32 = self.number()?;
        let ty = self.types.get(&var).ok_or_else(|| format!("`%{var}` is not defined"))?;
        Ok(Typed { name: Name { frame: 0, var }, ty: ty.clone() })
    }

    fn operand(&mut self) -> Read<Operand> {
        match self.peek()? {
            Token::Sign('%') => Ok(Operand::Var(self.var()?)),
            Token::Sign('~' | '$') => {
                let weak = self.accept('~')?;
                Ok(Operand::Data(self.known_datum()?, weak))
            }
            Token::Word("splat") => {
                self.word()?;
                let literal = self.quoted()?;
                let ArrayType { dtype, shape, weak } = self.ty()?;
                let parsed = Literal::parse(dtype, &literal);
                let literal = parsed.ok_or_else(|| format!("`{literal}` is no literal of {dtype}"))?;
                Ok(Operand::Splat(Splat { literal, shape, weak }))
            }
            Token::Word("lost") => {
                self.word()?;
                Ok(Operand::Lost(self.ty()?))
            }
            found => Err(format!("expected an operand such as `%0` or `$0`, found {found}")),
        }
    }

    fn form<T>(&mut self, depth: usize, leaf: &mut dyn FnMut(&mut Self) -> Read<T>) -> Read<Form<T>> {
        if depth > MAX_DEPTH {
            return Err(format!("trees nest more than {MAX_DEPTH} deep"));
        }
        match self.peek()? {
            Token::Sign('(') => Ok(Form::Tuple(self.list('(', ')', |r| r.form(depth + 1, leaf))?)),
            Token::Sign('[') => Ok(Form::List(self.list('[', ']', |r| r.form(depth + 1, leaf))?)),
            Token::Word("none") => {
                self.word()?;
                Ok(Form::Optional(None))
            }
            Token::Word("some") => {
                self.word()?;
                Ok(Form::Optional(Some(Box::new(self.form(depth + 1, leaf)?))))
            }
            Token::Word("map") => {
                self.word()?;
                Ok(Form::Map(self.fields(depth, leaf)?))
            }
            Token::Word("record") => {
                self.word()?;
                let name = self.quoted()?;
                let variant = if self.accept_word("variant")? { Some(self.quoted()?) } else { None };
                Ok(Form::Record { name, variant, fields: self.fields(depth, leaf)? })
            }
            Token::Word("static") => {
                self.word()?;
                Ok(Form::Static(self.quoted()?))
            }
            _ => Ok(Form::Leaf(leaf(self)?)),
        }
    }

    fn fields<T>(
        &mut self,
        depth: usize,
        leaf: &mut dyn FnMut(&mut Self) -> Read<T>,
    ) -> Read<Vec<(String, Form<T>)>> {
        self.list('{', '}', |reader| {
            let name = reader.quoted()?;
            reader.expect(':')?;
            Ok((name, reader.form(depth + 1, leaf)?))
        })
    }

    /// `f32[2,3]` or `~f32[2,3]`
    fn ty(&mut self) -> Read<ArrayType> {
        let weak = self.accept('~')?;
        let word = self.word()?;
        let dtype = DType::parse(word).ok_or_else(|| format!("there is no type `{word}`"))?;
        let shape = Shape::from(self.list('[', ']', |reader| reader.number::<usize>())?);
        if shape.checked_len().is_none() {
            return Err(format!("shape {shape} has too many elements"));
        }
        Ok(ArrayType { dtype, shape, weak })
    }

    /// `at "src/main.rs":10:5`
    fn at(&mut self) -> Read<Location> {
        self.expect_word("at")?;
        let file = self.quoted()?;
        self.expect(':')?;
        let line = self.number()?;
        self.expect(':')?;
        Ok(Location { file: Cow::Owned(file), line, column: self.number()? })
    }

    fn peek(&self) -> Read<Token<'a>> {
        self.lexer.peek()
    }

    fn at_quote(&self) -> Read<bool> {
        Ok(matches!(self.peek()?, Token::Quoted(_)))
    }

    fn word(&mut self) -> Read<&'a str> {
        match self.peek()? {
            Token::Word(word) => {
                self.lexer.next()?;
                Ok(word)
            }
            found => Err(format!("expected a word, found {found}")),
        }
    }

    fn accept_word(&mut self, word: &str) -> Read<bool> {
        let found = self.peek()? == Token::Word(word);
        if found {
            self.lexer.next()?;
        }
        Ok(found)
    }

    fn expect_word(&mut self, word: &str) -> Read<()> {
        match self.accept_word(word)? {
            true => Ok(()),
            false => Err(format!("expected `{word}`, found {}", self.peek()?)),
        }
    }

    fn accept(&mut self, sign: char) -> Read<bool> {
        let found = self.peek()? == Token::Sign(sign);
        if found {
            self.lexer.next()?;
        }
        Ok(found)
    }

    fn expect(&mut self, sign: char) -> Read<()> {
        match self.accept(sign)? {
            true => Ok(()),
            false => Err(format!("expected `{sign}`, found {}", self.peek()?)),
        }
    }

    fn arrow(&mut self) -> Read<()> {
        self.expect('-')?;
        self.expect('>')
    }

    fn quoted(&mut self) -> Read<String> {
        match self.peek()? {
            Token::Quoted(text) => {
                self.lexer.next()?;
                unquote(text)
                    .ok_or_else(|| "an escape is not one of `\\\"`, `\\\\`, `\\n`, `\\u{...}`".into())
            }
            found => Err(format!("expected text in quotes, found {found}")),
        }
    }

    fn number<T: std::str::FromStr>(&mut self) -> Read<T> {
        match self.peek()? {
            Token::Number(text) => {
                self.lexer.next()?;
                text.parse().map_err(|_| format!("`{text}` is not a number that fits here"))
            }
            found => Err(format!("expected a number, found {found}")),
        }
    }

    /// None or more between brackets, with commas between.
    fn list<T>(
        &mut self,
        open: char,
        close: char,
        mut item: impl FnMut(&mut Self) -> Read<T>,
    ) -> Read<Vec<T>> {
        self.expect(open)?;
        let mut items = Vec::new();
        if self.accept(close)? {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.accept(close)? {
                return Ok(items);
            }
            self.expect(',')?;
        }
    }
}
