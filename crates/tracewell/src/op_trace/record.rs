//! The observer of all threads that writes the op trace.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Instant;

use rustc_hash::FxHashMap;
use tracewell_array::{Identity, Tensor};
use tracewell_graph::{ArrayType, Location, Prim};
use tracewell_trace::{Api, Error, ErrorKind, Event, Executed, Observer, Value};

use crate::stepping::{call_of, constant_data};

use super::{Full, OpInput, OpRecord, OpTrace, TraceCall, TraceOptions};

/// Which array it is: where its elements are, and as what they are read.
type Key = (Identity, ArrayType);

/// An array, until numbers are given.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Made {
    Outside(usize),
    /// The result of that number.
    Inside(usize),
}

struct Written {
    op: OpRecord,
    inputs: Vec<Result<Made, tracewell_graph::Splat>>,
}

#[derive(Default)]
struct State {
    options: TraceOptions,
    calls: Vec<TraceCall>,
    ops: Vec<Written>,
    inputs: Vec<(Tensor, bool)>,
    results: usize,
    arrays: FxHashMap<Key, Made>,
    /// The calls that are going on, of each thread.
    open: FxHashMap<ThreadId, Vec<usize>>,
    threads: FxHashMap<ThreadId, usize>,
    bytes: usize,
    dropped: usize,
    begun: Option<Instant>,
}

/// What is recorded.
#[derive(Default)]
pub(super) struct Log {
    state: Mutex<State>,
}

impl Log {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_options(&self, options: TraceOptions) {
        self.state().options = options;
    }

    pub(super) fn purge(&self) {
        let mut state = self.state();
        let options = state.options;
        let old = std::mem::replace(&mut *state, State { options, ..State::default() });
        drop(state);
        // Freed without the lock: other threads may be waiting for it.
        drop(old);
    }

    pub(super) fn collect(&self) -> Result<OpTrace, Error> {
        let state = self.state();
        if state.dropped > 0 && state.options.full == Full::Fail {
            let TraceOptions { most_ops, most_bytes, .. } = state.options;
            let message = format!("{} ops did not fit into the op trace", state.dropped);
            return Err(Error::new(ErrorKind::Structure, message)
                .note(format!("it keeps at most {most_ops} ops and {most_bytes} bytes"))
                .help("purge it more often, raise `most_ops` or `most_bytes`, or take the beginning with `Full::Stop`"));
        }
        let outside = state.inputs.len();
        let number = |made: &Made| match made {
            Made::Outside(number) => *number,
            Made::Inside(number) => outside + number,
        };
        let op = |written: &Written| {
            let input = |input: &Result<Made, tracewell_graph::Splat>| match input {
                Ok(made) => OpInput::Array(number(made)),
                Err(splat) => OpInput::Number(splat.clone()),
            };
            let mut op = written.op.clone();
            op.inputs = written.inputs.iter().map(input).collect();
            op.first += outside;
            op
        };
        Ok(OpTrace {
            calls: state.calls.clone(),
            ops: state.ops.iter().map(op).collect(),
            inputs: state.inputs.clone(),
            dropped: state.dropped,
        })
    }
}

impl State {
    fn now(&mut self) -> u64 {
        self.begun.get_or_insert_with(Instant::now).elapsed().as_nanos() as u64
    }

    fn thread(&mut self) -> usize {
        let next = self.threads.len();
        *self.threads.entry(std::thread::current().id()).or_insert(next)
    }

    fn enter(&mut self, what: String, location: &Location) {
        let (start, thread) = (self.now(), self.thread());
        let open = self.open.entry(std::thread::current().id()).or_default();
        let parent = open.last().copied();
        open.push(self.calls.len());
        let location = Some(location.clone());
        self.calls.push(TraceCall { parent, what, location, thread, start, nanoseconds: None });
    }

    fn exit(&mut self) {
        let now = self.now();
        let open = self.open.entry(std::thread::current().id()).or_default();
        // What began before the recording did is not known.
        if let Some(call) = open.pop() {
            self.calls[call].nanoseconds = Some(now.saturating_sub(self.calls[call].start));
        }
    }

    /// The array of a value; one that is not known comes from outside.
    fn array(&mut self, tensor: &Tensor, weak: bool) -> Made {
        let key = (tensor.identity(), ArrayType::of(tensor));
        if let Some(made) = self.arrays.get(&key) {
            return *made;
        }
        let made = Made::Outside(self.inputs.len());
        self.inputs.push((tensor.clone(), weak));
        self.bytes += tensor.size_bytes();
        self.arrays.insert(key, made);
        made
    }

    fn executed(
        &mut self,
        prim: Prim,
        operands: &[Value],
        results: &[Tensor],
        nanoseconds: u64,
        at: &Location,
    ) {
        if self.ops.len() >= self.options.most_ops || self.bytes > self.options.most_bytes {
            self.dropped += 1;
            return;
        }
        // What a function captured is a constant of its graph, and the array that it was.
        if let ([], [result]) = (operands, results)
            && let Some(data) = constant_data(&prim)
            && let Some(&made) = self.arrays.get(&(data.identity(), ArrayType::of(&data)))
        {
            self.arrays.insert((result.identity(), ArrayType::of(result)), made);
            return;
        }
        let types: Vec<ArrayType> = operands.iter().map(Value::ty).collect();
        // It has just run with these types.
        let Ok(types) = prim.rules().type_rule(&types) else { return };
        let mut inputs = Vec::with_capacity(operands.len());
        for operand in operands {
            match operand {
                Value::Splat(splat) => inputs.push(Err(splat.clone())),
                Value::Known(tensor, weak) => inputs.push(Ok(self.array(tensor, *weak))),
                Value::Traced(tracer) => {
                    let Some(tensor) = tracer.value() else { return };
                    inputs.push(Ok(self.array(tensor, tracer.ty().weak)));
                }
            }
        }
        let first = self.results;
        for (number, tensor) in results.iter().enumerate() {
            self.arrays.insert((tensor.identity(), ArrayType::of(tensor)), Made::Inside(first + number));
        }
        self.results += results.len();
        let keeps = self.options.values;
        if keeps {
            self.bytes += results.iter().map(Tensor::size_bytes).sum::<usize>();
        }
        let (now, thread) = (self.now(), self.thread());
        let call = self.open.get(&std::thread::current().id()).and_then(|open| open.last()).copied();
        let op = OpRecord {
            prim,
            inputs: Vec::new(),
            first,
            values: results.iter().map(|tensor| keeps.then(|| tensor.clone())).collect(),
            types,
            call,
            location: at.clone(),
            thread,
            start: now.saturating_sub(nanoseconds),
            nanoseconds,
        };
        self.ops.push(Written { op, inputs });
    }
}

impl Observer for Log {
    fn observe(&self, event: &Event<'_>) {
        match event {
            Event::ApiEnter { api, function, location, .. } => {
                let what = match (api, function) {
                    (Api::Jit, function) => format!("jit {}", function.unwrap_or("closure")),
                    (api, Some(function)) => format!("{} {function}", api.name()),
                    (api, None) => api.name().to_string(),
                };
                self.state().enter(what, location);
            }
            Event::TracedEnter { function, location, .. } => {
                self.state().enter(format!("traced {function}"), location);
            }
            Event::ApiExit { .. } | Event::TracedExit { .. } => self.state().exit(),
            Event::Executed { what, operands, results, nanoseconds, location } => {
                let prim = match what {
                    Executed::Primitive(prim) => (*prim).clone(),
                    Executed::Graph(graph) => call_of(graph),
                };
                self.state().executed(prim, operands, results, *nanoseconds, location);
            }
            _ => {}
        }
    }

    fn follows_arrays(&self) -> bool {
        true
    }
}
