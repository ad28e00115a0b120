//! A call of a jitted function: key, cache, and on a miss the trace. What the code made by `jit!` is made of.

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use smallvec::SmallVec;
use tracewell_array::{DType, Tensor};
use tracewell_graph::prim::Call as CallGraph;
use tracewell_graph::{Graph, Location, Prim};
use tracewell_runtime::{Input, Results};
use tracewell_trace::{
    Api, Argument, Called, Error, ErrorKind, Event, Executed, Form, Staged, Value, bind, bind_finer, current,
    is_execution_observed, is_idle, is_observed, notify,
};

use super::entry::{self, Entry};
use super::lower;
use super::signature::Signature;
use super::turn::{self, Turn};
use crate::array::Array;
use crate::building::counted;
use crate::checks::{self, CHECK_PURITY, RETRACE, Seen};
use crate::executable::{Failed, run, try_run};
use crate::executor::Compiled;
use crate::key::Key;
use crate::outcome::Outcome;
use crate::pipeline::Settings;
use crate::repro;
use crate::staging::{Failure, Function, Traced, enter, refill, stage_with};
use crate::static_arg::Static;
use crate::tree::{Tree, TreeRef, form};

/// Where a jitted function is defined.
#[derive(Debug)]
pub struct Site {
    name: &'static str,
    file: &'static str,
    line: u32,
    column: u32,
}

impl Site {
    /// As the macro knows it.
    pub const fn new(name: &'static str, file: &'static str, line: u32, column: u32) -> Site {
        Site { name, file, line, column }
    }

    fn function(&self) -> Function {
        let location = Location { file: self.file.into(), line: self.line, column: self.column };
        Function { name: Some(self.name.to_string()), ..Function::unnamed(Api::Jit, location) }
    }
}

/// Who is called: a function of the program, or a closure object.
#[derive(Clone, Copy)]
pub(crate) enum Callee<'a> {
    Site(&'static Site),
    Closure(&'a Function),
}

impl Callee<'_> {
    fn function(&self) -> Function {
        match self {
            Callee::Site(site) => site.function(),
            Callee::Closure(function) => (*function).clone(),
        }
    }

    fn name(&self) -> &str {
        match self {
            Callee::Site(site) => site.name,
            Callee::Closure(function) => function.name.as_deref().unwrap_or("closure"),
        }
    }
}

/// Arrays of a call for which no list is allocated: for parameters of several layers.
const FEW: usize = 24;

/// An array of an argument.
enum Leaf<'a> {
    /// The caller keeps it.
    Lent(&'a Array),
    /// The call owns it, perhaps as the only one. Few are, and the others are moved about without its size.
    Given(Box<Array>),
}

impl Leaf<'_> {
    fn array(&self) -> &Array {
        match self {
            Leaf::Lent(array) => array,
            Leaf::Given(array) => array,
        }
    }
}

/// One call: its arguments are added in order, then it runs.
#[allow(missing_debug_implementations, reason = "lives for one call, in generated code")]
pub struct Call<'a> {
    callee: Callee<'a>,
    place: &'static std::panic::Location<'static>,
    leaves: SmallVec<[Leaf<'a>; FEW]>,
    names: SmallVec<[&'static str; 8]>,
    key: Key,
}

impl<'a> Call<'a> {
    /// A call of a function of the program.
    #[track_caller]
    pub fn new(site: &'static Site) -> Call<'a> {
        Call::of(Callee::Site(site))
    }

    #[track_caller]
    pub(crate) fn of(callee: Callee<'a>) -> Call<'a> {
        Call {
            callee,
            place: std::panic::Location::caller(),
            leaves: SmallVec::new(),
            names: SmallVec::new(),
            key: Key::new(),
        }
    }

    /// Adds an argument.
    pub fn argument<T: TreeRef + ?Sized>(&mut self, name: &'static str, value: &'a T) {
        self.names.push(name);
        value.structure_ref(&mut self.key);
        value.read_ref(&mut |leaf| {
            self.key.array(leaf);
            self.leaves.push(Leaf::Lent(leaf));
        });
    }

    /// Adds an argument that the caller gives away: its arrays move into the call, so that their memory can be
    /// taken over where nobody else refers to it. What is left is the structure.
    pub fn donate<T: Tree>(&mut self, name: &'static str, value: T) -> T {
        self.names.push(name);
        value.structure(&mut self.key);
        let hole = hole();
        value.rebuild(&mut |leaf| {
            self.key.array(leaf);
            self.leaves.push(Leaf::Given(Box::new(leaf.clone())));
            hole.clone()
        })
    }

    /// Adds a static argument.
    pub fn static_argument<T: Static>(&mut self, _name: &'static str, value: &T) {
        self.key.node::<T>();
        value.key(&mut self.key);
    }

    /// Marks the key as that of one closure object.
    pub(crate) fn object(&mut self, id: u64) {
        self.key.object(id);
    }

    /// Runs: from the cache, or by tracing `body` first. The type of `body` is the function's identity.
    pub fn run<R: Outcome, F: Fn(&mut Inside<'_>) -> R>(&mut self, body: F) -> R {
        self.key.node::<F>();
        if is_idle()
            && !is_observed()
            && !RETRACE.is_on()
            && let Some(entry) = entry::find(&self.key)
            && entry.captured.is_empty()
            && !self.leaves.iter().any(|leaf| leaf.array().is_traced())
            && let Ok(executable) = entry.compiled()
            && let Some(like) = entry.result.downcast_ref::<R::Ok>()
        {
            let (mut inputs, mut results) = (SmallVec::new(), Results::new());
            list_inputs(&mut inputs, &mut self.leaves);
            return match try_run(executable, &mut results, &mut inputs) {
                Ok(()) => R::own(R::success(filled(like, &mut results, &entry))),
                Err(failed) => R::own(fail::<R>(failed, self.callee, self.place, &entry, &inputs)),
            };
        }
        R::own(self.run_slowly(body))
    }

    /// The full way: events, the boundary, tracing, errors.
    fn run_slowly<R: Outcome>(&mut self, body: impl Fn(&mut Inside<'_>) -> R) -> R::With<R::Ok> {
        let location = Location::from(self.place);
        let function = Function { called: Some(location.clone()), ..self.callee.function() };
        let _session = repro::session();
        let called = match is_observed() {
            true => flat(self.leaves.iter().map(|leaf| leaf.array().value().clone())),
            false => Called::default(),
        };
        enter::<R, R::Ok>(
            &function,
            || called,
            || {
                let entry = self.entry::<R>(&function, &location, body)?;
                let like = entry
                    .result
                    .downcast_ref::<R::Ok>()
                    .ok_or_else(|| Error::bug("a trace was found under the key of another function"))?;
                // On a worker thread inside a traced function nothing is traced, but arguments may be tracers.
                let traced = self.leaves.iter().any(|leaf| leaf.array().is_traced());
                if is_idle() && entry.captured.is_empty() && !traced {
                    let _early = repro::early();
                    let executable = entry.compiled()?;
                    let checked = checks::checks_values();
                    if !checked {
                        repro::release();
                    }
                    notify(&Event::Run { graph: &entry.graph });
                    let watched = is_execution_observed().then(|| Watched::start(&self.leaves));
                    let mut inputs = SmallVec::new();
                    list_inputs(&mut inputs, &mut self.leaves);
                    // Where results are looked at, arguments are not given away.
                    let before = if checked { kept(&inputs) } else { Vec::new() };
                    let results = run(executable, &mut inputs);
                    let mut results = results.inspect_err(|error| {
                        let left = kept(&inputs);
                        repro::restore(&left);
                        learn(&entry, error, &left, true);
                    })?;
                    repro::run_again_if_kept(&entry.graph, || kept(&inputs));
                    if let Some(watched) = watched {
                        watched.end(&entry.graph, &results, &location);
                    }
                    if checked {
                        let known: Vec<Tensor> = before.iter().flatten().cloned().collect();
                        let checked = checks::check_graph(&entry.graph, &known, &results, &Compiled);
                        checked.inspect_err(|error| learn(&entry, error, &before, true))?;
                    }
                    return Ok(filled(like, &mut results, &entry));
                }
                let operands: Vec<Value> = entry
                    .captured
                    .iter()
                    .cloned()
                    .chain(self.leaves.iter().map(|l| l.array().value().clone()))
                    .collect();
                let prim = Prim::from(CallGraph { graph: entry.graph.clone() });
                let results = match finer(&entry, &operands) {
                    Some(finer) => bind_finer(&prim, finer, &operands, &location)?,
                    None => bind(&prim, &operands, &location)?,
                };
                Ok(refill(like, results.into_vec()))
            },
        )
    }

    /// The entry of this call: found, or traced now.
    fn entry<R: Outcome>(
        &self,
        function: &Function,
        location: &Location,
        body: impl Fn(&mut Inside<'_>) -> R,
    ) -> Result<Arc<Entry>, Failure<R>> {
        loop {
            let known = entry::find(&self.key);
            if !RETRACE.is_on()
                && let Some(entry) = known
            {
                notify(&Event::CacheHit { function: self.callee.name(), location });
                repro::found(&entry);
                return Ok(Arc::clone(&entry));
            }
            let _tracing = match turn::take(&self.key) {
                Turn::Trace(tracing) => tracing,
                Turn::LookAgain => continue,
                Turn::Recursion => return Err(self.recursion().into()),
            };
            let mark = checks::mark();
            let (traced, duration) = counted(|| self.trace(function, &body));
            let (traced, signature) = traced?;
            crate::dump::traced(self.callee.name(), &traced.staged.graph, duration);
            let recorded = repro::take_body();
            if CHECK_PURITY.is_on() {
                self.check_purity(
                    function,
                    known.as_deref().map(|known| Arc::as_ref(known)),
                    &traced,
                    &body,
                )?;
            }
            let kept = !traced.staged.asked;
            let mut entry = self.new_entry(signature, traced);
            entry.recorded = recorded;
            let entry = Arc::new(entry);
            if known.is_none() {
                checks::explain(mark, &self.key, &entry.signature, kept);
            }
            if kept {
                entry::keep(self.key.clone(), entry.clone());
            }
            return Ok(entry);
        }
    }

    fn trace<R: Outcome>(
        &self,
        function: &Function,
        body: impl Fn(&mut Inside<'_>) -> R,
    ) -> Result<(Traced<R::Ok>, Signature), Failure<R>> {
        let arguments: Vec<Argument> = self
            .leaves
            .iter()
            .map(|leaf| Argument { name: String::new(), ty: leaf.array().ty(), value: None })
            .collect();
        let mut signature = Signature::new(function.clone());
        let traced = stage_with(function, &arguments, |tracers| {
            let signature = &mut signature;
            body(&mut Inside { tracers, next: 0, names: &self.names, argument: 0, signature })
        })?;
        Ok((traced, signature))
    }

    /// Compares a trace with the one that is known, or with another one.
    fn check_purity<R: Outcome>(
        &self,
        function: &Function,
        known: Option<&Entry>,
        traced: &Traced<R::Ok>,
        body: impl Fn(&mut Inside<'_>) -> R,
    ) -> Result<(), Failure<R>> {
        let name = function.name.as_deref();
        let now = Seen::new(&traced.staged.graph, &traced.result);
        match known.and_then(|entry| Some((entry, entry.result.downcast_ref::<R::Ok>()?))) {
            Some((entry, result)) => checks::compare(name, &Seen::new(&entry.graph, result), &now)?,
            None => {
                let (again, _) = self.trace(function, body)?;
                checks::compare(name, &now, &Seen::new(&again.staged.graph, &again.result))?;
            }
        }
        Ok(())
    }

    fn new_entry<Y: Tree>(&self, signature: Signature, traced: Traced<Y>) -> Entry {
        let Staged { graph, captured, .. } = traced.staged;
        // The result keeps its structure, not the tracers in it.
        let hole = hole();
        let result = traced.result.rebuild(&mut |_| hole.clone());
        let given = self.leaves.iter().map(|leaf| matches!(leaf, Leaf::Given(_)));
        let donated = std::iter::repeat_n(false, captured.len()).chain(given).collect();
        let settings = Settings { donated, ..Settings::default() };
        lower::offer(&graph);
        Entry::new(signature, Arc::new(graph), captured, Box::new(result), settings)
    }

    fn recursion(&self) -> Error {
        let message = format!("`{}` calls itself with arguments of the same types", self.callee.name());
        Error::new(ErrorKind::Recursion, message)
            .note("tracing it would never end: a Rust `if` on a traced value cannot stop the recursion")
            .help("use a loop, or a `#[static_arg]` that changes with every call")
    }
}

/// A run that somebody wants to know of.
struct Watched {
    operands: Vec<Value>,
    start: Instant,
}

impl Watched {
    /// Whoever watches keeps the arguments, so that none is given away.
    fn start(leaves: &[Leaf<'_>]) -> Watched {
        let operands = leaves.iter().map(|leaf| leaf.array().value().clone()).collect();
        Watched { operands, start: Instant::now() }
    }

    fn end(self, graph: &Arc<Graph>, results: &[Tensor], location: &Location) {
        let nanoseconds = self.start.elapsed().as_nanos() as u64;
        let (what, operands) = (Executed::Graph(graph), self.operands.as_slice());
        notify(&Event::Executed { what, operands, results, nanoseconds, location });
    }
}

/// Where a derivative is about to be taken, what is run in the place of a call: the same, with the residuals that the
/// derivative will ask for.
fn finer(entry: &Entry, operands: &[Value]) -> Option<Prim> {
    let frame = current().filter(|frame| frame.evaluates())?;
    let reverse = matches!(
        frame.api(),
        Api::Grad | Api::ValueAndGrad | Api::Vjp | Api::Linearize | Api::Jacfwd | Api::Jacrev | Api::Hessian
    );
    let varies = |value: &Value| value.tracer().is_some() && value.ty().dtype.is_inexact();
    let active: Vec<bool> = operands.iter().map(varies).collect();
    if !reverse || !active.contains(&true) {
        return None;
    }
    entry.linearized(&active).map(|graph| CallGraph { graph }.into())
}

/// What stands in the place of arrays in a tree of which only the structure is needed.
fn hole() -> &'static Array {
    static HOLE: LazyLock<Array> = LazyLock::new(|| Array::zeros([0], DType::U8));
    &HOLE
}

/// The inputs of a program. All data is known, or was found to be; what was given away is taken out.
///
/// Into a list where it stays: moving one takes as long as filling it.
fn list_inputs<'a>(inputs: &mut SmallVec<[Input<'a>; FEW]>, leaves: &mut [Leaf<'a>]) {
    inputs.reserve(leaves.len());
    for leaf in leaves {
        let known = match leaf {
            Leaf::Lent(array) => match array.value() {
                Value::Known(tensor, _) => {
                    inputs.push(Input::Lent(tensor));
                    continue;
                }
                Value::Splat(splat) if splat.shape.rank() == 0 => {
                    inputs.push(Input::number(splat.literal));
                    continue;
                }
                value @ (Value::Splat(_) | Value::Traced(_)) => value.known(),
            },
            Leaf::Given(_) => match std::mem::replace(leaf, Leaf::Lent(hole())) {
                Leaf::Given(array) => array.into_known(),
                Leaf::Lent(_) => None,
            },
        };
        inputs.extend(known.map(Input::given));
    }
}

/// A failure of a run, raised at the caller's line as by the full way.
fn fail<R: Outcome>(
    failed: Failed,
    callee: Callee<'_>,
    place: &'static std::panic::Location<'static>,
    entry: &Entry,
    inputs: &[Input<'_>],
) -> R::With<R::Ok> {
    let location = Location::from(place);
    let called = || {
        let arrays = kept(inputs).into_iter().zip(entry.graph.input_types());
        flat(arrays.map(|(tensor, ty)| match tensor {
            Some(tensor) => Value::Known(tensor, ty.weak),
            // It was given away.
            None => crate::transform::zeros(&ty),
        }))
    };
    let inside = || {
        repro::found(entry);
        match failed {
            Failed::Error(error) => {
                learn(entry, &error, &kept(inputs), false);
                Err(error.at(location).into())
            }
            Failed::Panic(payload) => std::panic::resume_unwind(payload),
        }
    };
    enter::<R, R::Ok>(&callee.function(), called, inside)
}

/// What the user's functions gave in a run that failed, where a repro needs that. What was stopped would not end.
fn learn(entry: &Entry, error: &Error, inputs: &[Option<Tensor>], heard: bool) {
    if error.kind() != ErrorKind::Stopped && !error.is_raised() {
        repro::run_again(&entry.graph, inputs, heard);
    }
}

/// What a jitted function was called on: the trees are told of when it is traced.
fn flat(values: impl Iterator<Item = Value>) -> Called {
    let arrays = Form::List(values.map(Form::Leaf).collect());
    Called { arguments: vec![("arguments", arrays)], options: Vec::new() }
}

/// The inputs that are still there after a run.
fn kept(inputs: &[Input<'_>]) -> Vec<Option<Tensor>> {
    inputs.iter().map(Input::to_tensor).collect()
}

/// The results, which are taken away, in the structure of the function's result.
fn filled<Y: Tree>(like: &Y, results: &mut Results, entry: &Entry) -> Y {
    let (mut results, mut weak) = (results.drain(..), entry.weak_results.iter());
    like.rebuild(&mut |hole| match results.next() {
        Some(tensor) => Array::known(tensor, weak.next().copied().unwrap_or(false)),
        None => hole.clone(),
    })
}

/// The inside of a traced function: hands out its arguments with tracers in the place of arrays.
#[allow(missing_debug_implementations, reason = "lives for one trace, in generated code")]
pub struct Inside<'t> {
    tracers: &'t [Value],
    next: usize,
    names: &'t [&'static str],
    argument: usize,
    signature: &'t mut Signature,
}

impl Inside<'_> {
    /// The next argument: the structure of `like`, with tracers.
    pub fn owned<T: TreeRef + ?Sized>(&mut self, like: &T) -> T::Owned {
        let root = self.names.get(self.argument).copied().unwrap_or("argument");
        self.argument += 1;
        let tracers = &self.tracers[self.next..];
        self.signature.argument(root, like, tracers.iter().map(Value::ty));
        let arrays = self.signature.last_arrays();
        self.next += arrays.len();
        if is_observed() {
            let mut next = tracers.iter();
            let form = form(like).map(&mut |value| next.next().unwrap_or(value).clone());
            notify(&Event::Parameter { name: root, form: &form });
        }
        let mut next = tracers.iter().zip(arrays);
        like.rebuild_ref(&mut |leaf| {
            let Some((value, (path, _))) = next.next() else { return leaf.clone() };
            if let Value::Traced(tracer) = value {
                tracer.frame().name_argument(tracer.var(), path.clone());
            }
            Array::from_value(value.clone())
        })
    }

    /// A static argument, of which only the value is of interest.
    pub fn constant<T: Static>(&mut self, name: &'static str, value: &T) {
        if is_observed() {
            notify(&Event::Parameter { name, form: &Form::Static(crate::tree::brief(value)) });
        }
        self.signature.constant(name, value);
    }
}
