//! The recorder: an observer that keeps the call tree of what runs on its thread.
//!
//! What happens inside an API, between its functions, is not recorded: replaying the API does it again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Atom, Location, Var};
use tracewell_trace::{Api, Cause, Error, Event, Form, Frame, Observer, Value, current};

use crate::tree::{ApiCall, Bind, Body, Name, Operand, Statement, Typed};

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
    main: Body,
    /// What is going on, the innermost last.
    open: Vec<Open>,
    /// Arrays that were made or given where nothing is traced, by their buffers; kept so that their addresses stay
    /// their own.
    known: FxHashMap<(usize, ArrayType), (Name, Tensor)>,
    next_known: u32,
    size: usize,
    most: usize,
    over: bool,
    /// The last function that ended, for whoever keeps it.
    ended: Option<Arc<Body>>,
    /// Whether the last panic was told of already.
    panicked: bool,
}

#[derive(Debug)]
enum Open {
    Api(ApiCall),
    /// With the trace that it is run for, if it is traced.
    Function(Body, Option<Arc<Frame>>),
    /// An API inside another, or a function of ours.
    Internal,
}

impl Recorder {
    /// One that begins with nothing, or with statements of an earlier tree, and keeps so many statements at most.
    pub fn new(location: Location, before: Vec<Statement>, most: usize) -> Recorder {
        let main = Body { statements: before, ..Body::main(location) };
        Recorder {
            state: Mutex::new(State {
                main,
                open: Vec::new(),
                known: FxHashMap::default(),
                next_known: 0,
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
    pub fn take_ended(&self) -> Option<Arc<Body>> {
        self.state().ended.take()
    }

    /// The call that is going on found its function in a cache.
    pub fn cached(&self, body: Arc<Body>) {
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
            for (_, form) in &mut call.arguments {
                *form = form.map(&mut |operand| match operand {
                    Operand::Data(..) => Operand::Lost(operand.ty()),
                    other => other.clone(),
                });
            }
        }
        state.known.clear();
    }

    /// Puts back what was forgotten, as far as it is still there.
    pub fn restore(&self, arguments: &[Option<Tensor>]) {
        let mut state = self.state();
        let mut next = arguments.iter();
        if let Some(Open::Api(call)) = state.open.last_mut() {
            for (_, form) in &mut call.arguments {
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
                Open::Function(body, frame) => {
                    let mut body = body.clone();
                    if state.over {
                        body.statements = frame.iter().flat_map(|frame| equations_of(frame)).collect();
                    }
                    body.statements.extend(inner.take());
                    function = Some(body);
                }
                Open::Api(call) => {
                    let mut call = call.clone();
                    call.bodies.extend(function.take().map(Arc::new));
                    inner = Some(Statement::Api(Arc::new(call)));
                }
            }
        }
        let mut main = state.main.clone();
        main.statements.extend(inner);
        main.statements.extend(function.into_iter().flat_map(|body| body.statements));
        main
    }

    /// What ran, once it has ended.
    pub fn finished(&self) -> Body {
        self.tree_so_far(None)
    }

    /// The last statement of the outermost function.
    pub fn last_statement(&self) -> Option<Statement> {
        self.state().main.statements.last().cloned()
    }

    /// The last statement of the outermost function, for good: without the data of arrays, so that it keeps none alive.
    pub fn take_last(&self) -> Option<Statement> {
        let mut state = self.state();
        state.ended = None;
        state.known.clear();
        let mut statement = state.main.statements.pop()?;
        lose_data(&mut statement);
        Some(statement)
    }

    /// The operation that failed as a statement, where the innermost thing going on is a user's function. Inside an
    /// API there is none: the API fails again by itself.
    pub fn failing(&self, error: &Error) -> Option<Statement> {
        let state = self.state();
        if matches!(state.open.last(), Some(Open::Api(_) | Open::Internal)) {
            return None;
        }
        Some(failing(error, &mut |value| state.operand(value)))
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
        match open.and_then(|call| call.bodies.last_mut()).filter(|body| body.returned.is_none()) {
            Some(body) => {
                Arc::make_mut(body).statements.push(statement);
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

/// Replaces data by its type. What a cache holds too is left alone: it is alive anyway.
fn lose_data(statement: &mut Statement) {
    let lose = |operand: &mut Operand| {
        if matches!(operand, Operand::Data(..)) {
            *operand = Operand::Lost(operand.ty());
        }
    };
    match statement {
        Statement::Bind(bind) => bind.operands.iter_mut().for_each(lose),
        Statement::Ask { operand, .. } => lose(operand),
        Statement::Call { operands, .. } => operands.iter_mut().for_each(lose),
        Statement::Raise { .. } | Statement::Panic { .. } => {}
        Statement::Api(call) => {
            let Some(call) = Arc::get_mut(call) else { return };
            for (_, form) in &mut call.arguments {
                *form = form.map(&mut |operand| {
                    let mut operand = operand.clone();
                    lose(&mut operand);
                    operand
                });
            }
            for body in call.bodies.iter_mut().filter_map(Arc::get_mut) {
                body.statements.iter_mut().for_each(lose_data);
            }
        }
    }
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

impl State {
    fn operand(&self, value: &Value) -> Operand {
        if let Value::Known(tensor, weak) = value
            && !self.over
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
            Value::Splat(splat) => {
                self.next_known += 1;
                Typed { name: Name { frame: 0, var: self.next_known }, ty: splat.ty() }
            }
            Value::Known(tensor, weak) => {
                self.next_known += 1;
                let name = Name { frame: 0, var: self.next_known };
                let ty = ArrayType { weak: *weak, ..ArrayType::of(tensor) };
                let key = (tensor.as_ptr() as usize, ty.clone());
                if !self.over {
                    self.known.insert(key, (name, tensor.clone()));
                }
                Typed { name, ty }
            }
        }
    }

    /// Whether what happens now is done by a user's function.
    fn in_function(&self) -> bool {
        !matches!(self.open.last(), Some(Open::Api(_) | Open::Internal))
    }

    /// Whether what a user's function does now is recorded.
    fn records(&self) -> bool {
        !self.over && self.in_function()
    }

    fn push(&mut self, statement: Statement) {
        self.size += 1;
        if self.size > self.most && !self.over {
            self.over = true;
            self.known.clear();
            self.main.statements.clear();
            for open in &mut self.open {
                if let Open::Function(body, _) = open {
                    body.statements.clear();
                }
            }
        }
        if self.over {
            return;
        }
        match self.open.last_mut() {
            Some(Open::Function(body, _)) => body.statements.push(statement),
            Some(Open::Api(_) | Open::Internal) => {}
            None => self.main.statements.push(statement),
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
            .map(|(root, form)| ((*root).to_string(), form.map(&mut |value| self.operand(value))))
            .collect();
        let options =
            called.options.iter().map(|(name, value)| ((*name).to_string(), value.clone())).collect();
        self.open.push(Open::Api(ApiCall {
            api,
            function: function.map(String::from),
            arguments,
            options,
            bodies: Vec::new(),
            results: None,
            returned: None,
            location: at.clone(),
        }));
    }

    fn exit_api(&mut self, results: Result<&Form<Value>, Option<&Error>>) {
        let Some(Open::Api(mut call)) = self.open.pop() else { return };
        match results {
            Ok(form) => call.results = Some(form.map(&mut |value| self.define(value))),
            // It failed, and its failure was told of. What was caught is not part of what comes after.
            Err(_) => return,
        }
        // What a definition expands to is told again when it is applied.
        if call.api != Api::Expand {
            self.push(Statement::Api(Arc::new(call)));
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
                    call.options.push(((*name).to_string(), (*value).to_string()));
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
                state.open.push(Open::Function(body, current().filter(is_its)));
            }
            Event::Parameter { name, form } => {
                let form = form.map(&mut |value| match state.operand(value) {
                    Operand::Var(typed) => typed.name,
                    _ => Name { frame: 0, var: 0 },
                });
                if let Some(Open::Function(body, _)) = state.open.last_mut() {
                    body.forms.push(((*name).to_string(), form));
                }
            }
            Event::FunctionExit { results } => {
                let returned = results.map(|form| form.map(&mut |value| state.operand(value)));
                let Some(Open::Function(mut body, frame)) = state.open.pop() else { return };
                body.returned = returned;
                if state.over {
                    body.statements = frame.iter().flat_map(|frame| equations_of(frame)).collect();
                }
                let body = Arc::new(body);
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
                let operands = operands.iter().map(|value| state.operand(value)).collect();
                let results = results.iter().map(|value| state.define(value)).collect();
                let location = (*location).clone();
                state.push(Statement::Bind(Bind { prim: (*prim).clone(), operands, results, location }));
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
                    let operands = vec![state.operand(words)];
                    let location = (*location).clone();
                    let name = "use_key".to_string();
                    state.push(Statement::Call { name, operands, arguments: Vec::new(), location });
                }
            }
            Event::ReturnedFunction { number, .. } => {
                let statements = match state.open.last_mut() {
                    Some(Open::Function(body, _)) => Some(&mut body.statements),
                    None => Some(&mut state.main.statements),
                    Some(Open::Api(_) | Open::Internal) => None,
                };
                if let Some(Statement::Api(call)) = statements.and_then(|all| all.last_mut()) {
                    Arc::make_mut(call).returned = Some(*number);
                }
            }
            Event::Raise { .. } | Event::Panic { .. } | Event::Leak { .. } | Event::CacheHit { .. } => {}
            // What a user's function does is part of the function or API around it.
            Event::TracedEnter { .. } | Event::TracedExit { .. } => {}
            Event::Run { .. } | Event::Executed { .. } => {}
        }
    }
}
