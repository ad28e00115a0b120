//! The op trace: every primitive that ran, on all threads, as one connected graph that can be saved and run again.
//!
//! ```
//! use tracewell::prelude::*;
//!
//! toggle_trace(true);
//! let x = Array::from([1.0f32, 2.0]);
//! let y = (&x * &x).sum();
//! let trace = collect_trace().unwrap();
//! toggle_trace(false);
//! purge_trace();
//!
//! let names: Vec<&str> = trace.ops().map(|op| op.name()).collect();
//! assert_eq!(names, ["mul", "reduce_sum"]);
//! let again = trace.replay().unwrap();
//! assert_eq!(again.results()[0].item::<f32>(), y.item::<f32>());
//! ```
//!
//! An op is a primitive that ran by itself, or a `jit!` function, which runs as a whole: its primitives are those of its
//! graph. Each op is in the call that it ran in: an API, a `jit!` function or a `#[traced]` one. See docs/tape.md.

mod chrome;
mod diff;
mod print;
mod record;
mod replay;
mod text;

use std::sync::{Arc, LazyLock};

use tracewell_array::Tensor;
use tracewell_graph::{Atom, Graph, GraphBuilder, Location, Prim, Splat, Var};
use tracewell_trace::{Error, ErrorKind, Value, complete, observe_everywhere, observing};

pub use diff::{Compared, Difference, Side};
pub use replay::Replayed;

use record::Log;

use crate::array::Array;
use crate::stepping::called;

/// What an op trace keeps, and what happens when that is too much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceOptions {
    /// Whether the results of every op are kept. What comes from outside is always: a replay needs it.
    pub values: bool,
    /// So many ops are kept.
    pub most_ops: usize,
    /// So many bytes of data are kept.
    pub most_bytes: usize,
    /// What happens to more.
    pub full: Full,
}

/// What happens to ops for which there is no room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Full {
    /// They are counted and not kept: the trace is of the beginning.
    Stop,
    /// They are counted, and collecting is an error.
    Fail,
}

impl Default for TraceOptions {
    /// No values, a million ops, a gibibyte of data, then no more.
    fn default() -> TraceOptions {
        TraceOptions { values: false, most_ops: 1 << 20, most_bytes: 1 << 30, full: Full::Stop }
    }
}

static LOG: LazyLock<Arc<Log>> = LazyLock::new(|| Arc::new(Log::default()));

/// Switches the recording of ops on or off, for all threads. What was recorded stays until [`purge_trace`].
///
/// While it is on, calls of jitted functions take the long way, arguments are not given away, and every op takes a lock.
/// Results are the same. While it is off it costs nothing.
pub fn toggle_trace(on: bool) {
    observe_everywhere(on.then(|| LOG.clone() as Arc<dyn tracewell_trace::Observer>));
}

/// Switches the recording of ops on with these options; they hold until others are given.
///
/// ```
/// use tracewell::prelude::*;
///
/// toggle_trace_with(TraceOptions { values: true, ..TraceOptions::default() });
/// let y = Array::from(2.0f32).sqrt();
/// toggle_trace(false);
/// let trace = collect_trace().unwrap();
/// purge_trace();
/// let sqrt = trace.ops().next().unwrap();
/// assert_eq!(sqrt.values()[0].as_ref().unwrap().item::<f32>(), y.item::<f32>());
/// ```
pub fn toggle_trace_with(options: TraceOptions) {
    LOG.set_options(options);
    toggle_trace(true);
}

/// Forgets what was recorded, and frees its memory.
pub fn purge_trace() {
    LOG.purge();
}

/// What was recorded so far, as a connected graph. An error if there was more than [`Full::Fail`] allows.
#[track_caller]
pub fn collect_trace() -> Result<OpTrace, Error> {
    LOG.collect().map_err(|error| complete(error, &Location::caller()))
}

/// A call that ops ran in.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceCall {
    /// The call around it.
    pub parent: Option<usize>,
    /// What was called: `jit softmax`, `grad`, `traced attention`.
    pub what: String,
    /// The user's line that called.
    pub location: Option<Location>,
    /// The thread, counted from 0 in the order in which threads came.
    pub thread: usize,
    /// When it began, in nanoseconds after the first call or op.
    pub start: u64,
    /// How long it took; not known of one that had not ended.
    pub nanoseconds: Option<u64>,
}

/// What an op was given.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum OpInput {
    /// An array by its number.
    Array(usize),
    /// One number, repeated.
    Number(Splat),
}

/// What is kept of an op.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct OpRecord {
    pub(super) prim: Prim,
    pub(super) inputs: Vec<OpInput>,
    /// The number of the first result; the others follow.
    pub(super) first: usize,
    pub(super) values: Vec<Option<Tensor>>,
    pub(super) types: Vec<tracewell_graph::ArrayType>,
    pub(super) call: Option<usize>,
    pub(super) location: Location,
    pub(super) thread: usize,
    pub(super) start: u64,
    pub(super) nanoseconds: u64,
}

/// Every op that ran, connected by the arrays that they gave to each other.
///
/// Arrays have numbers: first those that came from outside, then the results of each op in order.
#[derive(Clone, PartialEq, Debug)]
pub struct OpTrace {
    pub(super) calls: Vec<TraceCall>,
    pub(super) ops: Vec<OpRecord>,
    /// Arrays that no op made.
    pub(super) inputs: Vec<(Tensor, bool)>,
    pub(super) dropped: usize,
}

/// An op of a trace.
#[derive(Clone, Copy, Debug)]
pub struct Op<'t> {
    trace: &'t OpTrace,
    record: &'t OpRecord,
    number: usize,
}

impl OpTrace {
    /// The ops, in the order in which they ended.
    pub fn ops(&self) -> impl ExactSizeIterator<Item = Op<'_>> {
        self.ops.iter().enumerate().map(|(number, record)| Op { trace: self, record, number })
    }

    /// The calls, in the order in which they began.
    pub fn calls(&self) -> &[TraceCall] {
        &self.calls
    }

    /// The arrays that came from outside.
    pub fn inputs(&self) -> Vec<Array> {
        self.inputs
            .iter()
            .map(|(tensor, weak)| Array::from_value(Value::Known(tensor.clone(), *weak)))
            .collect()
    }

    /// How many ops there was no room for.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// The numbers of arrays that were made and not used by another op: what the program was after.
    pub fn outputs(&self) -> Vec<usize> {
        let arrays = self.inputs.len() + self.ops.iter().map(|op| op.values.len()).sum::<usize>();
        let mut used = vec![false; arrays];
        for input in self.ops.iter().flat_map(|op| &op.inputs) {
            if let OpInput::Array(number) = input {
                used[*number] = true;
            }
        }
        (self.inputs.len()..arrays).filter(|&number| !used[number]).collect()
    }

    /// As one graph, from what came from outside to the [outputs](OpTrace::outputs). A `jit!` function is a `call` in it.
    ///
    /// Variables of the graph are the arrays, by the same numbers.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let trace = tracing_ops(TraceOptions::default(), || Array::from(2.0f32).sqrt().sin()).1.unwrap();
    /// let compiled = Lowered::new(&trace.graph().unwrap()).unwrap();
    /// assert_eq!(compiled.run(&trace.inputs()).unwrap()[0].item::<f32>(), 2.0f32.sqrt().sin());
    /// ```
    pub fn graph(&self) -> Result<Graph, Error> {
        let mut builder = GraphBuilder::new();
        for (tensor, weak) in &self.inputs {
            builder
                .input(tracewell_graph::ArrayType { weak: *weak, ..tracewell_graph::ArrayType::of(tensor) });
        }
        for op in &self.ops {
            let atom = |input: &OpInput| match input {
                OpInput::Array(number) => Atom::Var(Var(*number as u32)),
                OpInput::Number(splat) => Atom::Splat(splat.clone()),
            };
            let atoms: Vec<Atom> = op.inputs.iter().map(atom).collect();
            builder.at(Some(op.location.clone()));
            builder.push(op.prim.clone(), &atoms, op.types.iter().cloned());
        }
        let outputs = self.outputs().into_iter().map(|number| Atom::Var(Var(number as u32))).collect();
        let graph = builder.finish("trace", outputs);
        tracewell_graph::verify(&graph)
            .map_err(|errors| Error::bug(format!("the op trace is no graph:\n{errors}")))?;
        Ok(graph)
    }
}

impl<'t> Op<'t> {
    /// Its number.
    pub fn number(&self) -> usize {
        self.number
    }

    /// What it is called: the primitive, or the `jit!` function.
    pub fn name(&self) -> &'t str {
        match called(&self.record.prim) {
            Some(graph) => &graph.name,
            None => self.record.prim.name(),
        }
    }

    /// What ran, with its parameters. A `jit!` function is a `call` of its graph.
    pub fn primitive(&self) -> &'t Prim {
        &self.record.prim
    }

    /// The numbers of the arrays that it was given; `None` for a number of the program, repeated.
    pub fn inputs(&self) -> Vec<Option<usize>> {
        let number = |input: &OpInput| match input {
            OpInput::Array(number) => Some(*number),
            OpInput::Number(_) => None,
        };
        self.record.inputs.iter().map(number).collect()
    }

    /// The numbers of its results.
    pub fn outputs(&self) -> std::ops::Range<usize> {
        self.record.first..self.record.first + self.record.values.len()
    }

    /// The types of its results: element types and shapes.
    pub fn types(&self) -> &'t [tracewell_graph::ArrayType] {
        &self.record.types
    }

    /// Its results, where they were kept.
    pub fn values(&self) -> Vec<Option<Array>> {
        let array = |value: &Option<Tensor>| {
            value.clone().map(|tensor| Array::from_value(Value::Known(tensor, false)))
        };
        self.record.values.iter().map(array).collect()
    }

    /// The call that it ran in, by its number in [`OpTrace::calls`].
    pub fn call(&self) -> Option<usize> {
        self.record.call
    }

    /// The calls that it ran in, the outermost first.
    pub fn calls(&self) -> Vec<&'t TraceCall> {
        let calls = &self.trace.calls;
        let mut all: Vec<&TraceCall> =
            std::iter::successors(self.record.call.map(|call| &calls[call]), |call| {
                call.parent.map(|p| &calls[p])
            })
            .collect();
        all.reverse();
        all
    }

    /// The user's line.
    pub fn location(&self) -> &'t Location {
        &self.record.location
    }

    /// How long it took. Of a first run, compiling is part of it.
    pub fn nanoseconds(&self) -> u64 {
        self.record.nanoseconds
    }

    /// The thread that it ran on, counted from 0 in the order in which threads came.
    pub fn thread(&self) -> usize {
        self.record.thread
    }
}

/// Runs a function and records the ops of this thread alone, whatever [`toggle_trace`] says: what it returned, and the
/// trace.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (y, trace) = tracing_ops(TraceOptions::default(), || Array::from(2.0f32).sqrt());
/// assert_eq!((y.item::<f32>(), trace.unwrap().ops().len()), (2.0f32.sqrt(), 1));
/// ```
#[track_caller]
pub fn tracing_ops<R>(options: TraceOptions, f: impl FnOnce() -> R) -> (R, Result<OpTrace, Error>) {
    let location = Location::caller();
    let log = Arc::new(Log::default());
    log.set_options(options);
    let result = observing(log.clone(), f);
    (result, log.collect().map_err(|error| complete(error, &location)))
}

fn wrong_file(path: &std::path::Path, why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Io, format!("`{}` is no op trace: {why}", path.display()))
        .help("the file is one that `save` of a trace has written")
}
