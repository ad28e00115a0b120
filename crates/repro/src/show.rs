//! A call tree for people: one line a call, with types, folded to a level.

use std::fmt::Write as _;

use tracewell_trace::Form;

use crate::tree::{Body, CallTree, Operand, Statement};

/// The calls down to `levels` functions deep; what is deeper is counted.
pub fn show(tree: &CallTree, levels: usize) -> String {
    let mut out = String::new();
    if let Some(failure) = &tree.failure {
        push(&mut out, 0, &format!("{} while {}: {}", failure.kind, failure.stage.name(), failure.message));
    }
    for text in &tree.stand_ins {
        push(&mut out, 0, &format!("stand-in: {text}"));
    }
    body(&mut out, &tree.main, 0, levels);
    out
}

fn push(out: &mut String, depth: usize, text: &str) {
    let indent = depth * 2;
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{:indent$}{}", "", text.replace('\n', " "));
}

fn body(out: &mut String, body: &Body, depth: usize, levels: usize) {
    for statement in &body.statements {
        one(out, statement, depth, levels);
    }
    if let Some(form) = &body.returned
        && !body.parameters.is_empty()
    {
        push(out, depth, &format!("return {}", types(form)));
    }
}

fn one(out: &mut String, statement: &Statement, depth: usize, levels: usize) {
    let place = statement.location().map_or(String::new(), |location| format!("  at {location}"));
    match statement {
        Statement::Bind(bind) => {
            let operands: Vec<String> =
                bind.operands.iter().map(|operand| operand.ty().to_string()).collect();
            let results: Vec<String> = bind.results.iter().map(|typed| typed.ty.to_string()).collect();
            let results = if results.is_empty() { "fails".to_string() } else { results.join(", ") };
            push(out, depth, &format!("{} {} -> {results}{place}", bind.prim.name(), operands.join(", ")));
        }
        Statement::Api(call) => {
            let name = call.function.as_deref().unwrap_or("closure");
            let arguments: Vec<String> =
                call.arguments.iter().map(|(root, form)| format!("{root}: {}", types(form))).collect();
            push(out, depth, &format!("{} {name}({}){place}", call.api.name(), arguments.join(", ")));
            for inner in &call.bodies {
                if levels == 0 {
                    push(out, depth + 1, &format!("… {} calls", inner.size()));
                } else {
                    body(out, inner, depth + 1, levels - 1);
                }
            }
        }
        Statement::Ask { operand, what, .. } => {
            push(out, depth, &format!("{} of {}{place}", what, operand.ty()))
        }
        Statement::Call { name, operands, arguments, .. } => {
            let operands = operands.iter().map(|operand| operand.ty().to_string());
            let all: Vec<String> = operands.chain(arguments.iter().cloned()).collect();
            push(out, depth, &format!("{name}({}) fails{place}", all.join(", ")));
        }
        Statement::Raise { message, .. } => push(out, depth, &format!("fails: {message}{place}")),
        Statement::Panic { text } => push(out, depth, &format!("panics: {text}")),
    }
}

fn types(form: &Form<Operand>) -> String {
    let all: Vec<String> = form.leaves().into_iter().map(|operand| operand.ty().to_string()).collect();
    all.join(", ")
}
