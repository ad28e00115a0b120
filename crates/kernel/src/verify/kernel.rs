//! Checks that need only the kernel: scopes, types, yields, who may be stored to.

use std::fmt;

use tracewell_array::DType;

use super::{MAX_STACK, Names, Place, Report, count};
use crate::fft::Fft;
use crate::ir::{BufferId, Carry, Index, Kernel, Region, Size, SizeId, Stmt, Value, Window};
use crate::library::{Gemm, Library, LibraryCall};
use crate::op::Op;
use crate::text::{MAX_DEPTH, buffer_name};

/// Checks the kernel of that number.
pub(super) fn check(kernel: &Kernel, number: usize, report: &mut Report) {
    let mut checker = Checker {
        kernel,
        names: Names::of(kernel),
        number,
        place: Place::Kernel(number),
        count: 0,
        depth: 0,
        reduces: 0,
        states: vec![State::Undefined; kernel.values.len()],
        stored: Vec::new(),
        report,
    };
    checker.parts();
    checker.stack();
    let yields = checker.region(&kernel.body, &[]);
    checker.yields("the body of a kernel", &yields, &[]);
}

/// What the walk has seen of a value.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Undefined,
    Visible,
    /// Its region is over.
    Gone,
}

struct Checker<'a, 'r> {
    kernel: &'a Kernel,
    names: Names<'a>,
    number: usize,
    /// Where errors belong.
    place: Place,
    /// How many statements have been seen.
    count: usize,
    depth: usize,
    /// How many `reduce`s are around.
    reduces: usize,
    states: Vec<State>,
    /// What has surely been stored by the statements before this one; the whole buffer for a library call.
    stored: Vec<(BufferId, Option<&'a Index>)>,
    report: &'r mut Report,
}

/// The type of a value; `None` if an error has been reported for it already.
type Known = Option<DType>;

impl<'a> Checker<'a, '_> {
    fn error(&mut self, message: impl Into<String>) {
        self.report.add(self.place, message);
    }

    /// Complex numbers are their parts; no statement knows them.
    fn parts(&mut self) {
        let locals = self.kernel.locals.iter().map(|local| local.dtype);
        let complex =
            self.kernel.params.iter().map(|param| param.dtype).chain(locals).find(|d| d.is_complex());
        if let Some(dtype) = complex {
            self.error(format!("a buffer has elements of type {dtype}; kernels know their parts only"));
        }
    }

    fn stack(&mut self) {
        let bytes = |len: usize, dtype: DType| len.checked_mul(dtype.size());
        let total = self.kernel.locals.iter().try_fold(0usize, |sum, local| {
            bytes(local.len, local.dtype).and_then(|bytes| sum.checked_add(bytes))
        });
        if total.is_none_or(|total| total > MAX_STACK) {
            self.error(format!("stack buffers take more than {MAX_STACK} bytes"));
        }
    }

    fn uses(&mut self, value: Value) -> Known {
        let name = self.names.value(value);
        match self.states.get(value.0 as usize) {
            Some(State::Visible) => return Some(self.kernel.dtype(value)),
            Some(State::Gone) => self.error(format!("`{name}` is used outside the region that defines it")),
            _ => self.error(format!("`{name}` is used before it is defined")),
        }
        None
    }

    fn defines(&mut self, value: Value) -> Known {
        let name = self.names.value(value);
        match self.states.get_mut(value.0 as usize) {
            Some(state @ State::Undefined) => {
                *state = State::Visible;
                return Some(self.kernel.dtype(value));
            }
            Some(_) => self.error(format!("`{name}` is defined twice")),
            None => self.error(format!("`{name}` is not in the table of values")),
        }
        None
    }

    /// Compares two types, if both are known.
    fn same(&mut self, what: fmt::Arguments<'_>, found: Known, expected: Known) {
        if let (Some(found), Some(expected)) = (found, expected)
            && found != expected
        {
            self.error(format!("{what} is {found}, not {expected}"));
        }
    }

    fn size(&mut self, size: Size) {
        if let Size::Param(id) = size
            && id.0 as usize >= self.kernel.sizes
        {
            self.error(format!("there is no size `s{}`", id.0));
        }
    }

    /// The type of a buffer, if it exists.
    fn buffer(&mut self, buffer: BufferId) -> Known {
        let i = buffer.0 as usize;
        let params = self.kernel.params.iter().map(|p| p.dtype);
        let dtype = params.chain(self.kernel.locals.iter().map(|l| l.dtype)).nth(i);
        if dtype.is_none() {
            self.error(format!("there is no buffer `{}`", buffer_name(buffer)));
        }
        dtype
    }

    fn index(&mut self, index: &Index) {
        self.size(index.offset);
        for &(value, stride) in &index.terms {
            let dtype = self.uses(value);
            let name = self.names.value(value);
            self.same(format_args!("`{name}` in the index"), dtype, Some(DType::I64));
            self.size(stride);
        }
    }

    /// Checks a region and says the types of what it yields.
    fn region(&mut self, region: &'a Region, defined: &[Value]) -> Vec<Known> {
        let place = self.place;
        self.depth += 1;
        let mut yields = Vec::new();
        if self.depth > MAX_DEPTH {
            self.error(format!("regions nest more than {MAX_DEPTH} deep"));
        } else {
            let stored = self.stored.len();
            let mut inside = defined.to_vec();
            for stmt in &region.stmts {
                self.place = Place::Stmt(self.number, self.count);
                self.count += 1;
                self.stmt(stmt, &mut inside);
            }
            self.place = place;
            yields = region.yields.iter().map(|&value| self.uses(value)).collect();
            self.stored.truncate(stored);
            for value in inside {
                if let Some(state) = self.states.get_mut(value.0 as usize) {
                    *state = State::Gone;
                }
            }
        }
        self.depth -= 1;
        yields
    }

    /// Compares what a region yields with what is expected of it.
    fn yields(&mut self, what: &str, found: &[Known], expected: &[Known]) {
        if self.depth >= MAX_DEPTH {
            return; // the region was not looked at
        }
        if found.len() != expected.len() {
            self.error(format!("{what} yields {}, not {}", count(found.len(), "value"), expected.len()));
            return;
        }
        for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
            self.same(format_args!("value {i} that {what} yields"), *found, *expected);
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt, inside: &mut Vec<Value>) {
        match stmt {
            Stmt::Op { out, op, args } => {
                self.op(*out, *op, args);
                inside.push(*out);
            }
            Stmt::Load { out, buffer, index } => {
                self.index(index);
                let element = self.buffer(*buffer);
                if element.is_some() {
                    self.loads(*buffer, Some(index));
                }
                let dtype = self.defines(*out);
                self.same(format_args!("the result"), dtype, element);
                inside.push(*out);
            }
            Stmt::Store { buffer, index, value } => {
                self.index(index);
                let dtype = self.uses(*value);
                let element = self.buffer(*buffer);
                if element.is_some() {
                    self.stores(*buffer, Some(index));
                }
                self.same(format_args!("the stored value"), dtype, element);
            }
            Stmt::Each { var, extent, body } => {
                self.var(*var, *extent);
                let yields = self.region(body, &[*var]);
                self.yields("the body of an `each`", &yields, &[]);
            }
            Stmt::For { var, extent, carries, body } => {
                self.var(*var, *extent);
                let mut defined = self.carries(carries);
                let expected = self.inside_types(carries);
                defined.push(*var);
                let yields = self.region(body, &defined);
                self.yields("the body", &yields, &expected);
                self.carried(carries, inside);
            }
            Stmt::While { carries, cond, body } => {
                let defined = self.carries(carries);
                let expected = self.inside_types(carries);
                let yields = self.region(cond, &[]);
                self.yields("the condition", &yields, &[Some(DType::Bool)]);
                let yields = self.region(body, &defined);
                self.yields("the body", &yields, &expected);
                self.carried(carries, inside);
            }
            Stmt::Reduce { var, extent, accumulators, body } => {
                self.var(*var, *extent);
                self.reduces += 1;
                let yields = self.region(body, &[*var]);
                self.reduces -= 1;
                let mut outs = Vec::new();
                for accumulator in accumulators {
                    let dtype = self.defines(accumulator.out);
                    if let Some(dtype) = dtype.filter(|&d| accumulator.combine.identity(d).is_none()) {
                        self.error(format!("`{}` is not defined on {dtype}", accumulator.combine.name()));
                    }
                    outs.push(dtype);
                    inside.push(accumulator.out);
                }
                self.yields("the body", &yields, &outs);
            }
            Stmt::If { cond, outs, then, otherwise } => {
                let dtype = self.uses(*cond);
                self.same(format_args!("the condition"), dtype, Some(DType::Bool));
                let then = self.region(then, &[]);
                let otherwise = self.region(otherwise, &[]);
                let types: Vec<Known> = outs.iter().map(|&out| self.defines(out)).collect();
                self.yields("the first branch", &then, &types);
                self.yields("the second branch", &otherwise, &types);
                inside.extend(outs);
            }
            Stmt::Call { call, windows } => self.call(call, windows),
            Stmt::Poll if self.reduces > 0 => self.error("a `reduce` does not poll"),
            Stmt::Poll => {}
        }
    }

    fn op(&mut self, out: Value, op: Op, args: &[Value]) {
        match op {
            Op::Size(SizeId(id)) => self.size(Size::Param(SizeId(id))),
            Op::Clamp(size) => self.size(size),
            _ => {}
        }
        let types: Option<Vec<DType>> =
            args.iter().map(|&arg| self.uses(arg)).collect::<Vec<_>>().into_iter().collect();
        let dtype = self.defines(out);
        let Some(types) = types else { return };
        match op.result(&types) {
            Some(result) => self.same(format_args!("the result"), dtype, Some(result)),
            None => {
                let types: Vec<&str> = types.iter().map(|t| t.name()).collect();
                self.error(format!("`{}` is not defined on ({})", op.name(), types.join(", ")));
            }
        }
    }

    fn var(&mut self, var: Value, extent: Size) {
        self.size(extent);
        let dtype = self.defines(var);
        self.same(format_args!("the loop variable"), dtype, Some(DType::I64));
    }

    /// Checks the values handed on as far as the body can see them, and lists those.
    fn carries(&mut self, carries: &[Carry]) -> Vec<Value> {
        let inits: Vec<Known> = carries.iter().map(|carry| self.uses(carry.init)).collect();
        for (carry, init) in carries.iter().zip(inits) {
            let inside = self.defines(carry.inside);
            let name = self.names.value(carry.inside);
            self.same(format_args!("`{name}`"), inside, init);
        }
        carries.iter().map(|carry| carry.inside).collect()
    }

    fn inside_types(&self, carries: &[Carry]) -> Vec<Known> {
        carries.iter().map(|carry| self.kernel.values.get(carry.inside.0 as usize).copied()).collect()
    }

    /// Checks the results of a loop that hands on values.
    fn carried(&mut self, carries: &[Carry], inside: &mut Vec<Value>) {
        let types = self.inside_types(carries);
        for (carry, expected) in carries.iter().zip(types) {
            let out = self.defines(carry.out);
            let name = self.names.value(carry.out);
            self.same(format_args!("`{name}`"), out, expected);
            inside.push(carry.out);
        }
    }

    fn loads(&mut self, buffer: BufferId, index: Option<&Index>) {
        let written =
            self.kernel.params.get(buffer.0 as usize).is_some_and(|param| param.written && !param.own);
        let covers =
            |(b, stored): &(BufferId, Option<&Index>)| *b == buffer && (stored.is_none() || *stored == index);
        if written && !self.stored.iter().any(covers) {
            let name = buffer_name(buffer);
            self.error(format!("`{name}` is written: it is loaded only where this iteration stored before"));
        }
    }

    fn stores(&mut self, buffer: BufferId, index: Option<&'a Index>) {
        let name = buffer_name(buffer);
        if self.kernel.params.get(buffer.0 as usize).is_some_and(|param| !param.written) {
            self.error(format!("`{name}` is not `mut`, so nothing is stored to it"));
        }
        if self.reduces > 0 {
            self.error("nothing is stored inside a `reduce`");
        }
        self.stored.push((buffer, index));
    }

    fn call(&mut self, call: &LibraryCall, windows: &[Window]) {
        let buffers: Vec<BufferId> = windows.iter().map(|window| window.buffer).collect();
        let types: Vec<Known> = buffers.iter().map(|&buffer| self.buffer(buffer)).collect();
        windows.iter().for_each(|window| self.index(&window.start));
        if let Err(message) = check_call(call, &buffers, &types) {
            self.error(message);
            return;
        }
        let (inputs, outputs) = buffers.split_at(call.inputs.len());
        for &buffer in inputs {
            self.loads(buffer, None);
        }
        for &buffer in outputs {
            self.stores(buffer, None);
        }
    }
}

/// Checks a library call against the element types of its operands, where they are known.
pub(super) fn check_call<T: PartialEq>(
    call: &LibraryCall,
    operands: &[T],
    types: &[Known],
) -> Result<(), String> {
    let (inputs, outputs) = (call.inputs.len(), call.outputs.len());
    if operands.len() != inputs + outputs {
        return Err(format!("it has {}, not {}", count(operands.len(), "operand"), inputs + outputs));
    }
    for (i, ((expected, _), found)) in call.memory().zip(types).enumerate() {
        if let Some(found) = found.filter(|found| *found != expected) {
            return Err(format!("operand {i} is {found}, not {expected}"));
        }
    }
    for (i, output) in operands.iter().enumerate().skip(inputs) {
        if operands[..i].contains(output) {
            return Err(format!("operand {i} is written and must not be another operand too"));
        }
    }
    match &call.library {
        Library::Gemm(gemm) => check_gemm(gemm, call),
        Library::Conv(conv) => conv.mistake(&call.inputs, &call.outputs).map_or(Ok(()), Err),
        Library::Fft(fft) => check_fft(call, fft),
        Library::Sort(sort) => sort.check(call),
        Library::AddAt(add_at) => add_at.check(call),
        Library::Linalg(linalg) => {
            let results = linalg.results(&call.inputs).map_err(|why| format!("`{linalg}`: {why}"))?;
            let expected = || format!("`{linalg}` has other results than {:?}", call.outputs);
            if results == call.outputs { Ok(()) } else { Err(expected()) }
        }
        Library::Custom(_) => Ok(()),
    }
}

fn check_fft(call: &LibraryCall, fft: &Fft) -> Result<(), String> {
    let ([(from, x)], [(to, y)]) = (call.inputs.as_slice(), call.outputs.as_slice()) else {
        return Err("`fft` has one input and one output".to_owned());
    };
    let (real_x, real_y) = (fft.kind.takes_real(), fft.kind.gives_real());
    let typed = from.is_inexact() && from.is_float() == real_x && to.is_float() == real_y;
    if !typed || from.real() != to.real() {
        return Err(format!("`{}` does not make {to} of {from}", fft.kind.name()));
    }
    if fft.result(x).as_ref() != Some(y) || y.checked_len().is_none() {
        return Err(format!("`{}` of lengths {:?} does not make {y} of {x}", fft.kind.name(), fft.lengths));
    }
    Ok(())
}

fn check_gemm(g: &Gemm, call: &LibraryCall) -> Result<(), String> {
    let ([a, b], [c]) = (call.inputs.as_slice(), call.outputs.as_slice()) else {
        return Err("`gemm` has two inputs and one output".to_owned());
    };
    if g.dtype.is_bool() || g.dtype.is_complex() || [a, b, c].iter().any(|(dtype, _)| *dtype != g.dtype) {
        return Err("the operands of `gemm` have its type, which is not bool".to_owned());
    }
    let fits = |needed: Option<usize>, shape: &tracewell_array::Shape| {
        needed.is_some_and(|needed| needed <= shape.checked_len().unwrap_or(0))
    };
    if !fits(g.a.reach(g.batch, g.m, g.k), &a.1) || !fits(g.b.reach(g.batch, g.k, g.n), &b.1) {
        return Err("`gemm` reaches outside an operand".to_owned());
    }
    let result = tracewell_array::Shape::from([g.batch[0], g.batch[1], g.m, g.n]);
    if result.checked_len().is_none() || result.checked_len() != c.1.checked_len() {
        return Err(format!("the result of `gemm` is {result}, not {}", c.1));
    }
    Ok(())
}
