//! What is not in a tree is stood in for, openly: primitives and functions of users are code, not text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracewell_array::Tensor;
use tracewell_graph::prim::Call;
use tracewell_graph::text::NoCustom;
use tracewell_graph::{ArrayType, Graph, HostFunction, Lowering, Prim};
use tracewell_kernel::{BufferFn, BufferMut, BufferRef, CallError};
use tracewell_repro::{Bind, Body, CallTree, Failure, FolderError, Name, Operand, Statement, Typed};
use tracewell_trace::{Api, Error, ErrorKind, Form};

/// The tree with what cannot be written replaced, and a note for each. `answers` are results that are known.
pub(super) fn written(mut tree: CallTree, answers: &FxHashMap<Name, Tensor>) -> CallTree {
    let mut work = Work { answers, notes: BTreeSet::new(), gone: BTreeMap::new(), expected: false };
    tree.main = work.body(&tree.main, tree.failure.as_ref());
    for note in work.notes {
        if !tree.stand_ins.contains(&note) {
            tree.stand_ins.push(note);
        }
    }
    tree
}

struct Work<'a> {
    answers: &'a FxHashMap<Name, Tensor>,
    notes: BTreeSet<String>,
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
                call.bodies = call.bodies.iter().map(|body| Arc::new(self.body(body, failure))).collect();
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

    fn bind(&mut self, bind: &Bind, failure: Option<&Failure>) -> Option<Statement> {
        let operands: Vec<Operand> = bind.operands.iter().map(|operand| self.operand(operand)).collect();
        let bind = Bind { operands, ..bind.clone() };
        if let Prim::Callback(callback) = &bind.prim {
            let name = callback.function.name();
            if !name.starts_with("check ") && !name.starts_with("debug_print ") {
                self.notes.insert("a Rust function that was called back is not here".to_string());
            }
        }
        if !is_foreign(&bind.prim) {
            return Some(Statement::Bind(bind));
        }
        let name = bind.prim.name().to_string();
        let types: Vec<ArrayType> = bind.operands.iter().map(Operand::ty).collect();
        let results: Vec<ArrayType> = bind.results.iter().map(|typed| typed.ty.clone()).collect();
        if let Ok(Lowering::Graph(graph)) = bind.prim.rules().lower(&types, &results)
            && !bind.results.is_empty()
            && !graph_is_foreign(&graph)
        {
            self.notes.insert(format!("the primitive `{name}` is what it expands to"));
            return Some(Statement::Bind(Bind { prim: Call { graph }.into(), ..bind }));
        }
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
    let mut names = BTreeSet::new();
    callbacks(&tree.main, &mut names);
    if names.is_empty() {
        return Ok(tree);
    }
    // While they are alive, the text that names them finds them.
    let failure = tree.failure.clone();
    let _functions: Vec<HostFunction> = names
        .into_iter()
        .map(|name| HostFunction::named(name.clone(), || StandIn { name, failure: failure.clone() }))
        .collect();
    tracewell_repro::load(folder, &NoCustom)
}

fn callbacks(body: &Body, names: &mut BTreeSet<String>) {
    fn of_prim(prim: &Prim, names: &mut BTreeSet<String>) {
        if let Prim::Callback(callback) = prim {
            names.insert(callback.function.name().to_string());
        }
        prim.rules().each_param(&mut |_, value| {
            for graph in value.graphs() {
                graph.equations.iter().for_each(|equation| of_prim(&equation.prim, names));
            }
        });
    }
    for statement in &body.statements {
        match statement {
            Statement::Bind(bind) => of_prim(&bind.prim, names),
            Statement::Api(call) => call.bodies.iter().for_each(|inner| callbacks(inner, names)),
            _ => {}
        }
    }
}

/// A function that is called back: a check checks, anything else gives zeros, or fails as it did.
struct StandIn {
    name: String,
    failure: Option<Failure>,
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
        if self.name.starts_with("check ") {
            let holds = inputs.first().is_none_or(|condition| condition.bytes.iter().all(|&byte| byte != 0));
            let message = self.failure.as_ref().map_or("a check does not hold", |failure| &failure.message);
            return if holds { Ok(()) } else { Err(error(ErrorKind::Check, message)) };
        }
        if let Some(failure) = &self.failure
            && failure.stage == tracewell_repro::Stage::Running
            && let Some(kind) = ErrorKind::parse(&failure.kind)
            && kind != ErrorKind::Check
        {
            return Err(error(kind, &failure.message));
        }
        outputs.iter_mut().for_each(|output| output.bytes.fill(0));
        Ok(())
    }
}
