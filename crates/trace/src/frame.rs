//! A frame: one trace being recorded. Frames nest on a stack of their thread.
//!
//! Everything bound while a frame is on top is recorded in it. A value of an outer frame that is used inside
//! becomes an input of the inner graph and is remembered as *captured*, so that closures may capture tracers
//! at any depth. Arrays of the program are constants of the graph; of a branch or a loop they are captured too.
//! No lock is held while user code runs.

use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Atom, GraphBuilder, Location, Prim, Var};

use crate::api::Api;
use crate::error::Error;
use crate::leak::{Made, WATCH_TRACERS, foreign, leaked};
use crate::stage::Finer;
use crate::value::{Tracer, Value};

/// A trace being recorded.
pub struct Frame {
    id: u64,
    api: Api,
    function: Option<String>,
    location: Location,
    /// Frames below it on the stack of the thread that opened it.
    outer: Vec<Arc<Frame>>,
    /// Whether equations are evaluated as they are recorded.
    evaluates: bool,
    /// Whether it stages a branch or a loop that is run as soon as it is staged.
    runs_at_once: bool,
    closed: AtomicBool,
    asked: AtomicBool,
    recording: Mutex<Recording>,
    /// The tracers made in it, where that is watched.
    made: Option<Mutex<Made>>,
}

#[derive(Default)]
pub(crate) struct Recording {
    pub(crate) builder: GraphBuilder,
    /// Names of arguments by their variable.
    pub(crate) arguments: Vec<(Var, String)>,
    /// Values from outside used inside, with the input each became.
    pub(crate) captured: Vec<(Value, Var)>,
    /// Arrays of the program used inside, by buffer, so that each becomes one constant. The tensor is kept so
    /// that its buffer's address stays its own.
    constants: FxHashMap<(usize, ArrayType), (Atom, Tensor)>,
    /// The data of each variable, where known.
    pub(crate) values: Vec<Option<Tensor>>,
    /// What was run in the place of equations.
    pub(crate) finer: Vec<Finer>,
}

thread_local! {
    static STACK: RefCell<Vec<Arc<Frame>>> = const { RefCell::new(Vec::new()) };
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// The innermost frame of this thread.
pub fn current() -> Option<Arc<Frame>> {
    STACK.with_borrow(|stack| stack.last().cloned())
}

/// Whether nothing is being traced on this thread.
#[inline]
pub fn is_idle() -> bool {
    STACK.with_borrow(Vec::is_empty)
}

/// Runs `f` as if nothing were traced on this thread: what it does is done at once, and recorded nowhere.
pub fn outside<R>(f: impl FnOnce() -> R) -> R {
    /// Puts the stack back, also after a panic.
    struct Back(Vec<Arc<Frame>>);
    impl Drop for Back {
        fn drop(&mut self) {
            STACK.with_borrow_mut(|stack| *stack = std::mem::take(&mut self.0));
        }
    }
    let _back = Back(STACK.with_borrow_mut(std::mem::take));
    f()
}

/// Whether a number of the program that is used now must not become part of a graph, because the graph is run at
/// once and another number would make another graph.
pub fn captures_numbers() -> bool {
    STACK.with_borrow(|stack| stack.last().is_some_and(|frame| frame.runs_at_once))
}

/// Keeps a frame on the stack; the frame is closed when this is dropped, also by a panic.
pub(crate) struct Open(pub(crate) Arc<Frame>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.closed.store(true, Ordering::Release);
        STACK.with_borrow_mut(|stack| {
            if let Some(at) = stack.iter().rposition(|f| Arc::ptr_eq(f, &self.0)) {
                stack.truncate(at);
            }
        });
    }
}

impl Frame {
    /// Opens a frame on top of this thread's stack.
    pub(crate) fn open(api: Api, function: Option<String>, location: Location) -> Open {
        STACK.with_borrow_mut(|stack| {
            let outer = stack.last();
            let evaluates = api.is_concrete() && outer.is_none_or(|outer| outer.evaluates);
            let runs_at_once =
                api.is_control() && outer.is_none_or(|outer| outer.evaluates || outer.runs_at_once);
            let frame = Arc::new(Frame {
                id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
                api,
                function,
                location,
                outer: stack.clone(),
                evaluates,
                runs_at_once,
                closed: AtomicBool::new(false),
                asked: AtomicBool::new(false),
                recording: Mutex::default(),
                made: WATCH_TRACERS.is_on().then(Mutex::default),
            });
            stack.push(frame.clone());
            Open(frame)
        })
    }

    pub(crate) fn recording(&self) -> MutexGuard<'_, Recording> {
        // A panic while the lock is held leaves a recording that is dropped with its frame.
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number of its own, larger than that of every frame opened before.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The API that traces.
    pub fn api(&self) -> Api {
        self.api
    }

    /// The traced function, where its name is known.
    pub fn function(&self) -> Option<&str> {
        self.function.as_deref()
    }

    /// Where the function is defined, or the API was called.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Whether equations are evaluated as they are recorded.
    pub fn evaluates(&self) -> bool {
        self.evaluates
    }

    /// Whether the trace has ended.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Whether a value was asked for that the graph of this frame does not determine: it must not be cached.
    pub fn was_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Marks this frame and all around it.
    pub(crate) fn set_asked_through(&self) {
        self.asked.store(true, Ordering::Relaxed);
        self.outer.iter().for_each(|f| f.asked.store(true, Ordering::Relaxed));
    }

    /// Looks at what was recorded so far, and at the values from outside with the inputs that they became.
    pub fn so_far<R>(&self, look: impl FnOnce(&GraphBuilder, &[(Value, Var)]) -> R) -> R {
        let recording = self.recording();
        look(&recording.builder, &recording.captured)
    }

    /// The name of the argument that a variable is.
    pub fn argument_name(&self, var: Var) -> Option<String> {
        let recording = self.recording();
        recording.arguments.iter().find(|(v, _)| *v == var).map(|(_, name)| name.clone())
    }

    /// Gives an argument its name, once it is known.
    pub fn name_argument(&self, var: Var, name: String) {
        let mut recording = self.recording();
        if let Some(argument) = recording.arguments.iter_mut().find(|(v, _)| *v == var) {
            argument.1 = name;
        }
    }

    /// How the frame is named in errors: `` `loss` (src/model.rs:24:1) ``.
    pub fn describe(&self) -> String {
        match &self.function {
            Some(name) => format!("`{name}` ({})", self.location),
            None => format!("a closure ({})", self.location),
        }
    }

    /// Why values are not known in it: the innermost API, from here outwards, that traces without values.
    pub(crate) fn hides_values(&self) -> Api {
        let around = self.outer.iter().rev().map(|frame| frame.api);
        std::iter::once(self.api).chain(around).find(|api| !api.is_concrete()).unwrap_or(self.api)
    }

    /// Adds an argument; concrete where the frame evaluates and its data is known.
    pub(crate) fn argument(self: &Arc<Frame>, name: String, ty: ArrayType, value: Option<Tensor>) -> Tracer {
        let value = if self.evaluates { value } else { None };
        let mut recording = self.recording();
        let var = recording.builder.input(ty.clone());
        recording.arguments.push((var, name));
        recording.set_value(var, value.clone());
        drop(recording);
        self.watched(Tracer::new(self.clone(), var, ty, value, self.location.clone()))
    }

    /// The tracer, remembered where that is wanted.
    fn watched(&self, tracer: Tracer) -> Tracer {
        if let Some(made) = &self.made {
            made.lock().unwrap_or_else(PoisonError::into_inner).tracers.push(tracer.downgrade());
        }
        tracer
    }

    /// The tracers made in it, where that was watched; from now on they are no longer.
    pub(crate) fn take_made(&self) -> Option<Made> {
        let made = self.made.as_ref()?;
        Some(std::mem::take(&mut *made.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The operand by which this frame's graph refers to a value.
    pub(crate) fn atom(self: &Arc<Frame>, value: &Value) -> Result<Atom, Error> {
        match value {
            Value::Splat(splat) => Ok(Atom::Splat(splat.clone())),
            Value::Known(tensor, weak) if self.captures(tensor) => {
                Ok(self.recording().capture_known(tensor, *weak))
            }
            Value::Known(tensor, weak) => Ok(self.recording().constant(tensor, *weak)),
            Value::Traced(tracer) if Arc::ptr_eq(tracer.frame(), self) => Ok(Atom::Var(tracer.var())),
            Value::Traced(tracer) => self.capture(tracer).map(Atom::Var),
        }
    }

    /// Whether an array of the program is captured and not a constant: the graph of a loop should not make it each
    /// time, and one that is run at once should be the same for other data.
    fn captures(&self, tensor: &Tensor) -> bool {
        self.api.is_control() && (tensor.rank() > 0 || self.runs_at_once)
    }

    fn capture(&self, tracer: &Tracer) -> Result<Var, Error> {
        if tracer.frame().is_closed() {
            return Err(leaked(tracer));
        }
        // An open frame that is older is one around this, or around the thread that opened this.
        if tracer.frame().id > self.id {
            return Err(foreign(tracer, self));
        }
        let mut recording = self.recording();
        let is_same = |value: &Value| value.tracer().is_some_and(|other| other.is_same(tracer));
        if let Some((_, var)) = recording.captured.iter().find(|(value, _)| is_same(value)) {
            return Ok(*var);
        }
        let var = recording.builder.input(tracer.ty().clone());
        let value = if self.evaluates { tracer.value().cloned() } else { None };
        recording.set_value(var, value);
        recording.captured.push((Value::Traced(tracer.clone()), var));
        Ok(var)
    }

    /// Keeps what was run in the place of an equation.
    pub(crate) fn remember(&self, finer: Finer) {
        self.recording().finer.push(finer);
    }

    /// Adds an equation with the data of its results, where known.
    pub(crate) fn record(
        self: &Arc<Frame>,
        prim: &Prim,
        atoms: &[Atom],
        types: &[ArrayType],
        values: Option<Vec<Tensor>>,
        made: &Location,
    ) -> Vec<Tracer> {
        let mut recording = self.recording();
        recording.builder.at(Some(made.clone()));
        let outputs = recording.builder.push(prim.clone(), atoms, types.iter().cloned());
        let mut values = values.map(Vec::into_iter);
        let mut tracers = Vec::with_capacity(outputs.len());
        for (atom, ty) in outputs.iter().zip(types) {
            let Atom::Var(var) = atom else { unreachable!("equations define variables") };
            let value = values.as_mut().and_then(Iterator::next);
            recording.set_value(*var, value.clone());
            tracers.push(self.watched(Tracer::new(self.clone(), *var, ty.clone(), value, made.clone())));
        }
        tracers
    }
}

impl Recording {
    fn set_value(&mut self, var: Var, value: Option<Tensor>) {
        let at = var.0 as usize;
        if self.values.len() <= at {
            self.values.resize(at + 1, None);
        }
        self.values[at] = value;
    }

    /// A known array as an input of the graph, one for each buffer.
    fn capture_known(&mut self, tensor: &Tensor, weak: bool) -> Atom {
        let ty = ArrayType { weak, ..ArrayType::of(tensor) };
        let key = (tensor.as_ptr() as usize, ty.clone());
        if let Some((atom, _)) = self.constants.get(&key) {
            return atom.clone();
        }
        let var = self.builder.input(ty);
        self.set_value(var, None);
        self.captured.push((Value::Known(tensor.clone(), weak), var));
        self.constants.insert(key, (Atom::Var(var), tensor.clone()));
        Atom::Var(var)
    }

    /// A known array as an operand: scalars by value, others as one constant for each buffer.
    fn constant(&mut self, tensor: &Tensor, weak: bool) -> Atom {
        let ty = ArrayType { weak, ..ArrayType::of(tensor) };
        if tensor.rank() == 0 {
            let splat =
                tracewell_graph::Splat { literal: tensor.literal(0), shape: tensor.shape().clone(), weak };
            return Atom::Splat(splat);
        }
        let key = (tensor.as_ptr() as usize, ty);
        if let Some((atom, _)) = self.constants.get(&key) {
            return atom.clone();
        }
        let atom = self.builder.constant(tensor);
        let Atom::Var(var) = &atom else { unreachable!("constants define variables") };
        self.set_value(*var, Some(tensor.clone()));
        self.constants.insert(key, (atom.clone(), tensor.clone()));
        atom
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({} {})", self.id, self.describe())
    }
}
