//! The recorder: an observer that writes a tape of what happens on its thread.
//!
//! Only what happens is written here. What is inside of compiled functions is found when the recording has ended
//! (`inside.rs`), so that nothing runs while an observer is told of an event.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Graph, Location, Lowering, Prim};
use tracewell_trace::{Api, Called, Cause, Error, Event, Form, Observer, Value};

use super::context::{Context, Seen};
use super::node::{Argument, Callee, Kind, NodeId, Origin, Produced, Record, Reference};
use crate::array::Array;
use crate::stepping::constant_data;

/// By what a value is found again.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    /// A variable of a trace.
    Traced(u64, u32),
    /// Data, by its address. The tape keeps it, so that the address stays its own.
    Known(usize, ArrayType),
}

/// The keys of a value, the nearest first: a concrete tracer is found by its data too.
fn keys(value: &Value) -> impl Iterator<Item = Key> {
    let traced = value.tracer().map(|tracer| Key::Traced(tracer.frame().id(), tracer.var().0));
    let data = match value {
        Value::Known(tensor, weak) => Some((tensor, *weak)),
        Value::Traced(tracer) => tracer.value().map(|tensor| (tensor, tracer.ty().weak)),
        Value::Splat(_) => None,
    };
    let known = data.filter(|(tensor, _)| !tensor.is_empty());
    traced.into_iter().chain(known.map(|(tensor, weak)| key_of(tensor, weak)))
}

fn key_of(tensor: &Tensor, weak: bool) -> Key {
    Key::Known(tensor.as_ptr() as usize, ArrayType { weak, ..ArrayType::of(tensor) })
}

/// A call that is going on.
struct Open {
    /// Its node; `None` inside of a call that is not entered.
    node: Option<NodeId>,
    api: Option<Api>,
    /// Whether it is the function of the `jit!` call around it, and shares its node.
    shared: bool,
    /// What was made inside, by its keys.
    made: FxHashMap<Key, Reference>,
}

struct State {
    nodes: Vec<Record>,
    open: Vec<Open>,
    /// The names of the calls that are going on.
    names: Vec<String>,
    /// Their nodes, also of those that are not entered.
    ends: Vec<Option<NodeId>>,
    /// All that was ever made, for values that a function kept elsewhere.
    everywhere: FxHashMap<Key, Reference>,
    constants: Vec<NodeId>,
    last_error: Option<Error>,
    /// Data that names are given by, where no node keeps it.
    kept: Vec<Value>,
}

/// Records one tape.
pub(super) struct Recorder {
    state: Mutex<State>,
    context: Arc<dyn Context>,
}

/// What was recorded: the root is node 0, constants of the program are to come first in it.
pub(super) struct Recorded {
    pub(super) nodes: Vec<Record>,
    pub(super) constants: Vec<NodeId>,
}

impl Recorder {
    pub(super) fn new(context: Arc<dyn Context>, location: &Location) -> Recorder {
        let mut root = Record::new(Kind::Program, "program");
        root.location = Some(location.clone());
        let open = Open { node: Some(NodeId(0)), api: None, shared: false, made: FxHashMap::default() };
        let state = State {
            nodes: vec![root],
            open: vec![open],
            names: Vec::new(),
            ends: Vec::new(),
            everywhere: FxHashMap::default(),
            constants: Vec::new(),
            last_error: None,
            kept: Vec::new(),
        };
        Recorder { state: Mutex::new(state), context }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The parameters of the root.
    pub(super) fn parameters(&self, form: &Form<Value>, names: &[String]) {
        let values: Vec<Value> = form.leaves().into_iter().cloned().collect();
        self.state().parameters(&values, &|i| names.get(i).cloned(), &[], &*self.context);
    }

    /// What the root returns.
    pub(super) fn returned(&self, form: &Form<Value>) {
        let mut state = self.state();
        state.close_return(form, &*self.context);
        let results = form.leaves().into_iter().map(Produced::of).collect();
        state.nodes[0].results = results;
    }

    pub(super) fn last_error(&self) -> Option<Error> {
        self.state().last_error.clone()
    }

    pub(super) fn take(&self) -> Recorded {
        let mut state = self.state();
        Recorded { nodes: std::mem::take(&mut state.nodes), constants: std::mem::take(&mut state.constants) }
    }
}

/// Whether a primitive runs graphs that it has as parameters.
pub(super) fn nests(prim: &Prim) -> bool {
    let mut found = false;
    prim.rules().each_param(&mut |_, value| found |= !value.graphs().is_empty());
    found
}

/// The graph that stands for a primitive, where it is one that calls it.
pub(super) fn called_graph(prim: &Prim, operands: &[ArrayType], results: &[ArrayType]) -> Option<Arc<Graph>> {
    if !nests(prim) {
        return None;
    }
    match prim.rules().lower(operands, results) {
        Ok(Lowering::Graph(graph) | Lowering::Late(graph)) => Some(graph),
        _ => None,
    }
}

/// What a node of a primitive is, and its name.
pub(super) fn kind_of(prim: &Prim, operands: &[ArrayType], results: &[ArrayType]) -> (Kind, String) {
    if let Some(graph) = called_graph(prim, operands, results) {
        return (Kind::Call(Callee::Primitive(prim.clone())), graph.name.clone());
    }
    let name = prim.name().to_string();
    if nests(prim) {
        return (Kind::Call(Callee::Primitive(prim.clone())), name);
    }
    let constant =
        operands.is_empty() && matches!(prim.rules().lower(operands, results), Ok(Lowering::Constant(_)));
    (if constant { Kind::Constant } else { Kind::Primitive(prim.clone()) }, name)
}

impl State {
    fn innermost(&self) -> &Open {
        self.open.last().expect("the root is open as long as it records")
    }

    /// Whether what happens now is written.
    fn writes(&self) -> bool {
        self.innermost().node.is_some()
    }

    fn seen<'a>(&'a self, record: &'a Record) -> Seen<'a> {
        Seen {
            kind: &record.kind,
            name: &record.name,
            depth: self.names.len() + 1,
            around: &self.names,
            location: record.location.as_ref(),
        }
    }

    /// Adds a node to what is going on, if the context wants it.
    fn push(&mut self, mut record: Record, context: &dyn Context) -> Option<NodeId> {
        let parent = self.innermost().node?;
        let seen = self.seen(&record);
        if !context.records(&seen) {
            return None;
        }
        let mut notes = std::mem::take(&mut record.notes);
        context.annotate(&self.seen(&record), &mut notes);
        record.notes = notes;
        record.parent = Some(parent);
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(record);
        self.nodes[parent.at()].children.push(id);
        Some(id)
    }

    fn find(&self, value: &Value) -> Option<Reference> {
        keys(value).find_map(|key| {
            let near = self.open.iter().rev().find_map(|open| open.made.get(&key));
            near.or_else(|| self.everywhere.get(&key)).copied()
        })
    }

    fn define(&mut self, value: &Value, reference: Reference) {
        self.kept.push(value.clone());
        let open = self.open.last_mut().expect("the root is open as long as it records");
        for key in keys(value) {
            open.made.insert(key.clone(), reference);
            self.everywhere.insert(key, reference);
        }
    }

    /// A value as an argument. Data that comes from outside becomes a constant of the root.
    fn argument(&mut self, value: &Value) -> Argument {
        match value {
            Value::Splat(_) => return Argument::Constant(Array::unfilled(value.clone())),
            Value::Known(tensor, _) if tensor.is_empty() => {
                return Argument::Constant(Array::from_value(value.clone()));
            }
            _ => {}
        }
        if let Some(found) = self.find(value) {
            return Argument::Reference(found);
        }
        let Some(known) = value.untraced() else { return Argument::Unknown(value.ty()) };
        let id = NodeId(self.nodes.len() as u32);
        let mut record = Record::new(Kind::Constant, "constant");
        record.parent = Some(NodeId(0));
        record.results = vec![Produced::of(&known)];
        self.nodes.push(record);
        self.constants.push(id);
        let reference = Reference { node: id, result: 0 };
        self.kept.push(value.clone());
        for key in keys(value) {
            self.open[0].made.insert(key.clone(), reference);
            self.everywhere.insert(key, reference);
        }
        Argument::Reference(reference)
    }

    fn arguments<'v>(&mut self, values: impl IntoIterator<Item = &'v Value>) -> Vec<Argument> {
        values.into_iter().map(|value| self.argument(value)).collect()
    }

    /// A call begins.
    fn enter(&mut self, record: Record, api: Option<Api>, context: &dyn Context) {
        let name = record.name.clone();
        let enters = context.enters(&self.seen(&record));
        let node = if self.writes() { self.push(record, context) } else { None };
        let inside = node.filter(|_| enters);
        // What is not entered still has its node, which gets its results at the end.
        self.open.push(Open { node: inside, api, shared: false, made: FxHashMap::default() });
        self.names.push(name);
        self.ends.push(node);
    }

    /// A call ends, with these results or by a failure.
    fn exit(&mut self, results: Option<&Form<Value>>, context: &dyn Context) {
        if let (true, Some(form)) = (self.writes(), results) {
            self.close_return(form, context);
        }
        self.open.pop();
        self.names.pop();
        let (Some(Some(node)), Some(form)) = (self.ends.pop(), results) else { return };
        let values = form.leaves();
        self.nodes[node.at()].results = values.iter().map(|value| Produced::of(value)).collect();
        for (result, value) in values.into_iter().enumerate() {
            if !matches!(value, Value::Splat(_)) {
                self.define(value, Reference { node, result });
            }
        }
    }

    /// The return of the call that ends, unless a graph will say it.
    fn close_return(&mut self, form: &Form<Value>, context: &dyn Context) {
        let open = self.innermost();
        if open.node.is_none_or(|node| self.nodes[node.at()].graph.is_some()) {
            return;
        }
        let values: Vec<Value> = form.leaves().into_iter().cloned().collect();
        let mut record = Record::new(Kind::Return, "return");
        record.arguments = self.arguments(&values);
        record.results = values.iter().map(Produced::of).collect();
        self.push(record, context);
    }

    /// The parameters of the call that begins. `given` is what the caller gave, where it is known which is which.
    fn parameters(
        &mut self,
        values: &[Value],
        name: &dyn Fn(usize) -> Option<String>,
        given: &[Argument],
        context: &dyn Context,
    ) {
        for (number, value) in values.iter().enumerate() {
            let name = name(number).unwrap_or_else(|| format!("#{number}"));
            let mut record = Record::new(Kind::Argument { number }, name);
            record.arguments = match (self.find(value), given.get(number)) {
                (Some(found), _) => vec![Argument::Reference(found)],
                (None, Some(given)) => vec![given.clone()],
                (None, None) => Vec::new(),
            };
            record.results = vec![Produced::of(value)];
            if let Some(tracer) = value.tracer() {
                record.origin = Some(Origin::Trace { trace: tracer.frame().id(), variable: tracer.var().0 });
            }
            if let Some(node) = self.push(record, context)
                && !matches!(value, Value::Splat(_))
            {
                self.define(value, Reference { node, result: 0 });
            }
        }
    }

    fn api_enter(
        &mut self,
        api: Api,
        function: Option<&str>,
        called: &Called,
        location: &Location,
        context: &dyn Context,
    ) {
        let (kind, name) = match api {
            Api::Jit => (Callee::Jit, function.unwrap_or("closure")),
            api => (Callee::Api(api), api.name()),
        };
        self.call(kind, name, called, location, Some(api), context);
    }

    fn call(
        &mut self,
        callee: Callee,
        name: &str,
        called: &Called,
        location: &Location,
        api: Option<Api>,
        context: &dyn Context,
    ) {
        let mut record = Record::new(Kind::Call(callee), name);
        if self.writes() {
            record.arguments = self.arguments(called.values());
        }
        record.location = Some(location.clone());
        self.enter(record, api, context);
    }

    fn function_enter(
        &mut self,
        function: Option<&str>,
        role: &'static str,
        arguments: &[Value],
        location: &Location,
        context: &dyn Context,
    ) {
        let open = self.innermost();
        let (node, api) = (open.node, open.api);
        let given = match (node, api) {
            (Some(node), Some(api)) if !api.is_control() => self.nodes[node.at()].arguments.clone(),
            _ => Vec::new(),
        };
        let given = if arguments.len() <= given.len() { given } else { Vec::new() };
        if api == Some(Api::Jit) {
            // The call and the function are one thing.
            self.open.push(Open { node, api: None, shared: true, made: FxHashMap::default() });
        } else {
            let mut record = Record::new(Kind::Call(Callee::Function(role)), function.unwrap_or("closure"));
            if self.writes() {
                record.arguments = given.iter().take(arguments.len()).cloned().collect();
            }
            record.location = Some(location.clone());
            self.enter(record, None, context);
        }
        if self.writes() {
            let name = |number: usize| argument_name(&arguments[number]);
            self.parameters(arguments, &name, &given, context);
        }
    }

    fn function_exit(&mut self, results: Option<&Form<Value>>, context: &dyn Context) {
        if self.innermost().shared {
            if let (true, Some(form)) = (self.writes(), results) {
                self.close_return(form, context);
            }
            self.open.pop();
            return;
        }
        self.exit(results, context);
    }

    fn bind(
        &mut self,
        (prim, operands, results): (&Prim, &[Value], &[Value]),
        known: bool,
        location: &Location,
        context: &dyn Context,
    ) {
        let api = self.innermost().api;
        let types = |values: &[Value]| values.iter().map(Value::ty).collect::<Vec<_>>();
        let (operand_types, result_types) = (types(operands), types(results));
        if api == Some(Api::Jit)
            && let Some(graph) = called_graph(prim, &operand_types, &result_types)
        {
            let arguments = self.arguments(operands);
            self.runs(graph, Some(arguments));
            return;
        }
        let Some(around) = self.innermost().node else { return };
        // What was computed before is found where it was.
        if known && !results.is_empty() && results.iter().all(|result| self.find(result).is_some()) {
            return;
        }
        // What a function captured is a constant of its graph, and comes from where it was made.
        if let ([], [result]) = (operands, results)
            && let Some(data) = constant_data(prim)
            && let Some(found) = self.find(&Value::from(data))
        {
            return self.define(result, found);
        }
        if api.is_some_and(Api::is_control) && nests(prim) {
            // What the functions of a loop do is seen in its turns.
            let nodes = &mut self.nodes;
            let mut children = std::mem::take(&mut nodes[around.at()].children);
            children.retain(|child| !matches!(nodes[child.at()].kind, Kind::Call(Callee::Function(_))));
            nodes[around.at()].children = children;
        }
        let (kind, name) = kind_of(prim, &operand_types, &result_types);
        let mut record = Record::new(kind, name);
        record.arguments = self.arguments(operands);
        record.results = results.iter().map(Produced::of).collect();
        record.location = Some(location.clone());
        record.graph = called_graph(prim, &operand_types, &result_types);
        let tracer = results.first().and_then(Value::tracer);
        record.origin =
            tracer.map(|tracer| Origin::Trace { trace: tracer.frame().id(), variable: tracer.var().0 });
        let Some(node) = self.push(record, context) else { return };
        for (result, value) in results.iter().enumerate() {
            self.define(value, Reference { node, result });
        }
    }

    /// The innermost call runs a graph: what is inside of it is in there, and not what was traced to make it.
    fn runs(&mut self, graph: Arc<Graph>, arguments: Option<Vec<Argument>>) {
        let Some(Some(node)) = self.ends.last() else { return };
        let node = &mut self.nodes[node.at()];
        node.children.clear();
        node.graph = Some(graph);
        if let Some(arguments) = arguments {
            node.arguments = arguments;
        }
    }

    fn ask(&mut self, value: &Value, what: &str, location: &Location, context: &dyn Context) {
        if !self.writes() {
            return;
        }
        let mut record = Record::new(Kind::Branch, what);
        record.arguments = vec![self.argument(value)];
        record.results = vec![Produced::of(value)];
        record.location = Some(location.clone());
        self.push(record, context);
    }

    fn raise(&mut self, error: &Error, context: &dyn Context) {
        self.last_error = Some(error.clone());
        if !self.writes() {
            return;
        }
        let (name, operands) = match error.cause() {
            Some(Cause::Bind { prim, operands }) => (prim.name().to_string(), operands.clone()),
            Some(Cause::Ask { value, what }) => (what.clone(), vec![value.clone()]),
            Some(Cause::Call { name, operands, .. }) => ((*name).to_string(), operands.clone()),
            None => ("error".to_string(), Vec::new()),
        };
        let mut record = Record::new(Kind::Failure { message: error.message().to_string() }, name);
        record.arguments = self.arguments(&operands);
        record.location = error.location().cloned();
        self.push(record, context);
    }
}

/// The name of a parameter that a trace gave it.
fn argument_name(value: &Value) -> Option<String> {
    let tracer = value.tracer()?;
    tracer.frame().argument_name(tracer.var()).filter(|name| !name.is_empty())
}

impl Observer for Recorder {
    fn observe(&self, event: &Event<'_>) {
        let context = &*self.context;
        let mut state = self.state();
        match event {
            Event::ApiEnter { api, function, called, location } => {
                state.api_enter(*api, *function, called, location, context);
            }
            Event::ApiExit { results, .. } => state.exit(results.ok(), context),
            Event::TracedEnter { function, called, location } => {
                let values: Vec<Value> = called.values().into_iter().cloned().collect();
                state.call(Callee::Traced, function, called, location, None, context);
                if state.writes() {
                    let names: Vec<String> =
                        called.arguments.iter().flat_map(|(name, form)| paths(name, form)).collect();
                    state.parameters(&values, &|i| names.get(i).cloned(), &[], context);
                }
            }
            Event::TracedExit { results } => state.exit(*results, context),
            Event::FunctionEnter { function, role, arguments, location, .. } => {
                state.function_enter(*function, role, arguments, location, context);
            }
            Event::FunctionExit { results } => state.function_exit(*results, context),
            Event::Bind { prim, operands, results, known, location } => {
                state.bind((prim, operands, results), *known, location, context);
            }
            Event::Run { graph } => state.runs((*graph).clone(), None),
            Event::AskValue { value, what, location } => state.ask(value, what, location, context),
            Event::Raise { error } => state.raise(error, context),
            Event::Parameter { name, form } => {
                // The names of parameters are known once the function takes them.
                state.rename(name, form);
            }
            Event::Option { .. }
            | Event::UseKey { .. }
            | Event::Executed { .. }
            | Event::Panic { .. }
            | Event::Leak { .. }
            | Event::ReturnedFunction { .. }
            | Event::CacheHit { .. } => {}
        }
    }

    fn follows_arrays(&self) -> bool {
        true
    }
}

impl State {
    fn rename(&mut self, name: &str, form: &Form<Value>) {
        for (path, value) in paths(name, form).into_iter().zip(form.leaves()) {
            if let Some(found) = self.find(value)
                && let Kind::Argument { .. } = self.nodes[found.node.at()].kind
            {
                self.nodes[found.node.at()].name = path;
            }
        }
    }
}

/// The path of each array in a tree.
fn paths(root: &str, form: &Form<Value>) -> Vec<String> {
    match form {
        Form::Leaf(_) => vec![root.to_string()],
        Form::Static(_) => Vec::new(),
        Form::Tuple(parts) => {
            parts.iter().enumerate().flat_map(|(i, part)| paths(&format!("{root}.{i}"), part)).collect()
        }
        Form::List(parts) => {
            parts.iter().enumerate().flat_map(|(i, part)| paths(&format!("{root}[{i}]"), part)).collect()
        }
        Form::Optional(part) => part.iter().flat_map(|part| paths(root, part)).collect(),
        Form::Map(parts) => {
            parts.iter().flat_map(|(key, part)| paths(&format!("{root}[{key}]"), part)).collect()
        }
        Form::Record { fields, .. } => {
            fields.iter().flat_map(|(field, part)| paths(&format!("{root}.{field}"), part)).collect()
        }
    }
}
