//! A call tree as a Rust program on the public API. A pure function of the tree.
//!
//! Functions are closures, as they may use values of those around them; structs of the user's are stood in for by
//! ones of the same names and fields. A value that is used outside of the function that made it, as no program
//! should, goes through a cell.

mod api;
mod callback;
mod names;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use tracewell_array::{DType, Tensor};
use tracewell_graph::{ArrayType, text};
use tracewell_trace::Form;

use self::names::{comments, ident, literal};
use self::types::Types;
use crate::failure::Failure;
use crate::folder::Dependency;
use crate::tree::{Answer, Body, CallTree, Operand, Statement, Typed};

/// The manifest of a repro's program.
pub fn manifest(library: &Dependency) -> String {
    let library = match library {
        Dependency::Version(version) => format!("\"={version}\""),
        Dependency::Path(path) => format!("{{ path = {} }}", literal(&path.to_string_lossy())),
    };
    format!(
        "[package]\nname = \"repro\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[[bin]]\n\
         name = \"repro\"\npath = \"repro.rs\"\n\n[dependencies]\ntracewell = {library}\n\n[workspace]\n"
    )
}

/// The program of a tree.
pub fn to_rust(tree: &CallTree) -> String {
    let tree = tree.numbered();
    let mut program = Program::new(&tree);
    let body = program.main(&tree.main);
    let mut out = String::from("//! A program that fails as another did, written by Tracewell.\n");
    out.push_str(&format!(
        "//! Made by version {}; ",
        names::comments(&tree.version, "").trim_start_matches("// ").trim()
    ));
    match tree.stand_ins.as_slice() {
        [] => out.push_str("exact.\n"),
        all => {
            out.push_str("not exact:\n");
            for text in all {
                out.push_str(&comments(text, "").replace("// ", "//! - "));
            }
        }
    }
    out.push_str("\n#![allow(dead_code, unused, clippy::all)]\n\n");
    out.push_str("use std::collections::BTreeMap;\n\nuse tracewell::prelude::*;\n");
    out.push_str("use tracewell::primitive::{op, op_all};\nuse tracewell::repro;\n\n");
    out.push_str(&program.types.definitions());
    out.push_str(&body);
    if let Some(failure) = &tree.failure {
        out.push_str("\n// It failed with:\n");
        out.push_str(&comments(&failure.message, ""));
    }
    out
}

struct Program {
    types: Types,
    /// Arrays of the program, each once.
    data: Vec<(Tensor, bool)>,
    /// Values that are used outside of the function that makes them.
    leaked: BTreeSet<u32>,
    /// Names of functions that are taken.
    functions: BTreeMap<String, usize>,
    settings: Vec<(String, String)>,
    failure: Option<Failure>,
    answers: Vec<Answer>,
    next: usize,
}

impl Program {
    fn new(tree: &CallTree) -> Program {
        let mut leaked = BTreeSet::new();
        find_leaked(&tree.main, &mut BTreeSet::new(), &mut leaked);
        if leaked.is_empty() {
            leaked.extend(outlives(tree));
        }
        // They come first in the text, by which files are numbered.
        let answered = tree.answers.iter().flat_map(|answer| answer.results.iter().flatten());
        let mut data: Vec<(Tensor, bool)> = Vec::new();
        for tensor in answered {
            if !data.iter().any(|(known, _)| known.bits_eq(tensor)) {
                data.push((tensor.clone(), false));
            }
        }
        Program {
            types: Types::default(),
            data,
            leaked,
            functions: BTreeMap::new(),
            settings: tree.settings.clone(),
            failure: tree.failure.clone(),
            answers: tree.answers.clone(),
            next: 0,
        }
    }

    fn main(&mut self, body: &Body) -> String {
        let mut lines = Lines { text: String::new(), indent: 1 };
        self.statements(&mut lines, body);
        let mut out = String::from("fn main() {\n");
        for (i, (tensor, weak)) in self.data.iter().enumerate() {
            let written = text::write_tensor(tensor);
            // What is short enough to read is here; the rest is in the files of the folder.
            if tensor.len() <= 16 {
                let weak = if *weak { "~" } else { "" };
                out.push_str(&format!(
                    "    let data{i} = repro::array({});\n",
                    literal(&format!("{weak}{written}"))
                ));
            } else {
                let file = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{}.npy\")", self.file_of(i));
                out.push_str(&format!(
                    "    let data{i} = Array::load_npy({file}).unwrap(); // {}\n",
                    type_of(tensor)
                ));
            }
        }
        for var in &self.leaked {
            out.push_str(&format!("    let leak{var} = std::sync::Mutex::new(None::<Array>);\n"));
        }
        let mut close = "}\n".to_string();
        for (name, value) in &self.settings {
            match (name.as_str(), value.as_str()) {
                ("check_nans" | "check_compiled", "true") => {
                    out.push_str(&format!("    repro::{name}(|| {{\n"));
                    close.insert_str(0, "    });\n");
                }
                ("checking_keys" | "checking_leaks" | "checking_purity", "true") => {
                    out.push_str(&format!("    {name}(|| {{\n"));
                    close.insert_str(0, "    });\n");
                }
                ("time_limit_ms", limit) => {
                    let limit = limit.parse::<u64>().unwrap_or(1000);
                    let limit = format!("std::time::Duration::from_millis({limit})");
                    out.push_str(&format!("    with_time_limit({limit}, || {{\n"));
                    close.insert_str(0, "    });\n");
                }
                ("cancelled", "true") => {
                    out.push_str("    let handle = Cancel::new();\n    handle.cancel();\n");
                    out.push_str("    with_cancel(&handle, || {\n");
                    close.insert_str(0, "    });\n");
                }
                _ => out.push_str(&comments(&format!("setting {name} = {value}"), "    ")),
            }
        }
        out + &lines.text + &close
    }

    /// The number of the file of an array: the text form counts them in the same order, whatever is weak.
    fn file_of(&self, index: usize) -> usize {
        let mut seen: Vec<&Tensor> = Vec::new();
        for (tensor, _) in &self.data[..=index] {
            if !seen.iter().any(|known| known.bits_eq(tensor)) {
                seen.push(tensor);
            }
        }
        seen.iter().position(|known| known.bits_eq(&self.data[index].0)).unwrap_or(index)
    }

    fn statements(&mut self, lines: &mut Lines, body: &Body) {
        for statement in &body.statements {
            self.statement(lines, statement);
            for typed in statement.results() {
                self.keep(lines, typed);
            }
        }
    }

    /// Puts a value where others find it, if it is used outside of its function.
    fn keep(&mut self, lines: &mut Lines, typed: &Typed) {
        let var = typed.name.var;
        if self.leaked.contains(&var) {
            lines.push(&format!("*leak{var}.lock().unwrap() = Some(v{var}.clone());"));
        }
    }

    fn statement(&mut self, lines: &mut Lines, statement: &Statement) {
        match statement {
            Statement::Bind(bind) if bind.prim.name() == "callback" => self.callback(lines, bind),
            Statement::Bind(bind) => {
                let (text, operands) = self.application(&text::write_prim(&bind.prim), &bind.operands);
                let place = format!(
                    " // {}",
                    comments(&bind.location.to_string(), "").trim_start_matches("// ").trim()
                );
                let call = |function: &str| format!("{function}({}, &[{operands}])", literal(&text));
                match bind.results.as_slice() {
                    [] => lines.push(&format!("{};{place}", call("op_all"))),
                    [one] => lines.push(&format!("let v{} = {};{place}", one.name.var, call("op"))),
                    all => {
                        let made = self.fresh("results");
                        lines.push(&format!("let {made} = {};{place}", call("op_all")));
                        for (i, typed) in all.iter().enumerate() {
                            lines.push(&format!("let v{} = {made}[{i}].clone();", typed.name.var));
                        }
                    }
                }
            }
            Statement::Api(call) => self.api(lines, call),
            Statement::Ask { operand, what, .. } => {
                let element = element_type(operand.ty().dtype);
                let (operand, what) = (self.operand(operand), what.trim_end_matches("()"));
                match what {
                    "item" => lines.push(&format!("({operand}).item::<{element}>();")),
                    "to_vec" | "to_ndarray" | "as_slice" => {
                        lines.push(&format!("({operand}).{what}::<{element}>().unwrap();"));
                    }
                    "save_npy" => lines.push(&format!("({operand}).save_npy(\"unused.npy\").unwrap();")),
                    _ => lines.push(&format!("({operand}).to_vec::<{element}>().unwrap();")),
                }
            }
            Statement::Call { name, operands, arguments, .. } => {
                let operands: Vec<String> =
                    operands.iter().map(|operand| format!("&{}", self.operand(operand))).collect();
                let arguments: Vec<String> = arguments.iter().map(|text| literal(text)).collect();
                let (operands, arguments) = (operands.join(", "), arguments.join(", "));
                lines.push(&format!("repro::call({}, &[{operands}], &[{arguments}]);", literal(name)));
            }
            Statement::Raise { kind, message, .. } => {
                lines.push(&format!("repro::fail({}, {});", literal(&format!("{kind:?}")), literal(message)));
            }
            Statement::Panic { text } => lines.push(&format!("panic!(\"{{}}\", {});", literal(text))),
        }
    }

    /// A primitive with its operands as text, in which arrays are numbered, and the arrays.
    fn application(&mut self, prim: &str, operands: &[Operand]) -> (String, String) {
        let (mut texts, mut arrays) = (Vec::new(), Vec::new());
        for operand in operands {
            match operand {
                Operand::Splat(splat) => texts.push(format!("{}:{}", splat.literal, splat.ty())),
                other => {
                    texts.push(format!("%{}", arrays.len()));
                    let array = self.operand(other);
                    arrays.push(format!("&{array}"));
                }
            }
        }
        (format!("{prim} {}", texts.join(", ")).trim_end().to_string(), arrays.join(", "))
    }

    /// An operand as an expression.
    fn operand(&mut self, operand: &Operand) -> String {
        match operand {
            Operand::Var(typed) if self.leaked.contains(&typed.name.var) => {
                format!("leak{}.lock().unwrap().clone().unwrap()", typed.name.var)
            }
            Operand::Var(typed) => format!("v{}", typed.name.var),
            Operand::Splat(splat) => {
                format!("repro::splat({})", literal(&format!("{}:{}", splat.literal, splat.ty())))
            }
            Operand::Data(tensor, weak) => {
                let known =
                    self.data.iter().position(|(known, other)| known.bits_eq(tensor) && other == weak);
                let index = known.unwrap_or_else(|| {
                    self.data.push((tensor.clone(), *weak));
                    self.data.len() - 1
                });
                format!("data{index}")
            }
            Operand::Lost(ty) => {
                let zeros = ArrayType { weak: false, ..ty.clone() };
                format!("Array::zeros({}, {})", sizes(&zeros), zeros.dtype.to_string().to_uppercase())
            }
        }
    }

    /// An operand as an array of one's own.
    fn owned(&mut self, operand: &Operand) -> String {
        match operand {
            Operand::Var(_) | Operand::Data(..) => format!("{}.clone()", self.operand(operand)),
            other => self.operand(other),
        }
    }

    /// A tree of operands as an expression.
    fn tree(&mut self, form: &Form<Operand>) -> String {
        // Both are needed at once, and neither reads what the other changes.
        let mut types = std::mem::take(&mut self.types);
        let text = types.value(form, &mut |operand| self.owned(operand));
        self.types = types;
        text
    }

    fn fresh(&mut self, name: &str) -> String {
        self.next += 1;
        format!("{name}_{}", self.next)
    }

    /// A name for a function, like the user's.
    fn function_name(&mut self, name: Option<&str>) -> String {
        let plain = ident(name.unwrap_or("f"));
        let count = self.functions.entry(plain.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { format!("{plain}_fn") } else { format!("{plain}_fn{count}") }
    }
}

/// Lines of a program.
struct Lines {
    text: String,
    indent: usize,
}

impl Lines {
    fn push(&mut self, line: &str) {
        self.text.push_str(&"    ".repeat(self.indent));
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// The Rust type of an element.
fn element_type(dtype: DType) -> &'static str {
    match dtype {
        DType::C64 => "Complex32",
        DType::C128 => "Complex64",
        other => other.name(),
    }
}

fn type_of(tensor: &Tensor) -> ArrayType {
    ArrayType::of(tensor)
}

fn sizes(ty: &ArrayType) -> String {
    let sizes: Vec<String> = ty.shape.iter().map(|n| n.to_string()).collect();
    format!("[{}]", sizes.join(", "))
}

/// The value that outlived its trace, where that is what failed: the last of the type that the message names.
fn outlives(tree: &CallTree) -> Option<u32> {
    fn last_of(body: &Body, ty: &str) -> Option<u32> {
        body.statements.iter().rev().find_map(|statement| {
            let inner = match statement {
                Statement::Api(call) => call.bodies.iter().rev().find_map(|body| last_of(body, ty)),
                _ => None,
            };
            let own = || statement.results().into_iter().find(|typed| typed.ty.to_string() == ty);
            inner.or_else(|| own().map(|typed| typed.name.var))
        })
    }
    let message = tree.failure.as_ref()?.message.strip_prefix("a traced ")?;
    last_of(&tree.main, message.strip_suffix(" is still alive after its trace has ended")?)
}

/// Values that are used where they are out of scope.
fn find_leaked(body: &Body, scope: &mut BTreeSet<u32>, leaked: &mut BTreeSet<u32>) {
    let mut own: Vec<u32> = Vec::new();
    let mut define = |typed: &Typed, scope: &mut BTreeSet<u32>| {
        if scope.insert(typed.name.var) {
            own.push(typed.name.var);
        }
    };
    body.parameters.iter().for_each(|typed| define(typed, scope));
    let check = |operand: &Operand, scope: &BTreeSet<u32>, leaked: &mut BTreeSet<u32>| {
        if let Operand::Var(typed) = operand
            && !scope.contains(&typed.name.var)
        {
            leaked.insert(typed.name.var);
        }
    };
    for statement in &body.statements {
        statement.operands().into_iter().for_each(|operand| check(operand, scope, leaked));
        if let Statement::Api(call) = statement {
            call.bodies.iter().for_each(|inner| find_leaked(inner, scope, leaked));
        }
        statement.results().into_iter().for_each(|typed| define(typed, scope));
    }
    body.returned.iter().flat_map(|form| form.leaves()).for_each(|operand| check(operand, scope, leaked));
    for var in own {
        scope.remove(&var);
    }
}
