//! Writing kernels and programs as text, with notes under their lines if wanted.
//!
//! Total: also a kernel that breaks every rule can be written, because the verifier shows its errors this way.
//! Values are numbered in the order of their definition, whatever their numbers in memory; one that is never
//! defined is written `%undefined7`.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use tracewell_array::{DType, Shape};

use super::lex::is_word;
use super::quoted::quote;
use crate::conv::{Conv, ConvResult, WindowAxis};
use crate::ir::{BufferId, Carry, Index, Kernel, Param, Region, Size, Stmt, Value, Window};
use crate::library::{Library, LibraryCall, Matrices};
use crate::op::Op;
use crate::program::{Program, Role, Slot, SlotId, Step};

/// A line of a text, under which a note can be written. A kernel on its own has number 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// The first line of the program.
    Program,
    /// The slot of that number.
    Slot(usize),
    /// The first line of the kernel of that number.
    Kernel(usize),
    /// In the kernel of the first number, the statement of the second, counted in the order of the text.
    Stmt(usize, usize),
    /// The step of that number.
    Step(usize),
    /// The results of the program.
    Return,
}

/// Notes under the lines of a text.
pub(crate) type Notes = BTreeMap<Place, Vec<String>>;

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&kernel_with_notes(self, &Notes::new()))
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&program_with_notes(self, &Notes::new()))
    }
}

/// The text of a kernel, each note as a comment under its line.
pub(crate) fn kernel_with_notes(kernel: &Kernel, notes: &Notes) -> String {
    let mut writer = Writer { out: String::new(), indent: 0, notes };
    writer.kernel(0, kernel);
    writer.out
}

/// The text of a program, each note as a comment under its line.
pub(crate) fn program_with_notes(program: &Program, notes: &Notes) -> String {
    let mut writer = Writer { out: String::new(), indent: 0, notes };
    writer.program(program);
    writer.out
}

/// Appends to a text; a `String` takes everything, so what `write!` returns is of no interest.
macro_rules! push {
    ($out:expr, $($arg:tt)*) => { let _ = write!($out, $($arg)*); };
}

struct Writer<'a> {
    out: String,
    indent: usize,
    notes: &'a Notes,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        push!(self.out, "{:1$}{text}\n", "", self.indent * 2);
    }

    fn notes(&mut self, place: Place) {
        let notes = self.notes;
        for note in notes.get(&place).into_iter().flatten() {
            // A note must not end its comment: names inside it come from outside.
            self.line(&format!("// {}", note.replace(['\n', '\r'], " ")));
        }
    }

    fn program(&mut self, program: &Program) {
        self.line(&format!("program {} {{", name(&program.name)));
        self.indent += 1;
        self.notes(Place::Program);
        for (i, slot) in program.slots.iter().enumerate() {
            self.line(&format!("${i}: {}", slot_text(slot)));
            self.notes(Place::Slot(i));
        }
        if program.arena != 0 {
            self.line(&format!("arena {}", program.arena));
        }
        for (i, kernel) in program.kernels.iter().enumerate() {
            self.kernel(i, kernel);
        }
        let kernels = kernel_references(program);
        for (i, step) in program.steps.iter().enumerate() {
            self.line(&step_text(step, &kernels));
            self.notes(Place::Step(i));
        }
        self.line(format!("return {}", list(&program.results, |s| slot_name(*s))).trim_end());
        self.notes(Place::Return);
        self.indent -= 1;
        self.line("}");
    }

    fn kernel(&mut self, number: usize, kernel: &Kernel) {
        let names = Names::of(kernel);
        let params = kernel.params.iter().enumerate();
        let params: Vec<String> = params
            .map(|(i, p)| {
                let access = match p {
                    Param { own: true, .. } => "own ",
                    Param { written: true, .. } => "mut ",
                    Param { .. } => "",
                };
                format!("b{i}: {access}{}", p.dtype)
            })
            .collect();
        let mut head = format!("kernel {}({})", name(&kernel.name), params.join(", "));
        if kernel.sizes != 0 {
            push!(head, " sizes {}", kernel.sizes);
        }
        self.line(&format!("{head} {{"));
        self.indent += 1;
        self.notes(Place::Kernel(number));
        for (i, local) in kernel.locals.iter().enumerate() {
            self.line(&format!("local b{}: {}[{}]", kernel.params.len() + i, local.dtype, local.len));
        }
        let mut count = 0;
        self.region(number, &names, &kernel.body, &mut count);
        self.indent -= 1;
        self.line("}");
    }

    fn region(&mut self, kernel: usize, names: &Names<'_>, region: &Region, count: &mut usize) {
        for stmt in &region.stmts {
            let place = Place::Stmt(kernel, *count);
            *count += 1;
            let head = names.head(stmt);
            let inner = inner_regions(stmt);
            let Some((first, rest)) = inner.split_first() else {
                self.line(&head);
                self.notes(place);
                continue;
            };
            self.line(&format!("{head} {{"));
            self.indent += 1;
            self.notes(place);
            self.region(kernel, names, first, count);
            for second in rest {
                let between = if matches!(stmt, Stmt::While { .. }) { "do" } else { "else" };
                if between == "else" && **second == Region::default() {
                    continue;
                }
                self.indent -= 1;
                self.line(&format!("}} {between} {{"));
                self.indent += 1;
                self.region(kernel, names, second, count);
            }
            self.indent -= 1;
            self.line("}");
        }
        if !region.yields.is_empty() {
            self.line(&format!("yield {}", names.values(&region.yields)));
        }
    }
}

/// The regions inside a statement, in the order of the text.
pub(crate) fn inner_regions(stmt: &Stmt) -> Vec<&Region> {
    match stmt {
        Stmt::Op { .. } | Stmt::Load { .. } | Stmt::Store { .. } | Stmt::Call { .. } | Stmt::Poll => vec![],
        Stmt::Each { body, .. } | Stmt::For { body, .. } | Stmt::Reduce { body, .. } => vec![body],
        Stmt::While { cond, body, .. } => vec![cond, body],
        Stmt::If { then, otherwise, .. } => vec![then, otherwise],
    }
}

/// How a value is called in a text.
#[derive(Clone, Copy)]
pub(crate) enum ValueName {
    Number(usize),
    Undefined(Value),
}

impl fmt::Display for ValueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueName::Number(number) => write!(f, "%{number}"),
            ValueName::Undefined(value) => write!(f, "%undefined{}", value.0),
        }
    }
}

/// How the values of a kernel are called in its text.
pub(crate) struct Names<'a> {
    kernel: &'a Kernel,
    numbers: Vec<Option<usize>>,
}

impl<'a> Names<'a> {
    /// Numbers the values in the order in which a builder numbers them.
    pub(crate) fn of(kernel: &'a Kernel) -> Names<'a> {
        let mut names = Names { kernel, numbers: vec![None; kernel.values.len()] };
        names.define_region(&kernel.body, &mut 0);
        names
    }

    fn define(&mut self, value: Value, count: &mut usize) {
        if let Some(number @ None) = self.numbers.get_mut(value.0 as usize) {
            *number = Some(*count);
            *count += 1;
        }
    }

    fn define_region(&mut self, region: &Region, count: &mut usize) {
        for stmt in &region.stmts {
            match stmt {
                Stmt::Op { out, .. } | Stmt::Load { out, .. } => self.define(*out, count),
                Stmt::Each { var, .. } | Stmt::For { var, .. } | Stmt::Reduce { var, .. } => {
                    self.define(*var, count);
                }
                Stmt::Store { .. }
                | Stmt::While { .. }
                | Stmt::If { .. }
                | Stmt::Call { .. }
                | Stmt::Poll => {}
            }
            if let Stmt::For { carries, .. } | Stmt::While { carries, .. } = stmt {
                for carry in carries {
                    self.define(carry.inside, count);
                    self.define(carry.out, count);
                }
            }
            for inner in inner_regions(stmt) {
                self.define_region(inner, count);
            }
            match stmt {
                Stmt::Reduce { accumulators, .. } => {
                    accumulators.iter().for_each(|a| self.define(a.out, count));
                }
                Stmt::If { outs, .. } => outs.iter().for_each(|&out| self.define(out, count)),
                _ => {}
            }
        }
    }

    /// `%3`
    pub(crate) fn value(&self, value: Value) -> ValueName {
        match self.numbers.get(value.0 as usize) {
            Some(Some(number)) => ValueName::Number(*number),
            _ => ValueName::Undefined(value),
        }
    }

    /// `b0`, or `b0[%1*3]` where it does not start at the first element.
    fn window(&self, window: &Window) -> String {
        if window.start == Index::at(0) {
            return buffer_name(window.buffer);
        }
        self.access(window.buffer, &window.start)
    }

    fn values(&self, values: &[Value]) -> String {
        list(values, |v| self.value(*v).to_string())
    }

    /// `%3: f32`
    fn typed(&self, value: Value) -> String {
        match self.dtype(value) {
            Some(dtype) => format!("{}: {dtype}", self.value(value)),
            None => format!("{}: ?", self.value(value)),
        }
    }

    fn dtype(&self, value: Value) -> Option<DType> {
        self.kernel.values.get(value.0 as usize).copied()
    }

    /// `%0 < s0`; the type is written only where it is not the `i64` that it must be.
    fn range(&self, var: Value, extent: Size) -> String {
        let is_i64 = self.dtype(var) == Some(DType::I64);
        let var = if is_i64 { self.value(var).to_string() } else { self.typed(var) };
        format!("{var} < {}", size(extent))
    }

    fn carries(&self, carries: &[Carry]) -> String {
        if carries.is_empty() {
            return String::new();
        }
        format!(" with {}", list(carries, |c| format!("{} = {}", self.typed(c.inside), self.value(c.init))))
    }

    /// `%3: f32, %4: i64 = `, or nothing.
    fn outs(&self, outs: impl Iterator<Item = Value>) -> String {
        let outs: Vec<String> = outs.map(|out| self.typed(out)).collect();
        if outs.is_empty() { String::new() } else { format!("{} = ", outs.join(", ")) }
    }

    /// `b0[%0*s1 + %2 + 4]`
    fn access(&self, buffer: BufferId, index: &Index) -> String {
        let mut text = list_with(&index.terms, " + ", |(value, stride)| match stride {
            Size::Const(1) => self.value(*value).to_string(),
            stride => format!("{}*{}", self.value(*value), size(*stride)),
        });
        match index.offset {
            Size::Const(0) if !text.is_empty() => {}
            Size::Const(n) if n < 0 && !text.is_empty() => {
                push!(text, " - {}", n.unsigned_abs());
            }
            offset if !text.is_empty() => {
                push!(text, " + {}", size(offset));
            }
            offset => text = size(offset),
        }
        format!("{}[{text}]", buffer_name(buffer))
    }

    fn op(&self, out: Value, op: Op, args: &[Value]) -> String {
        let mut text = op.name().to_owned();
        // The type of the result says it already, unless the kernel is wrong.
        let dtype = match op {
            Op::Const(literal) => Some(literal.dtype()),
            Op::Convert(dtype) | Op::Bitcast(dtype) => Some(dtype),
            _ => None,
        };
        if let Some(dtype) = dtype.filter(|dtype| Some(*dtype) != self.dtype(out)) {
            push!(text, " {dtype}");
        }
        match op {
            Op::Const(literal) => {
                push!(text, " {literal}");
            }
            Op::Size(id) => {
                push!(text, " {}", size(Size::Param(id)));
            }
            _ => {}
        }
        if !args.is_empty() {
            push!(text, " {}", self.values(args));
        }
        if let Op::Clamp(limit) = op {
            push!(text, " < {}", size(limit));
        }
        text
    }

    /// A statement as far as its first region: one line.
    pub(crate) fn head(&self, stmt: &Stmt) -> String {
        match stmt {
            Stmt::Op { out, op, args } => format!("{} = {}", self.typed(*out), self.op(*out, *op, args)),
            Stmt::Load { out, buffer, index } => {
                format!("{} = load {}", self.typed(*out), self.access(*buffer, index))
            }
            Stmt::Store { buffer, index, value } => {
                format!("store {}, {}", self.access(*buffer, index), self.value(*value))
            }
            Stmt::Each { var, extent, .. } => format!("each {}", self.range(*var, *extent)),
            Stmt::For { var, extent, carries, .. } => {
                let outs = self.outs(carries.iter().map(|c| c.out));
                format!("{outs}for {}{}", self.range(*var, *extent), self.carries(carries))
            }
            Stmt::Reduce { var, extent, accumulators, .. } => {
                let outs = self.outs(accumulators.iter().map(|a| a.out));
                let combines = list(accumulators, |a| a.combine.name().to_owned());
                let space = if combines.is_empty() { "" } else { " " };
                format!("{outs}reduce {combines}{space}over {}", self.range(*var, *extent))
            }
            Stmt::While { carries, .. } => {
                format!("{}while{}", self.outs(carries.iter().map(|c| c.out)), self.carries(carries))
            }
            Stmt::If { cond, outs, .. } => {
                format!("{}if {}", self.outs(outs.iter().copied()), self.value(*cond))
            }
            Stmt::Call { call, windows } => call_text(call, windows, |w| self.window(w)),
            Stmt::Poll => "poll".to_owned(),
        }
    }
}

fn list<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    list_with(items, ", ", text)
}

fn list_with<T>(items: &[T], separator: &str, text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(separator)
}

/// `@name`
pub(crate) fn name(name: &str) -> String {
    if is_word(name) { format!("@{name}") } else { format!("@{}", quote(name)) }
}

/// `s0`, or a number.
pub(crate) fn size(size: Size) -> String {
    match size {
        Size::Const(n) => n.to_string(),
        Size::Param(id) => format!("s{}", id.0),
    }
}

/// `b0`
pub(crate) fn buffer_name(buffer: BufferId) -> String {
    format!("b{}", buffer.0)
}

/// `$0`
pub(crate) fn slot_name(slot: SlotId) -> String {
    format!("${}", slot.0)
}

fn slot_text(slot: &Slot) -> String {
    let mut text = format!("{}[{}] = ", slot.dtype, slot.len);
    match &slot.role {
        Role::Input(number) => {
            push!(text, "input {number}");
        }
        Role::Output { reuse: None } => text.push_str("output"),
        Role::Output { reuse: Some(input) } => {
            push!(text, "output reuse input {input}");
        }
        Role::Temp { of, offset } => {
            push!(text, "temp at {offset}");
            if let Some(output) = of {
                push!(text, " of {}", slot_name(*output));
            }
        }
        Role::Constant(tensor) => {
            text.push_str("constant ");
            // The shape is written only where it is not that of the slot.
            if tensor.dtype() != slot.dtype || *tensor.shape() != [slot.len] {
                push!(text, "{}{} ", tensor.dtype(), tensor.shape());
            }
            let literals: Vec<String> = tensor.literals().map(|l| l.to_string()).collect();
            push!(text, "[{}]", literals.join(", "));
        }
    }
    text
}

/// How launches call the kernels of a program: by name, with the number where a name is not unique.
fn kernel_references(program: &Program) -> Vec<String> {
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for kernel in &program.kernels {
        *uses.entry(&kernel.name).or_default() += 1;
    }
    let reference = |(i, kernel): (usize, &std::sync::Arc<Kernel>)| {
        let name = name(&kernel.name);
        if uses[kernel.name.as_str()] == 1 { name } else { format!("{name}#{i}") }
    };
    program.kernels.iter().enumerate().map(reference).collect()
}

fn step_text(step: &Step, kernels: &[String]) -> String {
    match step {
        Step::Launch { kernel, slots, sizes, cost } => {
            let kernel = kernels.get(*kernel).cloned().unwrap_or_else(|| format!("@undefined#{kernel}"));
            let mut text = format!("launch {kernel}({})", list(slots, |s| slot_name(*s)));
            if !sizes.is_empty() {
                push!(text, " sizes {}", list(sizes, i64::to_string));
            }
            if *cost != 0 {
                push!(text, " cost {cost}");
            }
            text
        }
        Step::Copy { from, to } => format!("copy {} to {}", slot_name(*from), slot_name(*to)),
        Step::Call { call, slots } => call_text(call, slots, |s| slot_name(*s)),
    }
}

/// `call gemm … (b0: f32[2,3], b1: f32[3,2]) -> (b2: f32[2,2])`
fn call_text<T>(call: &LibraryCall, operands: &[T], text: impl Fn(&T) -> String) -> String {
    let library = match &call.library {
        Library::Gemm(g) => {
            let lie = |x: &Matrices| {
                format!("{} by {}", x.start, Shape::from([x.batch[0], x.batch[1], x.row, x.col]))
            };
            let (batch, a, b) = (Shape::from(g.batch), lie(&g.a), lie(&g.b));
            format!("gemm {} batch {batch} m {} n {} k {} from {a}, {b}", g.dtype, g.m, g.n, g.k)
        }
        Library::Linalg(linalg) => linalg.to_string(),
        Library::Sort(s) => {
            let order = if s.descending { "descending" } else { "ascending" };
            format!("sort {order} keys {} rows {} len {} kept {}", s.keys, s.rows, s.len, s.kept)
        }
        Library::AddAt(add_at) => {
            let from = if add_at.from_back { "back" } else { "front" };
            format!("add_at {from} {}", if add_at.drop { "drop" } else { "clip" })
        }
        Library::Conv(conv) => conv_text(conv),
        Library::Fft(fft) => format!("{} {}", fft.kind.name(), Shape::from(fft.lengths.as_slice())),
        Library::Custom(custom) => format!("custom {}", quote(custom.function().name())),
    };
    let typed = |types: &[(DType, Shape)], operands: &[T]| {
        let both = (0..types.len().max(operands.len())).map(|i| {
            let operand = operands.get(i).map_or("?".to_owned(), &text);
            let dtype = types.get(i).map_or("?".to_owned(), |(dtype, shape)| format!("{dtype}{shape}"));
            format!("{operand}: {dtype}")
        });
        both.collect::<Vec<_>>().join(", ")
    };
    let (inputs, outputs) = operands.split_at(call.inputs.len().min(operands.len()));
    format!("call {library} ({}) -> ({})", typed(&call.inputs, inputs), typed(&call.outputs, outputs))
}

/// `conv image f32 batch 2 groups 1 from 3 to 8 over [places 5 stride 1 of window 3 by 1 low -1 on image 7 by 1]`
fn conv_text(conv: &Conv) -> String {
    let axis = |a: &WindowAxis| {
        format!(
            "places {} stride {} of window {} by {} low {} on image {} by {}",
            a.places, a.stride, a.window, a.window_dilation, a.low, a.image, a.image_dilation
        )
    };
    let axes: Vec<String> = conv.axes.iter().map(axis).collect();
    let result = match conv.result {
        ConvResult::Image => "image",
        ConvResult::Kernel => "kernel",
    };
    format!(
        "conv {result} {} batch {} groups {} from {} to {} over [{}]",
        conv.dtype,
        conv.batch,
        conv.groups,
        conv.from,
        conv.to,
        axes.join(", ")
    )
}
