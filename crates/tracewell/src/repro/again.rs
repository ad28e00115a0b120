//! What functions and primitives of the user's gave in a run that failed: they are code, which is in no tree, so a repro
//! answers in their place.
//!
//! Functions that are called back are heard while a tree is recorded. What else there is to know is found by running the
//! graph again: a call that is not recorded, and primitives that are compiled with all others.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracewell_array::{DType, Shape, Tensor};
use tracewell_graph::prim::{Call, Callback};
use tracewell_graph::text::write_prim;
use tracewell_graph::{ArrayType, Equation, Graph, HostFunction, Lowering, Prim};
use tracewell_kernel::{BufferFn, BufferMut, BufferRef, CallError};
use tracewell_repro::{Answer, Failure, fingerprint};
use tracewell_runtime::Input;
use tracewell_trace::{Error, ErrorKind, Executor, Switch, Value, unobserved};

use super::session::{REPLAYING, is_recording, keeps_all, was_called};
use crate::executable::{executable, run};
use crate::executor::Compiled;
use crate::pipeline::Settings;

thread_local! {
    static LISTEN_COUNT: Cell<usize> = const { Cell::new(0) };
    static HEARD: RefCell<Vec<Answer>> = const { RefCell::new(Vec::new()) };
}

/// On while a graph is run again: its failure is known.
pub(crate) static LISTENING: Switch = Switch::new(&LISTEN_COUNT);

/// Whether a callback is one of ours, which a repro has.
pub(super) fn is_ours(name: &str) -> bool {
    name.starts_with("check ") || name.starts_with("debug_print ")
}

/// A function of the user's was called; nothing if it failed.
pub(crate) fn hear(name: &str, inputs: &[BufferRef<'_>], results: impl FnOnce() -> Option<Vec<Tensor>>) {
    if is_ours(name) || !(LISTENING.is_on() || is_recording()) {
        return;
    }
    let answer = Answer { function: name.to_string(), given: given(inputs), results: results() };
    match LISTENING.is_on() {
        true => HEARD.with_borrow_mut(|heard| heard.push(answer)),
        false => was_called(answer),
    }
}

fn given(inputs: &[BufferRef<'_>]) -> u64 {
    fingerprint(inputs.iter().map(|input| (input.dtype, input.shape, input.bytes)))
}

/// Runs a graph that has failed once more, if that tells what the user's functions gave in it and does nothing else.
/// `heard` says whether those that are called back were heard already.
pub(crate) fn run_again(graph: &Arc<Graph>, inputs: &[Option<Tensor>], heard: bool) {
    let Some(known) = inputs.iter().cloned().collect::<Option<Vec<Tensor>>>() else { return };
    // Where a repro is replayed, functions answer what is known.
    if !is_recording() || LISTENING.is_on() || REPLAYING.is_on() {
        return;
    }
    let mut found = Found::default();
    found.look(graph);
    if found.effects || !(found.primitives || (found.callbacks && !heard)) {
        return;
    }
    let graph = if found.primitives { Arc::new(with_functions(graph)) } else { graph.clone() };
    let once_more = || {
        let made = executable(&graph, &Settings::default())?;
        run(&made, &mut known.iter().map(Input::Lent).collect::<Vec<_>>())
    };
    // It fails again, or panics as it did: that is known.
    let _ = LISTENING.on(|| unobserved(|| catch_unwind(AssertUnwindSafe(once_more))));
    for answer in HEARD.take() {
        if !heard || answer.function.starts_with(PRIMITIVE) {
            was_called(answer);
        }
    }
}

/// The same for one that has not failed, where a later failure may need it.
pub(crate) fn run_again_if_kept(graph: &Arc<Graph>, inputs: impl FnOnce() -> Vec<Option<Tensor>>) {
    if keeps_all() {
        run_again(graph, &inputs(), true);
    }
}

/// What is in a graph that is not ours.
#[derive(Default)]
struct Found {
    callbacks: bool,
    primitives: bool,
    /// Whether it does something that is not to be done twice.
    effects: bool,
}

impl Found {
    fn look(&mut self, graph: &Graph) {
        for Equation { prim, .. } in &graph.equations {
            match prim {
                Prim::Callback(callback) if !is_ours(callback.function.name()) => {
                    self.callbacks = true;
                    self.effects |= callback.ordered;
                }
                Prim::Custom(_) => self.primitives = true,
                _ => {}
            }
            prim.rules().each_param(&mut |_, value| value.graphs().iter().for_each(|inner| self.look(inner)));
        }
    }
}

/// With what the names of functions begin that stand for primitives.
const PRIMITIVE: &str = "primitive ";

/// The name of the function that stands for a primitive of the user's, on arrays of these types.
pub(super) fn function_name(prim: &Prim, operands: &[ArrayType]) -> String {
    let types: Vec<String> = operands.iter().map(ArrayType::to_string).collect();
    format!("{PRIMITIVE}{} of {}", write_prim(prim), types.join(", "))
}

/// The graph with functions in the place of the user's primitives.
fn with_functions(graph: &Graph) -> Graph {
    let mut made = graph.clone();
    for equation in &mut made.equations {
        let operands: Vec<ArrayType> = equation.inputs.iter().map(|atom| graph.atom_type(atom)).collect();
        let results: Vec<ArrayType> = equation.outputs.iter().map(|&var| graph.ty(var).clone()).collect();
        equation.prim = match &equation.prim {
            Prim::Custom(_) if expansion(&equation.prim, &operands, &results).is_none() => {
                let name = function_name(&equation.prim, &operands);
                let one = OnePrimitive {
                    name: name.clone(),
                    prim: equation.prim.clone(),
                    results: results.clone(),
                };
                // Of its own, whoever has one of that name: a repro that is being replayed has.
                let function = HostFunction::named(format!("{name} again"), || one);
                Callback { function, ordered: false, results }.into()
            }
            Prim::Call(call) => Call { graph: Arc::new(with_functions(&call.graph)) }.into(),
            other => other.with_graphs(&mut with_functions),
        };
    }
    made
}

/// What a primitive is made of, if it is made of others: that is what a repro has in its place.
pub(super) fn expansion(prim: &Prim, operands: &[ArrayType], results: &[ArrayType]) -> Option<Arc<Graph>> {
    // A rule of the user's may panic: perhaps that is what the repro is for.
    let lowered = catch_unwind(AssertUnwindSafe(|| prim.rules().lower(operands, results)));
    match lowered {
        Ok(Ok(Lowering::Graph(graph))) => Some(graph),
        _ => None,
    }
}

/// A primitive as a function.
struct OnePrimitive {
    name: String,
    prim: Prim,
    results: Vec<ArrayType>,
}

impl BufferFn for OnePrimitive {
    fn name(&self) -> &str {
        &self.name
    }

    fn call(&self, inputs: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) -> Result<(), CallError> {
        let tensor =
            |input: &BufferRef<'_>| Tensor::from_bytes(input.dtype, input.shape.clone(), input.bytes);
        let operands: Vec<Value> =
            inputs.iter().map(|input| tensor(input).map(Value::from)).collect::<Result<_, _>>()?;
        let results = crate::checks::unchecked(|| Compiled.execute(&self.prim, &operands, &self.results))?;
        for (result, output) in results.iter().zip(outputs.iter_mut()) {
            output.bytes.copy_from_slice(result.as_bytes());
        }
        hear(&self.name, inputs, || Some(results));
        Ok(())
    }
}

/// A number that tells what a function gave from what others did.
pub(super) fn digest(answers: &[Answer], failure: Option<&Failure>) -> u64 {
    let shape = Shape::scalar();
    let results = answers.iter().flat_map(|answer| answer.results.iter().flatten());
    let results = results.map(|tensor| (tensor.dtype(), tensor.shape(), tensor.as_bytes()));
    let given: Vec<[u8; 8]> = answers.iter().map(|answer| answer.given.to_le_bytes()).collect();
    let given = given.iter().map(|bytes| (DType::I64, &shape, bytes.as_slice()));
    let message = failure.map_or(&[][..], |failure| failure.message.as_bytes());
    fingerprint(results.chain(given).chain(std::iter::once((DType::U8, &shape, message))))
}

/// What stands for a function that is not here: it answers what that gave.
pub(super) struct Answers {
    known: Vec<(u64, Option<Vec<Tensor>>)>,
    /// How often it was called.
    calls: AtomicUsize,
}

impl Answers {
    pub(super) fn new(known: Vec<(u64, Option<Vec<Tensor>>)>) -> Answers {
        Answers { known, calls: AtomicUsize::new(0) }
    }

    /// What it gave for the same arrays; for others, what it gave in the call of the same number, or in the last.
    /// Nothing if no call is known; what failed has no results.
    pub(super) fn answer(&self, given: u64) -> Option<Option<&[Tensor]>> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let same = self.known.iter().find(|(known, _)| *known == given);
        let (_, results) = same.or_else(|| self.known.get(call)).or_else(|| self.known.last())?;
        Some(results.as_deref())
    }

    /// The same for buffers.
    pub(super) fn answer_for(&self, inputs: &[BufferRef<'_>]) -> Option<Option<&[Tensor]>> {
        self.answer(given(inputs))
    }
}

/// The failure of a function as its error.
pub(super) fn error_of(failure: &Failure) -> Error {
    let kind = ErrorKind::parse(&failure.kind).unwrap_or(ErrorKind::Library);
    Error::new(kind, failure.message.clone()).while_running()
}
