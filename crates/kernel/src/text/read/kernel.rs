//! Reading kernels: regions, statements, operations and library calls.

use smallvec::SmallVec;
use tracewell_array::DType;

use super::{Definition, MAX_DEPTH, Read, Reader};
use crate::conv::{Conv, ConvResult, WindowAxis};
use crate::fft::{Fft, FftKind};
use crate::ir::{
    Accumulator, BufferId, Carry, Index, Kernel, Local, Param, Region, Size, SizeId, Stmt, Value, Window,
};
use crate::library::{AddAt, Gemm, Library, LibraryCall, Matrices, SortRows};
use crate::linalg::Linalg;
use crate::op::{Combine, Comparison, Op};
use crate::text::lex::Token;

impl<'a> Reader<'a> {
    pub(super) fn kernel(&mut self) -> Read<Kernel> {
        self.names.clear();
        self.values.clear();
        self.expect("kernel")?;
        let name = self.name()?;
        self.expect("(")?;
        let mut buffers = 0;
        let params = self.list_until(")", |r| {
            r.next_buffer(&mut buffers)?;
            let own = r.accept("own")?;
            let written = own || r.accept("mut")?;
            Ok(Param { dtype: r.dtype()?, written, own })
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
                let (call, windows) = self.call(Self::window)?;
                Ok(Stmt::Call { call, windows })
            }
            ("poll", []) => Ok(Stmt::Poll),
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
        Ok((buffer, self.index()?))
    }

    /// `b0`, or `b0[%1*3]`
    fn window(&mut self) -> Read<Window> {
        let buffer = self.buffer()?;
        let start = if self.accept("[")? { self.index()? } else { Index::at(0) };
        Ok(Window { buffer, start })
    }

    /// An index up to the closing bracket; the opening one has been taken.
    fn index(&mut self) -> Read<Index> {
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
            return Ok(Index { offset: offset.unwrap_or(Size::Const(0)), terms });
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

    /// `gemm … (b0: f32[2,3], b1: f32[3,2]) -> (b2: f32[2,2])`
    pub(super) fn call<T>(
        &mut self,
        mut operand: impl FnMut(&mut Self) -> Read<T>,
    ) -> Read<(LibraryCall, Vec<T>)> {
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
                self.expect("batch")?;
                let batch = self.numbers()?;
                let (m, n, k) = (self.extent("m")?, self.extent("n")?, self.extent("k")?);
                self.expect("from")?;
                let a = self.matrices()?;
                self.expect(",")?;
                let b = self.matrices()?;
                Ok(Library::Gemm(Gemm { dtype, batch, m, n, k, a, b }))
            }
            "sort" => {
                let descending = self.one_of(["ascending", "descending"])?;
                let mut extent = |word| {
                    self.expect(word)?;
                    self.number()
                };
                let (keys, rows) = (extent("keys")?, extent("rows")?);
                let (len, kept) = (extent("len")?, extent("kept")?);
                Ok(Library::Sort(SortRows { keys, descending, rows, len, kept }))
            }
            "add_at" => {
                let from_back = self.one_of(["front", "back"])?;
                let drop = self.one_of(["clip", "drop"])?;
                Ok(Library::AddAt(AddAt { from_back, drop }))
            }
            "conv" => self.conv().map(Library::Conv),
            "custom" => {
                let at = self.lexer.start();
                let name = self.quoted()?;
                match (self.resolve)(&name) {
                    Some(custom) => Ok(Library::Custom(custom)),
                    None => self.error(at, format!("there is no function `{name}`")),
                }
            }
            other => {
                match (FftKind::parse(other), Linalg::all().find(|linalg| linalg.to_string() == other)) {
                    (Some(kind), _) => {
                        Ok(Library::Fft(Fft { kind, lengths: self.shape()?.iter().collect() }))
                    }
                    (_, Some(linalg)) => Ok(Library::Linalg(linalg)),
                    (None, None) => self.error(at, format!("there is no library function `{other}`")),
                }
            }
        }
    }

    fn conv(&mut self) -> Read<Conv> {
        let at = self.lexer.start();
        let result = match self.word("what it makes")? {
            "image" => ConvResult::Image,
            "kernel" => ConvResult::Kernel,
            other => return self.error(at, format!("`conv` makes an image or a kernel, not `{other}`")),
        };
        let dtype = self.dtype()?;
        let (batch, groups) = (self.extent("batch")?, self.extent("groups")?);
        let (from, to) = (self.extent("from")?, self.extent("to")?);
        self.expect("over")?;
        self.expect("[")?;
        let axes = self.list_until("]", |r| {
            let (places, stride) = (r.extent("places")?, r.extent("stride")?);
            r.expect("of")?;
            let (window, window_dilation) = (r.extent("window")?, r.extent("by")?);
            r.expect("low")?;
            let low = r.signed()?;
            r.expect("on")?;
            let (image, image_dilation) = (r.extent("image")?, r.extent("by")?);
            Ok(WindowAxis { image, window, places, stride, low, image_dilation, window_dilation })
        })?;
        Ok(Conv { dtype, result, batch, groups, from, to, axes })
    }

    /// One of two words: whether it is the second.
    fn one_of(&mut self, words: [&str; 2]) -> Read<bool> {
        let at = self.lexer.start();
        let word = self.word("a word")?;
        match words.iter().position(|&one| one == word) {
            Some(which) => Ok(which == 1),
            None => self.error(at, format!("expected `{}` or `{}`, found `{word}`", words[0], words[1])),
        }
    }

    /// A word and its number.
    fn extent(&mut self, word: &str) -> Read<usize> {
        self.expect(word)?;
        self.number()
    }

    /// `256 by [98304,32,768,1]`
    fn matrices(&mut self) -> Read<Matrices> {
        let start = self.number()?;
        self.expect("by")?;
        let [outer, inner, row, col] = self.numbers()?;
        Ok(Matrices { start, batch: [outer, inner], row, col })
    }

    /// So many numbers: `[2,3]`
    fn numbers<const N: usize>(&mut self) -> Read<[usize; N]> {
        let at = self.lexer.start();
        self.expect("[")?;
        let numbers = self.list_until("]", |r| r.number())?;
        match numbers.try_into() {
            Ok(numbers) => Ok(numbers),
            Err(_) => self.error(at, format!("expected {N} numbers")),
        }
    }
}
