//! The recorder: an observer that keeps the call tree of what runs on its thread.
//!
//! What happens inside an API, between its functions, is not recorded: replaying the API does it again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Atom, Location, Prim, Var};
use tracewell_trace::{Api, Cause, Error, Event, Form, Frame, Observer, Value, current};

use crate::packed::{Call, KeptCall, Recorded, Steps};
use crate::tree::{Answer, ApiCall, Bind, Body, Name, Operand, Statement, Typed};

/// So many statements are recorded at most in one tree. Past it, functions are what their graphs are: never a tree of
/// which a part is missing.
pub const MOST_STATEMENTS: usize = 1 << 20;

/// Records one tree: what runs while it observes.
#[derive(Debug)]
pub struct Recorder {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    main: Recorded,
    /// What is going on, the innermost last.
    open: Vec<Open>,
    names: Names,
    size: usize,
    most: usize,
    over: bool,
    /// The last function that ended, for whoever keeps it.
    ended: Option<Arc<Recorded>>,
    /// Whether the last panic was told of already.
    panicked: bool,
}

/// How values are named.
#[derive(Default, Debug)]
struct Names {
    /// Arrays that were made or given where nothing is traced, by their buffers; kept so that their addresses stay
    /// their own.
    known: FxHashMap<(usize, ArrayType), (Name, Tensor)>,
    next_known: u32,
    /// What primitives of the user's gave, where that was known at once: they are not in any tree.
    answers: FxHashMap<Name, Tensor>,
    /// What functions gave that were called back, and how many bytes it is.
    called: Vec<Answer>,
    called_bytes: usize,
}

/// So many calls of functions are remembered, with so many bytes.
const MOST_ANSWERS: (usize, usize) = (4096, 16 << 20);

#[derive(Debug)]
enum Open {
    Api(Call),
    /// With the trace that it is run for, if it is traced.
    Function(Recorded, Option<Arc<Frame>>),
    /// An API inside another, or a function of ours.
    Internal,
}

impl Recorder {
    /// One that begins with nothing, or with a call of an earlier tree, and keeps so many statements at most.
    pub fn new(location: Location, before: Option<&KeptCall>, most: usize) -> Recorder {
        let mut main = Recorded::new(Body::main(location));
        if let Some(call) = before {
            main.steps.again(call.clone());
        }
        Recorder {
            state: Mutex::new(State {
                main,
                open: Vec::new(),
                names: Names::default(),
                size: 0,
                most,
                over: false,
                ended: None,
                panicked: false,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to be said of a tree that became too large to be kept.
    pub fn note(&self) -> Option<String> {
        let state = self.state();
        let note = "there were more than {most} statements: functions are what their graphs are";
        state.over.then(|| note.replace("{most}", &state.most.to_string()))
    }

    /// The last function that ended, once.
    pub fn take_ended(&self) -> Option<Arc<Recorded>> {
        self.state().ended.take()
    }

    /// The call that is going on found its function in a cache.
    pub fn cached(&self, body: Arc<Recorded>) {
        if let Some(Open::Api(call)) = self.state().open.last_mut() {
            call.bodies.push(body);
        }
    }

    /// Forgets the data of the arguments of the call that is going on, so that it can be given away.
    pub fn release(&self) {
        let mut state = self.state();
        // A call inside another has its arguments from there.
        if state.open.len() != 1 {
            return;
        }
        if let Some(Open::Api(call)) = state.open.last_mut() {
            for (_, form) in &mut call.call.arguments {
                *form = form.map(&mut |operand| match operand {
                    Operand::Data(..) => Operand::Lost(operand.ty()),
                    other => other.clone(),
                });
            }
        }
        state.names.known.clear();
    }

    /// Puts back what was forgotten, as far as it is still there.
    pub fn restore(&self, arguments: &[Option<Tensor>]) {
        let mut state = self.state();
        let mut next = arguments.iter();
        if let Some(Open::Api(call)) = state.open.last_mut() {
            for (_, form) in &mut call.call.arguments {
                *form = form.map(&mut |operand| match (operand, next.next()) {
                    (Operand::Lost(ty), Some(Some(tensor))) => Operand::Data(tensor.clone(), ty.weak),
                    (other, _) => other.clone(),
                });
            }
        }
    }

    /// What ran so far, as if it ended here, with what failed as the last statement.
    pub fn tree_so_far(&self, last: Option<Statement>) -> Body {
        let state = self.state();
        let mut inner: Option<Statement> = last;
        // From the inside outwards: what is open is closed without a result.
        let mut function: Option<Body> = None;
        for open in state.open.iter().rev() {
            match open {
                Open::Internal => {}
                Open::Function(recorded, frame) => {
                    let mut body = recorded.unpacked();
                    if state.over {
                        body.statements = frame.iter().flat_map(|frame| equations_of(frame)).collect();
                    }
                    body.statements.extend(inner.take());
                    function = Some(body);
                }
                Open::Api(call) => {
                    let mut call = call.unpacked();
                    call.bodies.extend(function.take().map(Arc::new));
                    inner = Some(Statement::Api(Arc::new(call)));
                }
            }
        }
        let mut main = state.main.unpacked();
        main.statements.extend(inner);
        main.statements.extend(function.into_iter().flat_map(|body| body.statements));
        main
    }

    /// What ran, once it has ended.
    pub fn finished(&self) -> Body {
        self.tree_so_far(None)
    }

    /// The last call of the outermost function.
    pub fn last_call(&self) -> Option<KeptCall> {
        self.state().main.steps.keep_last()
    }

    /// The last call of the outermost function, for good: without the data of arrays, so that it keeps none alive.
    pub fn take_last(&self) -> Option<KeptCall> {
        let mut state = self.state();
        state.ended = None;
        state.names = Names::default();
        let last = state.main.steps.keep_last();
        state.main.steps.clear();
        last.map(KeptCall::without_data)
    }

    /// What primitives of the user's gave, where that is known.
    pub fn answers(&self) -> FxHashMap<Name, Tensor> {
        self.state().names.answers.clone()
    }

    /// What functions gave that were called back, in order.
    pub fn called(&self) -> Vec<Answer> {
        self.state().names.called.clone()
    }

    /// A function was called back, and gave this.
    pub fn was_called(&self, answer: Answer) {
        self.state().names.was_called(answer);
    }

    /// The operation that failed as a statement, where the innermost thing going on is a user's function. Inside an
    /// API there is none: the API fails again by itself.
    pub fn failing(&self, error: &Error) -> Option<Statement> {
        let state = self.state();
        if matches!(state.open.last(), Some(Open::Api(_) | Open::Internal)) {
            return None;
        }
        Some(failing(error, &mut |value| state.names.operand(value)))
    }

    /// What a panic of the user's is as a statement: where its function has just failed.
    pub fn panicked(&self, text: &str) -> Option<Body> {
        let mut state = self.state();
        if std::mem::replace(&mut state.panicked, true) {
            return None;
        }
        // The function was closed by the panic on its way; it is the last of the innermost call.
        let statement = Statement::Panic { text: text.to_string() };
        let open = state.open.iter_mut().rev().find_map(|open| match open {
            Open::Api(call) => Some(call),
            Open::Function(..) | Open::Internal => None,
        });
        // One that has ended was running: it panics at its end.
        match open.and_then(|call| call.bodies.last_mut()) {
            Some(body) => {
                let body = Arc::make_mut(body);
                body.body.returned = None;
                body.steps.other(statement);
                drop(state);
                Some(self.tree_so_far(None))
            }
            None => {
                drop(state);
                Some(self.tree_so_far(Some(statement)))
            }
        }
    }
}

/// What a trace holds so far, as statements.
fn equations_of(frame: &Frame) -> Vec<Statement> {
    frame.so_far(|builder, captured| {
        let typed = |var: Var| Typed {
            name: Name { frame: frame.id(), var: var.0 },
            ty: builder.ty(&Atom::Var(var)),
        };
        let outside: FxHashMap<Var, &Value> = captured.iter().map(|(value, var)| (*var, value)).collect();
        let operand = |atom: &Atom| match atom {
            Atom::Splat(splat) => Operand::Splat(splat.clone()),
            Atom::Var(var) => match outside.get(var) {
                Some(value) => plain_operand(value),
                None => Operand::Var(typed(*var)),
            },
        };
        let statement = |equation: &tracewell_graph::Equation| {
            Statement::Bind(Bind {
                prim: equation.prim.clone(),
                operands: equation.inputs.iter().map(operand).collect(),
                results: equation.outputs.iter().map(|&var| typed(var)).collect(),
                location: equation.location.clone().unwrap_or_else(|| frame.location().clone()),
            })
        };
        builder.equations().iter().map(statement).collect()
    })
}

/// The operation that failed, as a statement.
pub fn failing(error: &Error, operand: &mut dyn FnMut(&Value) -> Operand) -> Statement {
    let nowhere = Location { file: "".into(), line: 0, column: 0 };
    let location = error.location().cloned().unwrap_or(nowhere);
    match error.cause() {
        Some(Cause::Bind { prim, operands }) => Statement::Bind(Bind {
            prim: prim.clone(),
            operands: operands.iter().map(operand).collect(),
            results: Vec::new(),
            location,
        }),
        Some(Cause::Ask { value, what }) => {
            Statement::Ask { operand: operand(value), what: what.clone(), location }
        }
        Some(Cause::Call { name, operands, arguments }) => Statement::Call {
            name: (*name).to_string(),
            operands: operands.iter().map(operand).collect(),
            arguments: arguments.clone(),
            location,
        },
        None => Statement::Raise { kind: error.kind(), message: error.message().to_string(), location },
    }
}

/// A value that is not part of a recorded trace.
pub fn plain_operand(value: &Value) -> Operand {
    match value {
        Value::Splat(splat) => Operand::Splat(splat.clone()),
        Value::Known(tensor, weak) => Operand::Data(tensor.clone(), *weak),
        Value::Traced(tracer) => Operand::Var(Typed { name: name_of(tracer), ty: tracer.ty().clone() }),
    }
}

fn name_of(tracer: &tracewell_trace::Tracer) -> Name {
    Name { frame: tracer.frame().id(), var: tracer.var().0 }
}

impl Names {
    fn operand(&self, value: &Value) -> Operand {
        if let Value::Known(tensor, weak) = value
            && !self.known.is_empty()
        {
            let ty = ArrayType { weak: *weak, ..ArrayType::of(tensor) };
            let key = (tensor.as_ptr() as usize, ty);
            if let Some((name, _)) = self.known.get(&key) {
                return Operand::Var(Typed { name: *name, ty: key.1 });
            }
        }
        plain_operand(value)
    }

    /// A name for a value that was made or given here.
    fn define(&mut self, value: &Value) -> Typed {
        match value {
            Value::Traced(tracer) => Typed { name: name_of(tracer), ty: tracer.ty().clone() },
            Value::Splat(splat) => Typed { name: self.next(), ty: splat.ty() },
            Value::Known(tensor, weak) => {
                let name = self.next();
                let ty = ArrayType { weak: *weak, ..ArrayType::of(tensor) };
                self.known.insert((tensor.as_ptr() as usize, ty.clone()), (name, tensor.clone()));
                Typed { name, ty }
            }
        }
    }

    fn was_called(&mut self, answer: Answer) {
        let bytes: usize = answer.results.iter().flatten().map(Tensor::size_bytes).sum();
        let (most, most_bytes) = MOST_ANSWERS;
        if self.called.len() < most && self.called_bytes + bytes <= most_bytes {
            self.called_bytes += bytes;
            self.called.push(answer);
        }
    }

    fn next(&mut self) -> Name {
        self.next_known += 1;
        Name { frame: 0, var: self.next_known }
    }
}

impl State {
    /// Whether what happens now is done by a user's function.
    fn in_function(&self) -> bool {
        !matches!(self.open.last(), Some(Open::Api(_) | Open::Internal))
    }

    /// Whether what a user's function does now is recorded.
    fn records(&self) -> bool {
        !self.over && self.in_function()
    }

    /// Counts a statement, and gives the list that it belongs to; nothing if there are too many.
    fn steps(&mut self) -> Option<(&mut Steps, &mut Names)> {
        self.size += 1;
        if self.size > self.most && !self.over {
            self.forget();
        }
        if self.over {
            return None;
        }
        let steps = match self.open.last_mut() {
            Some(Open::Function(recorded, _)) => &mut recorded.steps,
            Some(Open::Api(_) | Open::Internal) => return None,
            None => &mut self.main.steps,
        };
        Some((steps, &mut self.names))
    }

    /// There are too many statements.
    #[cold]
    fn forget(&mut self) {
        self.over = true;
        self.names.known.clear();
        self.names.answers.clear();
        self.names.called.clear();
        self.main.steps.clear();
        for open in &mut self.open {
            if let Open::Function(recorded, _) = open {
                recorded.steps.clear();
            }
        }
    }

    fn push(&mut self, statement: Statement) {
        if let Some((steps, _)) = self.steps() {
            steps.other(statement);
        }
    }

    fn bind(&mut self, prim: &Prim, operands: &[Value], results: &[Value], location: &Location) {
        let Some((steps, names)) = self.steps() else { return };
        for value in operands {
            match value {
                Value::Traced(tracer) => steps.var(name_of(tracer), tracer.ty()),
                other => steps.operand(names.operand(other)),
            }
        }
        for value in results {
            let name = match value {
                Value::Traced(tracer) => {
                    steps.result(name_of(tracer), tracer.ty());
                    name_of(tracer)
                }
                other => {
                    let Typed { name, ty } = names.define(other);
                    steps.result(name, &ty);
                    name
                }
            };
            if matches!(prim, Prim::Custom(_))
                && let Some(data) = value.known()
            {
                names.answers.insert(name, data);
            }
        }
        steps.bound(prim, location);
    }

    /// A name for a value that was made or given here. Where there are too many statements, none is kept.
    fn define(&mut self, value: &Value) -> Typed {
        match value {
            Value::Known(..) if self.over => Typed { name: self.names.next(), ty: value.ty() },
            _ => self.names.define(value),
        }
    }

    fn enter_api(
        &mut self,
        api: Api,
        function: Option<&str>,
        called: &tracewell_trace::Called,
        at: &Location,
    ) {
        if !self.in_function() {
            self.open.push(Open::Internal);
            return;
        }
        let arguments = called.arguments.iter();
        let arguments = arguments
            .map(|(root, form)| ((*root).to_string(), form.map(&mut |value| self.names.operand(value))))
            .collect();
        let options =
            called.options.iter().map(|(name, value)| ((*name).to_string(), value.clone())).collect();
        let call = ApiCall {
            api,
            function: function.map(String::from),
            arguments,
            options,
            bodies: Vec::new(),
            results: None,
            returned: None,
            location: at.clone(),
        };
        self.open.push(Open::Api(Call { call, bodies: Vec::new() }));
    }

    fn exit_api(&mut self, results: Result<&Form<Value>, Option<&Error>>) {
        let Some(Open::Api(mut call)) = self.open.pop() else { return };
        match results {
            Ok(form) => call.call.results = Some(form.map(&mut |value| self.define(value))),
            // It failed, and its failure was told of. What was caught is not part of what comes after.
            Err(_) => return,
        }
        // What a definition expands to is told again when it is applied.
        if call.call.api != Api::Expand
            && let Some((steps, _)) = self.steps()
        {
            steps.call(call);
        }
    }
}

impl Observer for Recorder {
    fn observe(&self, event: &Event<'_>) {
        let mut state = self.state();
        let state = &mut *state;
        match event {
            Event::ApiEnter { api, function, called, location } => {
                state.panicked = false;
                state.enter_api(*api, *function, called, location);
            }
            Event::ApiExit { results, .. } => state.exit_api(*results),
            Event::Option { name, value } => {
                if let Some(Open::Api(call)) = state.open.last_mut() {
                    call.call.options.push(((*name).to_string(), (*value).to_string()));
                }
            }
            Event::FunctionEnter { internal: true, .. } => state.open.push(Open::Internal),
            Event::FunctionEnter { function, role, arguments, location, .. } => {
                let parameters = arguments.iter().map(|value| state.define(value)).collect();
                let body = Body {
                    name: function.map(String::from),
                    role: (*role).to_string(),
                    parameters,
                    ..Body::main((*location).clone())
                };
                // Of a function that is not traced, the trace around it is not its own.
                let is_its = |frame: &Arc<Frame>| {
                    let traced = |value: &Value| matches!(value, Value::Traced(tracer) if tracer.frame().id() == frame.id());
                    arguments.iter().all(traced)
                };
                state.open.push(Open::Function(Recorded::new(body), current().filter(is_its)));
            }
            Event::Parameter { name, form } => {
                let form = form.map(&mut |value| match state.names.operand(value) {
                    Operand::Var(typed) => typed.name,
                    _ => Name { frame: 0, var: 0 },
                });
                if let Some(Open::Function(recorded, _)) = state.open.last_mut() {
                    recorded.body.forms.push(((*name).to_string(), form));
                }
            }
            Event::FunctionExit { results } => {
                let returned = results.map(|form| form.map(&mut |value| state.names.operand(value)));
                let Some(Open::Function(mut recorded, frame)) = state.open.pop() else { return };
                recorded.body.returned = returned;
                recorded.steps.finish();
                if state.over {
                    recorded.body.statements = frame.iter().flat_map(|frame| equations_of(frame)).collect();
                }
                let body = Arc::new(recorded);
                // Whoever keeps it has the graph too.
                state.ended = (!state.over).then(|| body.clone());
                // The nearest call, past those of which it is made.
                for open in state.open.iter_mut().rev() {
                    match open {
                        Open::Api(call) => {
                            call.bodies.push(body);
                            return;
                        }
                        Open::Internal => {}
                        Open::Function(..) => return,
                    }
                }
            }
            Event::Bind { prim, operands, results, location, .. } => {
                if !state.records() {
                    return;
                }
                state.bind(prim, operands, results, location);
            }
            Event::AskValue { value, what, location } => {
                if let Value::Traced(tracer) = value
                    && state.records()
                {
                    let operand = Operand::Var(Typed { name: name_of(tracer), ty: tracer.ty().clone() });
                    let (what, location) = ((*what).to_string(), (*location).clone());
                    state.push(Statement::Ask { operand, what, location });
                }
            }
            Event::UseKey { words, location } => {
                if state.records() {
                    let operands = vec![state.names.operand(words)];
                    let location = (*location).clone();
                    let name = "use_key".to_string();
                    state.push(Statement::Call { name, operands, arguments: Vec::new(), location });
                }
            }
            Event::ReturnedFunction { number, .. } => {
                let steps = match state.open.last_mut() {
                    Some(Open::Function(recorded, _)) => Some(&mut recorded.steps),
                    None => Some(&mut state.main.steps),
                    Some(Open::Api(_) | Open::Internal) => None,
                };
                if let Some(call) = steps.and_then(Steps::last_call) {
                    call.call.returned = Some(*number);
                }
            }
            Event::Raise { .. } | Event::Panic { .. } | Event::Leak { .. } | Event::CacheHit { .. } => {}
            // What a user's function does is part of the function or API around it.
            Event::TracedEnter { .. } | Event::TracedExit { .. } => {}
            Event::Run { .. } | Event::Executed { .. } => {}
        }
    }
}
