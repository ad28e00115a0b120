//! Reading kernels and programs from text.
//!
//! One function for each form, one token ahead. Texts come from anywhere: nothing here panics, nesting is
//! limited by [`MAX_DEPTH`], and memory grows with what was read, never with a number that was read.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use smallvec::SmallVec;
use tracewell_array::{DType, Literal, Shape, Tensor};

use super::lex::{Lexer, ReadError, Token, unquote};
use crate::ir::{
    Accumulator, BufferId, Carry, Index, Kernel, Local, Param, Region, Size, SizeId, Stmt, Value,
};
use crate::library::{Custom, Gemm, Library, LibraryCall};
use crate::op::{Combine, Comparison, Op};
use crate::program::{Program, Role, Slot, SlotId, Step};

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
            None => self.error(at, "an escape is not one of `\\\"`, `\\\\`, `\\u{...}`"),
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

/// Kernels.
impl<'a> Reader<'a> {
    fn kernel(&mut self) -> Read<Kernel> {
        self.names.clear();
        self.values.clear();
        self.expect("kernel")?;
        let name = self.name()?;
        self.expect("(")?;
        let mut buffers = 0;
        let params = self.list_until(")", |r| {
            r.next_buffer(&mut buffers)?;
            let written = r.accept("mut")?;
            Ok(Param { dtype: r.dtype()?, written })
        })?;
        let sizes = if self.accept("sizes")? { self.number()? } else { 0 };
        self.expect("{")?;
        let mut locals = Vec::new();
        while self.accept("local")? {
            self.next_buffer(&mut buffers)?;
            let dtype = self.dtype()?;
            self.expect("[")?;
            let len = self.number()?;
            self.expect("]")?;
            locals.push(Local { dtype, len });
        }
        let body = self.region(1)?;
        Ok(Kernel { name, params, locals, sizes, values: std::mem::take(&mut self.values), body })
    }

    /// `b0:`, where the number must be the next one.
    fn next_buffer(&mut self, next: &mut u32) -> Read<()> {
        let at = self.lexer.start();
        if self.buffer()?.0 != *next {
            return self.error(at, format!("the next buffer is `b{next}`"));
        }
        *next += 1;
        self.expect(":")
    }

    /// Statements and yields up to the closing brace; the opening one has been taken.
    fn region(&mut self, depth: usize) -> Read<Region> {
        if depth > MAX_DEPTH {
            let at = self.lexer.start();
            return self.error(at, format!("regions nest more than {MAX_DEPTH} deep"));
        }
        let mut region = Region::default();
        loop {
            if self.accept("yield")? {
                region.yields = SmallVec::from_vec(self.list(Self::value)?);
                self.expect("}")?;
                return Ok(region);
            }
            if self.accept("}")? {
                return Ok(region);
            }
            let stmt = self.stmt(depth)?;
            region.stmts.push(stmt);
        }
    }

    fn braced(&mut self, depth: usize) -> Read<Region> {
        self.expect("{")?;
        self.region(depth + 1)
    }

    fn stmt(&mut self, depth: usize) -> Read<Stmt> {
        let outs = if let Token::Value(_) = self.lexer.peek()? {
            let outs = self.list(|r| r.definition(None))?;
            self.expect("=")?;
            outs
        } else {
            Vec::new()
        };
        let at = self.lexer.start();
        let word = self.word("a statement")?;
        match (word, outs.as_slice()) {
            ("each", []) => {
                let (var, extent) = self.range()?;
                Ok(Stmt::Each { var, extent, body: self.braced(depth)? })
            }
            ("store", []) => {
                let (buffer, index) = self.access()?;
                self.expect(",")?;
                Ok(Stmt::Store { buffer, index, value: self.value()? })
            }
            ("call", []) => {
                let (call, buffers) = self.call(Self::buffer)?;
                Ok(Stmt::Call { call, buffers })
            }
            ("for", outs) => {
                let (var, extent) = self.range()?;
                let carries = self.carries(outs, at)?;
                let body = self.braced(depth)?;
                self.bind_carries(outs, &carries)?;
                Ok(Stmt::For { var, extent, carries, body })
            }
            ("while", outs) => {
                let carries = self.carries(outs, at)?;
                let cond = self.braced(depth)?;
                self.expect("do")?;
                let body = self.braced(depth)?;
                self.bind_carries(outs, &carries)?;
                Ok(Stmt::While { carries, cond, body })
            }
            ("reduce", outs) => {
                let combines = if self.accept("over")? {
                    Vec::new()
                } else {
                    let combines = self.list(Self::combine)?;
                    self.expect("over")?;
                    combines
                };
                if combines.len() != outs.len() {
                    return self.error(at, "a `reduce` has one combination for each result");
                }
                let (var, extent) = self.range()?;
                let body = self.braced(depth)?;
                let accumulators = combines.into_iter().zip(outs);
                let accumulators =
                    accumulators.map(|(combine, out)| Ok(Accumulator { combine, out: self.define(*out)? }));
                Ok(Stmt::Reduce { var, extent, accumulators: accumulators.collect::<Read<_>>()?, body })
            }
            ("if", outs) => {
                let cond = self.value()?;
                let then = self.braced(depth)?;
                let otherwise = if self.accept("else")? { self.braced(depth)? } else { Region::default() };
                let outs = outs.iter().map(|out| self.define(*out)).collect::<Read<_>>()?;
                Ok(Stmt::If { cond, outs, then, otherwise })
            }
            ("load", [out]) => {
                let (buffer, index) = self.access()?;
                Ok(Stmt::Load { out: self.define(*out)?, buffer, index })
            }
            (name, [out]) => {
                let (op, args) = self.op(name, at, out.dtype)?;
                Ok(Stmt::Op { out: self.define(*out)?, op, args })
            }
            (name, []) => self.error(at, format!("`{name}` is not a statement without a result")),
            (name, _) => self.error(at, format!("`{name}` does not have several results")),
        }
    }

    /// `%0 < s0`
    fn range(&mut self) -> Read<(Value, Size)> {
        let definition = self.definition(Some(DType::I64))?;
        self.expect("<")?;
        let extent = self.size()?;
        Ok((self.define(definition)?, extent))
    }

    /// `with %1: f32 = %0`, one for each result. The results get their numbers, but not yet their names.
    fn carries(&mut self, outs: &[Definition<'a>], at: usize) -> Read<Vec<Carry>> {
        let inside = if self.accept("with")? {
            self.list(|r| {
                let definition = r.definition(None)?;
                r.expect("=")?;
                Ok((definition, r.value()?))
            })?
        } else {
            Vec::new()
        };
        if inside.len() != outs.len() {
            return self.error(at, "a loop has one result for each value handed on");
        }
        let carries = inside.into_iter().zip(outs);
        carries
            .map(|((inside, init), out)| {
                Ok(Carry { init, inside: self.define(inside)?, out: self.allot(*out)? })
            })
            .collect()
    }

    fn bind_carries(&mut self, outs: &[Definition<'a>], carries: &[Carry]) -> Read<()> {
        outs.iter().zip(carries).try_for_each(|(out, carry)| self.bind(*out, carry.out))
    }

    fn combine(&mut self) -> Read<Combine> {
        let at = self.lexer.start();
        let word = self.word("a combination such as `add`")?;
        match Combine::parse(word) {
            Some(combine) => Ok(combine),
            None => self.error(at, format!("`{word}` is not a combination such as `add`")),
        }
    }

    /// `b0[%0*s1 + %2 + 4]`
    fn access(&mut self) -> Read<(BufferId, Index)> {
        let buffer = self.buffer()?;
        self.expect("[")?;
        let mut offset = None;
        let mut terms = SmallVec::new();
        loop {
            let at = self.lexer.start();
            if let Token::Value(_) = self.lexer.peek()? {
                let value = self.value()?;
                let stride = if self.accept("*")? { self.size()? } else { Size::Const(1) };
                terms.push((value, stride));
            } else if offset.replace(self.size()?).is_some() {
                return self.error(at, "an index has one offset");
            }
            // `- 4` is an offset with its sign, so the sign stays.
            if self.lexer.peek()? == Token::Sign("-") || self.accept("+")? {
                continue;
            }
            self.expect("]")?;
            return Ok((buffer, Index { offset: offset.unwrap_or(Size::Const(0)), terms }));
        }
    }

    /// An operation and its operands; its name has been taken.
    fn op(&mut self, name: &str, at: usize, out: DType) -> Read<(Op, SmallVec<[Value; 3]>)> {
        let op = match name {
            "const" => {
                let dtype = self.optional_dtype()?.unwrap_or(out);
                Op::Const(self.literal(dtype)?)
            }
            "size" => Op::Size(SizeId(self.numbered('s', "a size such as `s0`")?)),
            "convert" => Op::Convert(self.optional_dtype()?.unwrap_or(out)),
            "bitcast" => Op::Bitcast(self.optional_dtype()?.unwrap_or(out)),
            // Its limit follows the operand.
            "clamp" => Op::Clamp(Size::Const(0)),
            name => match Op::PLAIN.into_iter().find(|op| op.name() == name) {
                Some(op) => op,
                None => match Comparison::parse(name) {
                    Some(comparison) => Op::Compare(comparison),
                    None => return self.error(at, format!("there is no operation `{name}`")),
                },
            },
        };
        let args = if op.arity() == 0 { Vec::new() } else { self.list(Self::value)? };
        let op = match op {
            Op::Clamp(_) => {
                self.expect("<")?;
                Op::Clamp(self.size()?)
            }
            op => op,
        };
        Ok((op, SmallVec::from_vec(args)))
    }

    /// A type if one is next. A literal such as `true` is not one.
    fn optional_dtype(&mut self) -> Read<Option<DType>> {
        match self.lexer.peek()? {
            Token::Word(word) if DType::parse(word).is_some() => Ok(Some(self.dtype()?)),
            _ => Ok(None),
        }
    }

    /// `gemm … (b0: f32[2,3], b1: f32[3,2]) -> (b2: f32[2,2])`
    fn call<T>(&mut self, mut operand: impl FnMut(&mut Self) -> Read<T>) -> Read<(LibraryCall, Vec<T>)> {
        let library = self.library()?;
        let mut operands = Vec::new();
        let mut typed = |r: &mut Self| {
            r.expect("(")?;
            r.list_until(")", |r| {
                operands.push(operand(r)?);
                r.expect(":")?;
                Ok((r.dtype()?, r.shape()?))
            })
        };
        let inputs = typed(self)?;
        self.expect("->")?;
        let outputs = typed(self)?;
        Ok((LibraryCall { library, inputs, outputs }, operands))
    }

    fn library(&mut self) -> Read<Library> {
        let at = self.lexer.start();
        match self.word("a library function")? {
            "gemm" => {
                let dtype = self.dtype()?;
                let mut extent = |word| {
                    self.expect(word)?;
                    self.number()
                };
                let (batch, m, n, k) = (extent("batch")?, extent("m")?, extent("n")?, extent("k")?);
                self.expect("strides")?;
                let a = self.strides()?;
                self.expect(",")?;
                let b = self.strides()?;
                Ok(Library::Gemm(Gemm { dtype, batch, m, n, k, a, b }))
            }
            "custom" => {
                let at = self.lexer.start();
                let name = self.quoted()?;
                match (self.resolve)(&name) {
                    Some(custom) => Ok(Library::Custom(custom)),
                    None => self.error(at, format!("there is no function `{name}`")),
                }
            }
            other => self.error(at, format!("there is no library function `{other}`")),
        }
    }

    fn strides(&mut self) -> Read<[usize; 3]> {
        let at = self.lexer.start();
        self.expect("[")?;
        let strides = self.list_until("]", |r| r.number())?;
        match strides.try_into() {
            Ok(strides) => Ok(strides),
            Err(_) => self.error(at, "an operand has three strides"),
        }
    }
}

/// Programs.
impl Reader<'_> {
    fn program(&mut self) -> Read<Program> {
        self.expect("program")?;
        let name = self.name()?;
        self.expect("{")?;
        let mut slots = Vec::new();
        while let Token::Slot(_) = self.lexer.peek()? {
            let slot = self.slot(slots.len())?;
            slots.push(slot);
        }
        let arena = if self.accept("arena")? { self.number()? } else { 0 };
        let mut kernels = Vec::new();
        while self.lexer.peek()? == Token::Word("kernel") {
            kernels.push(Arc::new(self.kernel()?));
        }
        // The number of each kernel by its name; none where several have it.
        let mut by_name: BTreeMap<&str, Option<usize>> = BTreeMap::new();
        for (i, kernel) in kernels.iter().enumerate() {
            by_name.entry(&kernel.name).and_modify(|number| *number = None).or_insert(Some(i));
        }
        let mut steps = Vec::new();
        loop {
            if self.accept("launch")? {
                steps.push(self.launch(&kernels, &by_name)?);
            } else if self.accept("call")? {
                let (call, slots) = self.call(Self::slot_id)?;
                steps.push(Step::Call { call, slots });
            } else if self.accept("return")? {
                let results = self.list_until("}", Self::slot_id)?;
                return Ok(Program { name, slots, kernels, steps, results, arena });
            } else {
                return self.expected("`launch`, `call` or `return`");
            }
        }
    }

    fn slot_id(&mut self) -> Read<SlotId> {
        let at = self.lexer.start();
        let Token::Slot(name) = self.lexer.peek()? else { return self.expected("a slot such as `$0`") };
        self.lexer.next()?;
        match plain_number(Some(name)) {
            Some(number) => Ok(SlotId(number)),
            None => self.error(at, format!("`${name}` is not a slot such as `$0`")),
        }
    }

    /// `$0: f32[1000] = input 0`
    fn slot(&mut self, number: usize) -> Read<Slot> {
        let at = self.lexer.start();
        if self.slot_id()?.0 as usize != number {
            return self.error(at, format!("the next slot is `${number}`"));
        }
        self.expect(":")?;
        let dtype = self.dtype()?;
        self.expect("[")?;
        let len = self.number()?;
        self.expect("]")?;
        self.expect("=")?;
        let at = self.lexer.start();
        let role = match self.word("what the slot is for")? {
            "input" => Role::Input(self.number()?),
            "output" if self.accept("reuse")? => {
                self.expect("input")?;
                Role::Output { reuse: Some(self.number()?) }
            }
            "output" => Role::Output { reuse: None },
            "temp" => {
                self.expect("at")?;
                Role::Temp { offset: self.number()? }
            }
            "constant" => Role::Constant(self.tensor(dtype, len)?),
            other => {
                return self
                    .error(at, format!("a slot is `input`, `output`, `temp` or `constant`, not `{other}`"));
            }
        };
        Ok(Slot { dtype, len, role })
    }

    /// `[1.0, 2.0]`, or with a type and shape that are not those of the slot: `f32[1,2] [1.0, 2.0]`.
    fn tensor(&mut self, dtype: DType, len: usize) -> Read<Tensor> {
        let at = self.lexer.start();
        let (dtype, shape) = match self.optional_dtype()? {
            Some(dtype) => (dtype, self.shape()?),
            None => (dtype, Shape::from([len])),
        };
        self.expect("[")?;
        let literals = self.list_until("]", |r| r.literal(dtype))?;
        match Tensor::from_literals(dtype, shape, &literals) {
            Ok(tensor) => Ok(tensor),
            Err(error) => self.error(at, error.to_string()),
        }
    }

    /// `@name($0, $1) sizes 10 cost 1`
    fn launch(&mut self, kernels: &[Arc<Kernel>], by_name: &BTreeMap<&str, Option<usize>>) -> Read<Step> {
        let at = self.lexer.start();
        let name = self.name()?;
        let kernel = if self.accept("#")? {
            let number: usize = self.number()?;
            kernels.get(number).is_some_and(|kernel| kernel.name == name).then_some(number)
        } else if let Some(None) = by_name.get(name.as_str()) {
            return self.error(at, "several kernels have this name: write the number after `#`");
        } else {
            by_name.get(name.as_str()).copied().flatten()
        };
        let Some(kernel) = kernel else { return self.error(at, "there is no such kernel") };
        self.expect("(")?;
        let slots = self.list_until(")", Self::slot_id)?;
        let sizes = if self.accept("sizes")? { self.list(Self::signed)? } else { Vec::new() };
        let cost = if self.accept("cost")? { self.number()? } else { 0 };
        Ok(Step::Launch { kernel, slots, sizes, cost })
    }
}

/// A number as it is written: no sign, no leading zero, so that each has one spelling.
fn plain_number(text: Option<&str>) -> Option<u32> {
    let text = text?;
    let number = text.parse().ok()?;
    (u32::to_string(&number) == text).then_some(number)
}
