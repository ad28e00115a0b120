//! What is not in a tree is stood in for, openly: primitives and functions of users are code, not text.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;
use tracewell_array::Tensor;
use tracewell_graph::prim::{Call, Callback};
use tracewell_graph::text::NoCustom;
use tracewell_graph::{ArrayType, Graph, HostFunction, Prim};
use tracewell_kernel::{BufferFn, BufferMut, BufferRef, CallError};
use tracewell_repro::{
    Answer, Bind, Body, CallTree, Failure, FolderError, IN_REPRO, Name, Operand, Statement, Typed, Verdict,
};
use tracewell_trace::{Api, Error, ErrorKind, Form};

use super::again::{self, Answers, error_of};
use super::replay::replay;
use crate::effects::with_time_limit;

/// The tree with what cannot be written replaced, and a note for each. `answers` are results that are known.
///
/// What fails in a rule of a primitive that is not there any more is raised where it failed.
pub(super) fn written(tree: CallTree, answers: &FxHashMap<Name, Tensor>) -> CallTree {
    let (tree, gone) = replaced(tree, answers);
    // Whether it failed because of a primitive that is gone or by itself is seen when it is done again.
    let by_a_rule = !gone.is_empty()
        && tree.failure.as_ref().is_some_and(|failure| failure.kind != "Stopped")
        && !Verdict::of(tree.failure.as_ref(), replay_elsewhere(&tree.numbered())).is_reproduced();
    if by_a_rule { with_failure(tree) } else { tree }
}

/// How a tree fails on a thread of its own: on this one something may be going on.
fn replay_elsewhere(tree: &CallTree) -> Option<Failure> {
    // With other numbers a loop may never end.
    let limited = || with_time_limit(Duration::from_secs(5), || replay(tree));
    std::thread::scope(|scope| scope.spawn(limited).join().ok().flatten())
}

/// The tree with its failure raised at the end of the function that was run last.
fn with_failure(mut tree: CallTree) -> CallTree {
    /// The innermost function of the call that did not return.
    fn last(body: &mut Body) -> &mut Body {
        let unfinished = |statement: &Statement| match statement {
            Statement::Api(call) => call.results.is_none() && !call.bodies.is_empty(),
            _ => false,
        };
        if !body.statements.last().is_some_and(unfinished) {
            return body;
        }
        match body.statements.last_mut() {
            Some(Statement::Api(call)) => match Arc::make_mut(call).bodies.last_mut() {
                Some(inner) => last(Arc::make_mut(inner)),
                None => unreachable!("it has functions"),
            },
            _ => unreachable!("it is a call"),
        }
    }
    if let Some(failure) = tree.failure.clone() {
        let body = last(&mut tree.main);
        body.returned = None;
        body.statements.push(Statement::Raise {
            kind: ErrorKind::parse(&failure.kind).unwrap_or(ErrorKind::Bug),
            message: failure.message,
            location: body.location.clone(),
        });
        tree.stand_ins.push("the failure is raised as it was, by no operation".to_string());
    }
    tree
}

/// The tree with what cannot be written replaced, and the names of primitives that are not there any more.
fn replaced(mut tree: CallTree, answers: &FxHashMap<Name, Tensor>) -> (CallTree, BTreeSet<String>) {
    let (called, failure) = (tree.answers.clone(), tree.failure.clone());
    let mut work = Work {
        answers,
        called: &called,
        failure: failure.as_ref(),
        plain: true,
        renamed: BTreeMap::new(),
        notes: BTreeSet::new(),
        removed: BTreeSet::new(),
        gone: BTreeMap::new(),
        expected: false,
    };
    tree.main = work.body(&tree.main, tree.failure.as_ref());
    for answer in &mut tree.answers {
        if let Some(name) = work.renamed.get(&answer.function) {
            answer.function.clone_from(name);
        }
    }
    for note in work.notes {
        if !tree.stand_ins.contains(&note) {
            tree.stand_ins.push(note);
        }
    }
    (tree, work.removed)
}

struct Work<'a> {
    answers: &'a FxHashMap<Name, Tensor>,
    /// What functions gave.
    called: &'a [Answer],
    failure: Option<&'a Failure>,
    /// Whether no rule of a primitive is asked for but those that run it: nothing around is a derivative or a `vmap`.
    plain: bool,
    /// Functions that stand for primitives, by the names under which their calls are known.
    renamed: BTreeMap<String, String>,
    notes: BTreeSet<String>,
    /// Primitives that are not there any more.
    removed: BTreeSet<String>,
    /// Values whose primitives are not there any more, with what stands for them.
    gone: BTreeMap<Name, Operand>,
    /// Whether what was expected was noted.
    expected: bool,
}

impl Work<'_> {
    fn operand(&mut self, operand: &Operand) -> Operand {
        match operand {
            Operand::Var(typed) if self.gone.contains_key(&typed.name) => self.gone[&typed.name].clone(),
            Operand::Lost(ty) => {
                self.notes.insert("the data of an array was not kept: it is zeros".to_string());
                Operand::Lost(ty.clone())
            }
            other => other.clone(),
        }
    }

    fn form(&mut self, form: &Form<Operand>) -> Form<Operand> {
        form.map(&mut |operand| self.operand(operand))
    }

    fn body(&mut self, body: &Body, failure: Option<&Failure>) -> Body {
        let mut statements = Vec::with_capacity(body.statements.len());
        for statement in &body.statements {
            statements.extend(self.statement(statement, failure));
        }
        let returned = body.returned.as_ref().map(|form| self.form(form));
        Body { statements, returned, ..body.clone() }
    }

    fn statement(&mut self, statement: &Statement, failure: Option<&Failure>) -> Option<Statement> {
        Some(match statement {
            Statement::Bind(bind) => return self.bind(bind, failure),
            Statement::Api(call) => {
                let mut call = (**call).clone();
                if call.api == Api::Jit
                    && call.bodies.is_empty()
                    && failure.is_some_and(|failure| failure.kind == "Recursion")
                {
                    self.notes.insert("a function that calls itself fails where it did".to_string());
                }
                for (_, form) in &mut call.arguments {
                    *form = self.form(form);
                }
                let outer = self.plain;
                self.plain &= runs_plainly(call.api);
                call.bodies = call.bodies.iter().map(|body| Arc::new(self.body(body, failure))).collect();
                self.plain = outer;
                Statement::Api(Arc::new(call))
            }
            Statement::Ask { operand, what, location } => Statement::Ask {
                operand: self.operand(operand),
                what: what.clone(),
                location: location.clone(),
            },
            Statement::Call { name, .. } if name == "unexpected" && !self.expected => {
                self.expected = true;
                self.notes
                    .insert("what was expected is not here: it fails where results are the same".to_string());
                return self.statement(statement, failure);
            }
            Statement::Call { name, operands, arguments, location } => Statement::Call {
                name: name.clone(),
                operands: operands.iter().map(|operand| self.operand(operand)).collect(),
                arguments: arguments.clone(),
                location: location.clone(),
            },
            Statement::Raise { .. } => {
                self.notes.insert("the failure is raised as it was, by no operation".to_string());
                statement.clone()
            }
            Statement::Panic { .. } => {
                self.notes.insert("a panic of the program is a panic with its text".to_string());
                statement.clone()
            }
        })
    }

    /// What answers in the place of a function, if calls of it are known.
    fn answering(&mut self, name: &str) -> Option<HostFunction> {
        let known = self.called.iter().any(|answer| answer.function == name);
        known.then(|| {
            let function = answering(name, self.failure, self.called);
            self.renamed.insert(name.to_string(), function.name().to_string());
            function
        })
    }

    fn bind(&mut self, bind: &Bind, failure: Option<&Failure>) -> Option<Statement> {
        let operands: Vec<Operand> = bind.operands.iter().map(|operand| self.operand(operand)).collect();
        let bind = Bind { operands, ..bind.clone() };
        if let Prim::Callback(callback) = &bind.prim
            && !again::is_ours(callback.function.name())
        {
            if let Some(function) = self.answering(callback.function.name()) {
                self.notes
                    .insert("a Rust function that was called back is not here: it gives what it gave".into());
                let prim = Callback { function, ..callback.clone() }.into();
                return Some(Statement::Bind(Bind { prim, ..bind }));
            }
            let instead = "it gives zeros, or fails as it did";
            self.notes.insert(format!("a Rust function that was called back is not here: {instead}"));
        }
        if !is_foreign(&bind.prim) {
            return Some(Statement::Bind(bind));
        }
        let name = bind.prim.name().to_string();
        let types: Vec<ArrayType> = bind.operands.iter().map(Operand::ty).collect();
        let results: Vec<ArrayType> = bind.results.iter().map(|typed| typed.ty.clone()).collect();
        if !bind.results.is_empty()
            && let Some(graph) = again::expansion(&bind.prim, &types, &results)
            && !graph_is_foreign(&graph)
        {
            self.notes.insert(format!("the primitive `{name}` is what it expands to"));
            return Some(Statement::Bind(Bind { prim: Call { graph }.into(), ..bind }));
        }
        let function = again::function_name(&bind.prim, &types);
        if self.plain
            && let Some(function) = self.answering(&function)
        {
            self.notes
                .insert(format!("the primitive `{name}` of the program is not here: it gives what it gave"));
            let prim = Callback { function, ordered: false, results }.into();
            return Some(Statement::Bind(Bind { prim, ..bind }));
        }
        self.removed.insert(name.clone());
        let known = bind.results.iter().all(|typed| self.answers.contains_key(&typed.name));
        let instead = if known { "what they were" } else { "zeros" };
        self.notes
            .insert(format!("the primitive `{name}` of the program is not here: its results are {instead}"));
        for Typed { name, ty } in &bind.results {
            let data = self.answers.get(name).map(|data| Operand::Data(data.clone(), ty.weak));
            self.gone.insert(*name, data.unwrap_or_else(|| Operand::Lost(ty.clone())));
        }
        let failed = bind.results.is_empty();
        failure.filter(|_| failed).map(|failure| Statement::Raise {
            kind: ErrorKind::parse(&failure.kind).unwrap_or(ErrorKind::Bug),
            message: failure.message.clone(),
            location: bind.location,
        })
    }
}

/// Whether a primitive is not one of ours, or holds one that is not.
fn is_foreign(prim: &Prim) -> bool {
    if matches!(prim, Prim::Custom(_)) {
        return true;
    }
    let mut found = false;
    prim.rules()
        .each_param(&mut |_, value| found |= value.graphs().iter().any(|graph| graph_is_foreign(graph)));
    found
}

fn graph_is_foreign(graph: &Graph) -> bool {
    graph.equations.iter().any(|equation| is_foreign(&equation.prim))
}

/// Reads a folder, with functions in the place of those that programs call back.
pub(super) fn load(folder: &Path) -> Result<CallTree, FolderError> {
    let tree = tracewell_repro::load(folder, &NoCustom)?;
    let names = tree.callbacks();
    if names.is_empty() {
        return Ok(tree);
    }
    // While they are alive, the text that names them finds them.
    let failure = tree.failure.clone();
    let _functions: Vec<HostFunction> = names
        .into_iter()
        .map(|name| {
            // One whose answers were changed since is found when it is replayed.
            if name.contains(IN_REPRO) {
                return answering(&name, failure.as_ref(), &tree.answers);
            }
            HostFunction::named(name.clone(), || StandIn::new(name, failure.clone(), &[]))
        })
        .collect();
    tracewell_repro::load(folder, &NoCustom)
}

/// A function that answers in the place of that of this name. Functions are found by their names, so that one which
/// answers something else has another.
fn answering(name: &str, failure: Option<&Failure>, answers: &[Answer]) -> HostFunction {
    let own: Vec<Answer> = answers.iter().filter(|answer| answer.function == name).cloned().collect();
    let plain = name.split(IN_REPRO).next().unwrap_or(name);
    let unique = format!("{plain}{IN_REPRO}{:016x}", again::digest(&own, failure));
    HostFunction::named(unique.clone(), || StandIn::new(unique, failure.cloned(), &own))
}

/// The functions that answer in the place of others, as the answers of the tree are now, by their names in it.
pub(super) fn functions(tree: &CallTree) -> BTreeMap<String, HostFunction> {
    let names = tree.callbacks().into_iter().filter(|name| name.contains(IN_REPRO));
    names.map(|name| (name.clone(), answering(&name, tree.failure.as_ref(), &tree.answers))).collect()
}

/// A primitive with what answers in the place of its function.
pub(super) fn applied<'p>(prim: &'p Prim, answering: &BTreeMap<String, HostFunction>) -> Cow<'p, Prim> {
    if let Prim::Callback(callback) = prim
        && let Some(function) = answering.get(callback.function.name())
    {
        return Cow::Owned(Callback { function: function.clone(), ..callback.clone() }.into());
    }
    Cow::Borrowed(prim)
}

/// Whether an API runs the primitives of its functions as they are.
fn runs_plainly(api: Api) -> bool {
    matches!(
        api,
        Api::Jit
            | Api::Cond
            | Api::Switch
            | Api::WhileLoop
            | Api::ForiLoop
            | Api::Scan
            | Api::Checkpoint
            | Api::Contract
            | Api::Trace
            | Api::Lower
    )
}

/// A function that is called back: a check checks, anything else gives what it gave, or zeros, or fails as it did.
struct StandIn {
    name: String,
    failure: Option<Failure>,
    answers: Answers,
}

impl StandIn {
    /// One that answers these, in order.
    fn new(name: String, failure: Option<Failure>, answers: &[Answer]) -> StandIn {
        let known = answers.iter().map(|answer| (answer.given, answer.results.clone()));
        StandIn { name, failure, answers: Answers::new(known.collect()) }
    }
}

impl BufferFn for StandIn {
    fn name(&self) -> &str {
        &self.name
    }

    fn call(&self, inputs: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) -> Result<(), CallError> {
        if self.name.starts_with("debug_print ") {
            return Ok(());
        }
        let error =
            |kind: ErrorKind, message: &str| Box::new(Error::new(kind, message).while_running()) as CallError;
        outputs.iter_mut().for_each(|output| output.bytes.fill(0));
        if self.name.starts_with("check ") {
            let holds = inputs.first().is_none_or(|condition| condition.bytes.iter().all(|&byte| byte != 0));
            let message = self.failure.as_ref().map_or("a check does not hold", |failure| &failure.message);
            return if holds { Ok(()) } else { Err(error(ErrorKind::Check, message)) };
        }
        match (self.answers.answer_for(inputs), &self.failure) {
            (Some(None), Some(failure)) => return Err(Box::new(error_of(failure))),
            (Some(results), _) => {
                for (result, output) in results.into_iter().flatten().zip(outputs.iter_mut()) {
                    if result.dtype() == output.dtype && result.shape() == output.shape {
                        output.bytes.copy_from_slice(result.as_bytes());
                    }
                }
                return Ok(());
            }
            (None, _) => {}
        }
        if !self.name.contains(IN_REPRO)
            && let Some(failure) = &self.failure
            && failure.stage == tracewell_repro::Stage::Running
            && let Some(kind) = ErrorKind::parse(&failure.kind)
            && kind != ErrorKind::Check
        {
            return Err(error(kind, &failure.message));
        }
        Ok(())
    }
}
