//! Walking over all statements of a tree, in order, and changing some: what strategies share.

use std::collections::BTreeMap;
use std::sync::Arc;

use tracewell_array::Literal;
use tracewell_graph::{ArrayType, Splat};
use tracewell_trace::Form;

use crate::tree::{Body, CallTree, Name, Operand, Statement, Typed};

/// What becomes of a statement.
pub(super) enum Change {
    /// It stays.
    Keep,
    /// These come in its place; its results are what is said.
    Become(Vec<Statement>, Vec<(Name, Operand)>),
    /// This one comes in its place, and what is in it is visited.
    Into(Statement),
}

/// An array of zeros.
pub(super) fn zeros(ty: &ArrayType) -> Operand {
    Operand::Splat(Splat { literal: Literal::zero(ty.dtype), shape: ty.shape.clone(), weak: ty.weak })
}

/// Every result of a statement as zeros.
pub(super) fn as_zeros(results: &[&Typed]) -> Vec<(Name, Operand)> {
    results.iter().map(|typed| (typed.name, zeros(&typed.ty))).collect()
}

/// The tree with every statement changed by `change`, which is told its number.
pub(super) fn edit(tree: &CallTree, change: &mut dyn FnMut(usize, &Statement) -> Change) -> CallTree {
    let mut walk = Walk { next: 0, instead: BTreeMap::new(), change };
    let main = walk.body(&tree.main);
    CallTree { main, ..tree.clone() }
}

/// How many statements there are to change.
pub(super) fn count(tree: &CallTree) -> usize {
    tree.size()
}

struct Walk<'a> {
    next: usize,
    instead: BTreeMap<Name, Operand>,
    change: &'a mut dyn FnMut(usize, &Statement) -> Change,
}

impl Walk<'_> {
    fn operand(&self, operand: &Operand) -> Operand {
        let mut operand = operand.clone();
        // What stands for a value may itself be stood for.
        while let Operand::Var(typed) = &operand
            && let Some(other) = self.instead.get(&typed.name)
        {
            operand = other.clone();
        }
        operand
    }

    fn form(&self, form: &Form<Operand>) -> Form<Operand> {
        form.map(&mut |operand| self.operand(operand))
    }

    fn body(&mut self, body: &Body) -> Body {
        let mut statements = Vec::new();
        for statement in &body.statements {
            self.statement(statement, &mut statements);
        }
        let returned = body.returned.as_ref().map(|form| self.form(form));
        Body { statements, returned, ..body.clone() }
    }

    fn statement(&mut self, statement: &Statement, out: &mut Vec<Statement>) {
        let number = self.next;
        self.next += 1;
        match (self.change)(number, statement) {
            Change::Keep => out.push(self.inside(statement)),
            Change::Into(other) => out.push(self.inside(&other)),
            Change::Become(others, instead) => {
                // What it held is gone or has moved; the numbers go on after it.
                self.next = number + statement.size();
                for other in &others {
                    let renamed = self.substituted(other);
                    out.push(renamed);
                }
                for (name, operand) in instead {
                    let operand = self.operand(&operand);
                    self.instead.insert(name, operand);
                }
            }
        }
    }

    /// The statement with what its operands stand for; statements inside are visited.
    fn inside(&mut self, statement: &Statement) -> Statement {
        let mut statement = self.own(statement);
        if let Statement::Api(call) = &mut statement {
            let call = Arc::make_mut(call);
            call.bodies = call.bodies.iter().map(|body| Arc::new(self.body(body))).collect();
        }
        statement
    }

    /// The same without visits.
    fn substituted(&mut self, statement: &Statement) -> Statement {
        let mut statement = self.own(statement);
        if let Statement::Api(call) = &mut statement {
            let call = Arc::make_mut(call);
            call.bodies = call
                .bodies
                .iter()
                .map(|body| {
                    let statements = body.statements.iter().map(|inner| self.substituted(inner)).collect();
                    let returned = body.returned.as_ref().map(|form| self.form(form));
                    Arc::new(Body { statements, returned, ..(**body).clone() })
                })
                .collect();
        }
        statement
    }

    fn own(&self, statement: &Statement) -> Statement {
        let mut statement = statement.clone();
        match &mut statement {
            Statement::Bind(bind) => {
                bind.operands.iter_mut().for_each(|operand| *operand = self.operand(operand))
            }
            Statement::Ask { operand, .. } => *operand = self.operand(operand),
            Statement::Call { operands, .. } => {
                operands.iter_mut().for_each(|operand| *operand = self.operand(operand));
            }
            Statement::Api(call) => {
                let call = Arc::make_mut(call);
                call.arguments.iter_mut().for_each(|(_, form)| *form = self.form(form));
            }
            Statement::Raise { .. } | Statement::Panic { .. } => {}
        }
        statement
    }
}
