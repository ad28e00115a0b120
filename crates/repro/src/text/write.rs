//! Writing call trees as text.

use std::fmt::Write as _;

use tracewell_array::Tensor;
use tracewell_graph::text::quote;
use tracewell_graph::{ArrayType, Location, text};
use tracewell_trace::Form;

use crate::failure::Failure;
use crate::tree::{Answer, ApiCall, Body, CallTree, Operand, Statement, Typed};

/// Arrays of more elements are in files of their own.
const INLINE: usize = 16;

/// A tree as text, with the arrays that are not in it.
#[derive(Clone, Debug)]
pub struct Written {
    /// The text.
    pub text: String,
    /// Arrays by the names of their files.
    pub files: Vec<(String, Tensor)>,
}

/// The text of a tree.
pub fn write(tree: &CallTree) -> Written {
    let tree = tree.numbered();
    let mut writer = Writer { out: String::new(), indent: 0, data: Vec::new() };
    for answer in &tree.answers {
        writer.answer(answer);
    }
    writer.body_statements("main", &tree.main, &tree.main.location);
    let (mut head, mut files) = (String::from("repro 1\n"), Vec::new());
    push(&mut head, format_args!("version {}\n", quote(&tree.version)));
    for (name, value) in &tree.settings {
        push(&mut head, format_args!("setting {} {}\n", quote(name), quote(value)));
    }
    for text in &tree.stand_ins {
        push(&mut head, format_args!("stand_in {}\n", quote(text)));
    }
    if let Some(failure) = &tree.failure {
        push(&mut head, format_args!("{}\n", write_failure(failure)));
    }
    for (i, tensor) in writer.data.iter().enumerate() {
        if tensor.len() <= INLINE {
            push(&mut head, format_args!("data {i} {}\n", quote(&text::write_tensor(tensor))));
        } else {
            let file = format!("{i}.npy");
            push(&mut head, format_args!("data {i} file {}\n", quote(&file)));
            files.push((file, tensor.clone()));
        }
    }
    Written { text: head + &writer.out + "\n", files }
}

/// The line of a failure.
pub fn write_failure(failure: &Failure) -> String {
    let (kind, stage) = (quote(&failure.kind), failure.stage.name());
    let primitive = failure.primitive.as_ref().map_or(String::new(), |name| format!(" of {}", quote(name)));
    format!("failure {kind} {stage}{primitive} {}", quote(&failure.message))
}

/// A `String` takes everything, so what `write!` returns is of no interest.
fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

struct Writer {
    out: String,
    indent: usize,
    /// The arrays, each once.
    data: Vec<Tensor>,
}

impl Writer {
    fn new_line(&mut self) {
        push(&mut self.out, format_args!("\n{:1$}", "", self.indent * 2));
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn body_statements(&mut self, head: &str, body: &Body, location: &Location) {
        push(&mut self.out, format_args!("{head} at {} {{", place(location)));
        self.indent += 1;
        for statement in &body.statements {
            self.new_line();
            self.statement(statement);
        }
        if let Some(form) = &body.returned {
            self.new_line();
            self.text("return ");
            let text = self.form(form, &mut |writer, operand| writer.operand(operand));
            self.text(&text);
        }
        self.indent -= 1;
        self.new_line();
        self.out.push('}');
    }

    fn answer(&mut self, answer: &Answer) {
        let given = format!("answer {} {}", quote(&answer.function), answer.given);
        let line = match &answer.results {
            None => format!("{given} failed\n"),
            Some(all) => {
                let all: Vec<String> = all.iter().map(|tensor| format!("${}", self.datum(tensor))).collect();
                format!("{given} ({})\n", all.join(", "))
            }
        };
        self.text(&line);
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Bind(bind) => {
                let operands = self.operands(&bind.operands);
                let prim = quote(&text::write_prim(&bind.prim));
                let results = typed_list(&bind.results);
                let line = format!("bind {prim} ({operands}) -> ({results}) at {}", place(&bind.location));
                self.text(&line);
            }
            Statement::Api(call) => self.api(call),
            Statement::Ask { operand, what, location } => {
                let operand = self.operand(operand);
                self.text(&format!("ask {operand} {} at {}", quote(what), place(location)));
            }
            Statement::Call { name, operands, arguments, location } => {
                let operands = self.operands(operands);
                let arguments: Vec<String> = arguments.iter().map(|text| quote(text)).collect();
                let (name, arguments) = (quote(name), arguments.join(", "));
                self.text(&format!("call {name} ({operands}) [{arguments}] at {}", place(location)));
            }
            Statement::Raise { kind, message, location } => {
                self.text(&format!("raise {kind:?} {} at {}", quote(message), place(location)));
            }
            Statement::Panic { text } => self.text(&format!("panic {}", quote(text))),
        }
    }

    fn api(&mut self, call: &ApiCall) {
        let ApiCall { api, function, arguments, options, bodies, results, returned, location } = call;
        self.text(&format!("api {}", quote(api.name())));
        if let Some(function) = function {
            self.text(&format!(" {}", quote(function)));
        }
        let mut all = Vec::new();
        for (root, form) in arguments {
            let form = self.form(form, &mut |writer, operand| writer.operand(operand));
            all.push(format!("{}: {form}", quote(root)));
        }
        self.text(&format!(" ({})", all.join(", ")));
        if !options.is_empty() {
            let options = options.iter().map(|(name, value)| format!("{}={}", quote(name), quote(value)));
            self.text(&format!(" [{}]", options.collect::<Vec<_>>().join(", ")));
        }
        self.text(&format!(" at {} {{", place(location)));
        self.indent += 1;
        for body in bodies {
            self.new_line();
            self.function(body);
        }
        self.indent -= 1;
        self.new_line();
        self.out.push('}');
        if let Some(form) = results {
            let form = self.form(form, &mut |_, typed| typed_text(typed));
            self.text(&format!(" -> {form}"));
        }
        if let Some(number) = returned {
            self.text(&format!(" returns {number}"));
        }
    }

    fn function(&mut self, body: &Body) {
        self.text("fn");
        if let Some(name) = &body.name {
            self.text(&format!(" {}", quote(name)));
        }
        if !body.role.is_empty() {
            self.text(&format!(" as {}", quote(&body.role)));
        }
        self.text(&format!(" ({})", typed_list(&body.parameters)));
        if !body.forms.is_empty() {
            let mut forms = Vec::new();
            for (root, form) in &body.forms {
                let form = self.form(form, &mut |_, name| format!("%{}", name.var));
                forms.push(format!("{}: {form}", quote(root)));
            }
            self.text(&format!(" trees ({})", forms.join(", ")));
        }
        self.body_statements("", body, &body.location);
    }

    fn operands(&mut self, operands: &[Operand]) -> String {
        operands.iter().map(|operand| self.operand(operand)).collect::<Vec<_>>().join(", ")
    }

    fn operand(&mut self, operand: &Operand) -> String {
        match operand {
            Operand::Var(typed) => format!("%{}", typed.name.var),
            Operand::Splat(splat) => {
                format!("splat {} {}", quote(&splat.literal.to_string()), type_text(&splat.ty()))
            }
            Operand::Data(tensor, weak) => {
                format!("{}${}", if *weak { "~" } else { "" }, self.datum(tensor))
            }
            Operand::Lost(ty) => format!("lost {}", type_text(ty)),
        }
    }

    /// The number of an array.
    fn datum(&mut self, tensor: &Tensor) -> usize {
        let known = self.data.iter().position(|known| known.bits_eq(tensor));
        known.unwrap_or_else(|| {
            self.data.push(tensor.clone());
            self.data.len() - 1
        })
    }

    fn form<T>(&mut self, form: &Form<T>, leaf: &mut dyn FnMut(&mut Writer, &T) -> String) -> String {
        let mut list = |writer: &mut Writer, parts: &[Form<T>]| {
            let parts: Vec<String> = parts.iter().map(|part| writer.form(part, leaf)).collect();
            parts.join(", ")
        };
        match form {
            Form::Leaf(value) => leaf(self, value),
            Form::Tuple(parts) => format!("({})", list(self, parts)),
            Form::List(parts) => format!("[{}]", list(self, parts)),
            Form::Optional(None) => "none".to_string(),
            Form::Optional(Some(part)) => format!("some {}", self.form(part, leaf)),
            Form::Map(parts) => format!("map {}", self.fields(parts, leaf)),
            Form::Record { name, variant, fields } => {
                let variant =
                    variant.as_ref().map_or(String::new(), |name| format!(" variant {}", quote(name)));
                format!("record {}{variant} {}", quote(name), self.fields(fields, leaf))
            }
            Form::Static(text) => format!("static {}", quote(text)),
        }
    }

    fn fields<T>(
        &mut self,
        fields: &[(String, Form<T>)],
        leaf: &mut dyn FnMut(&mut Writer, &T) -> String,
    ) -> String {
        let mut all = Vec::new();
        for (name, part) in fields {
            all.push(format!("{}: {}", quote(name), self.form(part, leaf)));
        }
        format!("{{{}}}", all.join(", "))
    }
}

fn place(location: &Location) -> String {
    format!("{}:{}:{}", quote(&location.file), location.line, location.column)
}

fn type_text(ty: &ArrayType) -> String {
    ty.to_string()
}

fn typed_text(typed: &Typed) -> String {
    format!("%{}: {}", typed.name.var, type_text(&typed.ty))
}

fn typed_list(all: &[Typed]) -> String {
    all.iter().map(typed_text).collect::<Vec<_>>().join(", ")
}
