//! Calls of APIs that take functions, as a program writes them.

use tracewell_trace::{Api, Form};

use super::names::{comments, literal};
use super::types::Ty;
use super::{Lines, Program};
use crate::tree::{ApiCall, Body, Operand, Typed};

impl Program {
    pub(super) fn api(&mut self, lines: &mut Lines, call: &ApiCall) {
        let place = comments(&format!("{} at {}", call.api.name(), call.location), "");
        lines.push(place.trim());
        let x = |name: &str| call.argument(name).cloned().unwrap_or_else(Form::empty);
        let array = || Some(Ty::Array);
        let made = match call.api {
            Api::Jit
                if call.bodies.is_empty()
                    && self.failure.as_ref().is_some_and(|failure| failure.kind == "Recursion") =>
            {
                let message =
                    self.failure.as_ref().map_or(String::new(), |failure| literal(&failure.message));
                lines.push(&format!("repro::fail(\"Recursion\", {message});"));
                return;
            }
            Api::Jit => self.jit(lines, call),
            Api::Grad | Api::ValueAndGrad => {
                let aux = call.option("aux").is_some();
                let default = if aux { Ty::Tuple(vec![Ty::Array, Ty::Array]) } else { Ty::Array };
                let f = self.closure(lines, call, "", &[("x", x("x"))], Some(default));
                let name = match (call.api, aux) {
                    (Api::Grad, false) => "grad",
                    (Api::Grad, true) => "grad_aux",
                    (_, false) => "value_and_grad",
                    (_, true) => "value_and_grad_aux",
                };
                format!("{name}(&{f})(&{})", self.tree(&x("x")))
            }
            Api::Jacfwd | Api::Jacrev | Api::Hessian => {
                let f = self.closure(lines, call, "", &[("x", x("x"))], array());
                format!("{}(&{f})(&{})", call.api.name(), self.tree(&x("x")))
            }
            Api::Hvp => {
                let f = self.closure(lines, call, "", &[("x", x("x"))], array());
                format!("hvp(&{f}, &{}, &{})", self.tree(&x("x")), self.tree(&x("v")))
            }
            Api::Jvp => {
                let f = self.closure(lines, call, "", &[("x", x("x"))], array());
                format!("jvp(&{f}, &{}, &{})", self.tree(&x("x")), self.tree(&x("dx")))
            }
            Api::Vjp | Api::Linearize => {
                let f = self.closure(lines, call, "", &[("x", x("x"))], array());
                let call_text = format!("{}(&{f}, &{})", call.api.name(), self.tree(&x("x")));
                if let Some(number) = call.returned {
                    let y = self.fresh("made");
                    lines.push(&format!("let ({y}, function{number}) = {call_text};"));
                    self.results(lines, &y, call);
                    return;
                }
                call_text
            }
            Api::Returned => {
                let number = call.option("function").unwrap_or("0").to_string();
                let argument = call.arguments.first().map_or_else(Form::empty, |(_, form)| form.clone());
                format!("function{number}(&{})", self.tree(&argument))
            }
            Api::Vmap => self.vmap(lines, call),
            Api::Checkpoint => {
                let f = self.closure(lines, call, "", &[("x", x("x"))], array());
                let policy = policy(call.option("policy").unwrap_or("nothing"));
                format!("checkpoint_with(&{f}, {policy})(&{})", self.tree(&x("x")))
            }
            Api::CustomJvp => {
                let f = self.closure(lines, call, "", &[("x", x("x"))], array());
                let result = self.result_type(call, "").unwrap_or(Ty::Array);
                let pair = Some(Ty::Tuple(vec![result.clone(), result]));
                let rule = self.closure(lines, call, "rule", &[("x", x("x")), ("dx", x("x"))], pair);
                format!("custom_jvp(&{f}, &{rule})(&{})", self.tree(&x("x")))
            }
            Api::CustomVjp => self.custom_vjp(lines, call),
            Api::Contract => {
                let f = self.closure(lines, call, "", &[("x", x("x"))], array());
                format!("contract(&{f})(&{})", self.tree(&x("x")))
            }
            Api::EvalShape => {
                let f = self.closure(lines, call, "", &[("x", x("x"))], array());
                format!("eval_shape(&{f}, &{})", self.tree(&x("x")))
            }
            Api::Trace
            | Api::Lower
            | Api::SavedResiduals
            | Api::Replay
            | Api::Tape
            | Api::Rule
            | Api::Callback => {
                let f = self.closure(lines, call, "", &[("x", x("x"))], array());
                let name = if call.api == Api::SavedResiduals { "saved_residuals" } else { "trace" };
                lines.push(&format!("{name}(&{f}, &{}).unwrap();", self.tree(&x("x"))));
                return;
            }
            Api::Expand => {
                let likes: Vec<String> = match call.bodies.first() {
                    Some(body) => body
                        .parameters
                        .iter()
                        .map(|typed| format!("&{}", self.operand(&Operand::Lost(typed.ty.clone()))))
                        .collect(),
                    None => Vec::new(),
                };
                let f = self.list_closure(lines, call);
                lines.push(&format!("tracewell::primitive::stage(&{f}, &[{}]);", likes.join(", ")));
                return;
            }
            Api::Cond => {
                let then = self.closure(lines, call, "then", &[], array());
                let like = self.result_type_or(call, "then");
                let otherwise = self.closure(lines, call, "otherwise", &[], like);
                format!("cond(&{}, &{then}, &{otherwise})", self.tree(&x("pred")))
            }
            Api::Switch => {
                let told: usize = call.option("branches").and_then(|n| n.parse().ok()).unwrap_or(0);
                let count = told.min(1000).max(call.bodies.len());
                let all: Vec<String> = (0..count).map(|at| self.branch(lines, call, at)).collect();
                let branches: Vec<String> = all.iter().map(|name| format!("&{name}")).collect();
                let ty = self.result_type_or(call, "branch").unwrap_or(Ty::Array);
                let ty = self.types.text(&ty);
                format!("switch::<{ty}>(&{}, &[{}])", self.tree(&x("index")), branches.join(", "))
            }
            Api::WhileLoop => {
                let carry = self.types.of(&x("carry"));
                let body = self.closure(lines, call, "body", &[("carry", x("carry"))], Some(carry));
                let cond = self.closure(lines, call, "cond", &[("carry", x("carry"))], array());
                format!("while_loop({}, &{cond}, &{body})", self.tree(&x("carry")))
            }
            Api::ForiLoop => {
                let carry = self.types.of(&x("carry"));
                let parameters = [("i", one_leaf()), ("carry", x("carry"))];
                let body = self.closure(lines, call, "body", &parameters, Some(carry));
                let range = match call.option("range") {
                    Some(range) => match range.split_once("..") {
                        Some((start, end)) => format!("{start}i64..{end}i64"),
                        None => "0..0".to_string(),
                    },
                    None => format!("{}..{}", self.tree(&x("start")), self.tree(&x("end"))),
                };
                format!("fori_loop({range}, {}, &{body})", self.tree(&x("carry")))
            }
            Api::Scan => {
                let carry = self.types.of(&x("carry"));
                let pair = Some(Ty::Tuple(vec![carry, Ty::Array]));
                let body = self.closure(lines, call, "body", &[("carry", x("carry")), ("x", x("xs"))], pair);
                let (init, xs) = (self.tree(&x("carry")), self.tree(&x("xs")));
                format!("{}{init}, &{xs}, {}&{body})", "scan_with(", scan_options(call))
            }
            Api::Map => {
                let f = self.closure(lines, call, "element", &[("x", x("xs"))], array());
                format!("map(&{}, &{f})", self.tree(&x("xs")))
            }
            Api::AssociativeScan => {
                let ty = self.types.of(&x("xs"));
                let f = self.closure(lines, call, "combine", &[("a", x("xs")), ("b", x("xs"))], Some(ty));
                let name = match call.option("reverse") {
                    Some("true") => "associative_scan_reverse",
                    _ => "associative_scan",
                };
                format!("{name}(&{}, &{f})", self.tree(&x("xs")))
            }
            Api::MapReduce => {
                let ty = self.types.of(&x("init"));
                let map = self.closure(lines, call, "map", &[("x", x("xs"))], Some(ty.clone()));
                let parameters = [("a", x("init")), ("b", x("init"))];
                let combine = self.closure(lines, call, "combine", &parameters, Some(ty));
                format!("map_reduce({}, &{}, &{map}, &{combine})", self.tree(&x("init")), self.tree(&x("xs")))
            }
        };
        match &call.results {
            Some(form) if !form.leaves().is_empty() => {
                let name = self.fresh("made");
                lines.push(&format!("let {name} = {made};"));
                self.results(lines, &name, call);
            }
            _ => lines.push(&format!("let _ = {made};")),
        }
    }

    /// Names the arrays of what a call made.
    fn results(&mut self, lines: &mut Lines, made: &str, call: &ApiCall) {
        if let Some(form) = &call.results {
            self.unpack(lines, form, made);
        }
    }

    /// Gives the arrays of a tree their names.
    fn unpack(&mut self, lines: &mut Lines, form: &Form<Typed>, root: &str) {
        let all = form.leaves();
        if all.is_empty() {
            return;
        }
        match self.types.paths(form, root) {
            Some(paths) => {
                for (typed, path) in all.into_iter().zip(paths) {
                    lines.push(&format!("let v{} = {path}.clone();", typed.name.var));
                }
            }
            None => {
                let arrays = self.fresh("arrays");
                // What a reference refers to is a tree too, and what is owned is lent.
                lines.push(&format!("let {arrays} = tree::flatten(&{root}.clone());"));
                for (i, typed) in all.into_iter().enumerate() {
                    lines.push(&format!("let v{} = {arrays}[{i}].clone();", typed.name.var));
                }
            }
        }
    }

    fn jit(&mut self, lines: &mut Lines, call: &ApiCall) -> String {
        let arrays: Vec<Operand> =
            call.arguments.iter().flat_map(|(_, form)| form.leaves()).cloned().collect();
        let mut next = arrays.into_iter();
        let mut parameters: Vec<(String, Form<Operand>)> = Vec::new();
        let mut statics = Vec::new();
        for (name, form) in call.bodies.last().map_or(&[][..], |body| &body.forms) {
            match form {
                Form::Static(text) => statics.push(format!("static {name} = {text}")),
                form => {
                    let given = form.map(&mut |_| next.next().unwrap_or_else(missing));
                    parameters.push((name.clone(), given));
                }
            }
        }
        let rest: Vec<Form<Operand>> = next.map(Form::Leaf).collect();
        if !rest.is_empty() || parameters.is_empty() {
            parameters.push(("arrays".to_string(), Form::List(rest)));
        }
        for text in statics {
            lines.push(comments(&text, "").trim());
        }
        // One tree of all arguments; that of one argument is the argument itself.
        let argument = match parameters.as_slice() {
            [(_, form)] => form.clone(),
            _ => Form::Tuple(parameters.into_iter().map(|(_, form)| form).collect()),
        };
        let f = self.closure(lines, call, "", &[("x", argument.clone())], Some(Ty::Array));
        format!("jit(&{f}).call(&{})", self.tree(&argument))
    }

    fn vmap(&mut self, lines: &mut Lines, call: &ApiCall) -> String {
        let x = call.argument("x").cloned().unwrap_or_else(Form::empty);
        let f = self.closure(lines, call, "", &[("x", x.clone())], Some(Ty::Array));
        let plain = |name: &str| {
            call.option(name).is_none_or(|axes| axes.split(',').all(|axis| axis == "0" || axis.is_empty()))
        };
        let argument = self.tree(&x);
        if plain("axes") && plain("out_axes") {
            return format!("vmap(&{f})(&{argument})");
        }
        let list = |name: &str| match call.option(name) {
            Some("") => "vec![]".to_string(),
            Some(axes) => {
                let all = axes.split(',').map(|axis| match axis {
                    "-" => "None".to_string(),
                    axis => format!("Some({axis})"),
                });
                format!("vec![{}]", all.collect::<Vec<_>>().join(", "))
            }
            None => "0".to_string(),
        };
        format!("vmap_axes(&{f}, {}, {})(&{argument})", list("axes"), list("out_axes"))
    }

    fn custom_vjp(&mut self, lines: &mut Lines, call: &ApiCall) -> String {
        let x = call.argument("x").cloned().unwrap_or_else(Form::empty);
        let pair = Ty::Tuple(vec![Ty::Array, Ty::Tuple(Vec::new())]);
        let fwd = self.closure(lines, call, "", &[("x", x.clone())], Some(pair));
        let made = call.bodies_of("").last().and_then(|body| body.returned.clone());
        let (y, residuals) = match made {
            Some(Form::Tuple(parts)) if parts.len() == 2 => (parts[0].clone(), parts[1].clone()),
            _ => (one_leaf(), Form::empty()),
        };
        let ty = self.types.of(&x);
        let bwd = self.closure(lines, call, "rule", &[("residuals", residuals), ("ct", y)], Some(ty));
        format!("custom_vjp(&{fwd}, &{bwd})(&{})", self.tree(&x))
    }

    /// What a function of this role returned.
    fn result_type(&mut self, call: &ApiCall, role: &str) -> Option<Ty> {
        let form = call.bodies_of(role).last()?.returned.clone()?;
        Some(self.types.of(&form))
    }

    fn result_type_or(&mut self, call: &ApiCall, role: &str) -> Option<Ty> {
        Some(self.result_type(call, role).unwrap_or(Ty::Array))
    }

    /// A branch of `switch`, by its place.
    fn branch(&mut self, lines: &mut Lines, call: &ApiCall, at: usize) -> String {
        let bodies: Vec<&Body> = call.bodies.get(at).map(|body| &**body).into_iter().collect();
        let default = self.result_type_or(call, "branch");
        self.write_closure(lines, &bodies, call, &[], default)
    }

    /// Writes the function of a role as a closure and gives its name.
    fn closure(
        &mut self,
        lines: &mut Lines,
        call: &ApiCall,
        role: &str,
        parameters: &[(&str, Form<Operand>)],
        default: Option<Ty>,
    ) -> String {
        // The last is that of the types that were settled on. A function that is another each time fails for that, and
        // one that failed the last time did not before.
        let mut bodies: Vec<&Body> = call.bodies_of(role).map(|body| &**body).collect();
        let is_impure = self.failure.as_ref().is_some_and(|failure| failure.kind == "Impure");
        if !is_impure && bodies.last().is_some_and(|body| body.returned.is_some()) {
            bodies.drain(..bodies.len().saturating_sub(1));
        }
        self.write_closure(lines, &bodies, call, parameters, default)
    }

    /// A closure that does what these did, one after the other, and then the last.
    fn write_closure(
        &mut self,
        lines: &mut Lines,
        bodies: &[&Body],
        call: &ApiCall,
        parameters: &[(&str, Form<Operand>)],
        default: Option<Ty>,
    ) -> String {
        let last = bodies.last();
        let known = last.and_then(|body| body.name.as_deref()).or(call.function.as_deref());
        let name = self.function_name(known);
        let types: Vec<String> = parameters
            .iter()
            .map(|(root, form)| {
                let ty = self.types.of(form);
                format!("{root}: &{}", self.types.text(&ty))
            })
            .collect();
        let result = match bodies.iter().rev().find_map(|body| body.returned.as_ref()) {
            Some(form) => self.types.of(form),
            None => default.unwrap_or(Ty::Array),
        };
        let result = self.types.text(&result);
        let calls = (bodies.len() > 1).then(|| self.fresh("calls"));
        if let Some(calls) = &calls {
            lines.push(&format!("let {calls} = std::cell::Cell::new(0);"));
        }
        lines.push(&format!("let {name} = |{}| -> {result} {{", types.join(", ")));
        lines.indent += 1;
        if let Some(calls) = &calls {
            lines.push(&format!("{calls}.set({calls}.get() + 1);"));
            for (at, body) in bodies.iter().enumerate() {
                let otherwise = if at == 0 { "" } else { "} else " };
                let when = match at + 1 == bodies.len() {
                    true => "{".to_string(),
                    false => format!("if {calls}.get() == {} {{", at + 1),
                };
                lines.push(&format!("{otherwise}{when}"));
                lines.indent += 1;
                self.write_body(lines, body, parameters);
                lines.indent -= 1;
            }
            lines.push("}");
        } else {
            match last {
                Some(body) => self.write_body(lines, body, parameters),
                None => lines.push("unreachable!(\"it was not called\")"),
            }
        }
        lines.indent -= 1;
        lines.push("};");
        name
    }

    /// What a function did, and what it returned.
    fn write_body(&mut self, lines: &mut Lines, body: &Body, parameters: &[(&str, Form<Operand>)]) {
        let mut next = body.parameters.iter();
        for (root, form) in parameters {
            let named = form.map(&mut |operand| match next.next() {
                Some(typed) => typed.clone(),
                None => Typed { name: crate::tree::Name { frame: 0, var: u32::MAX }, ty: operand.ty() },
            });
            self.unpack(lines, &named, root);
        }
        body.parameters.iter().for_each(|typed| self.keep(lines, typed));
        self.statements(lines, body);
        match &body.returned {
            Some(form) => {
                let value = self.tree(form);
                lines.push(&value);
            }
            None => lines.push("unreachable!(\"it failed above\")"),
        }
    }

    /// A function of a list of arrays.
    fn list_closure(&mut self, lines: &mut Lines, call: &ApiCall) -> String {
        let name = self.function_name(Some("expand"));
        lines.push(&format!("let {name} = |x: &[Array]| -> Vec<Array> {{"));
        lines.indent += 1;
        match call.bodies.last().cloned() {
            Some(body) => {
                for (i, typed) in body.parameters.iter().enumerate() {
                    lines.push(&format!("let v{} = x[{i}].clone();", typed.name.var));
                }
                self.statements(lines, &body);
                match &body.returned {
                    Some(form) => {
                        let all: Vec<String> =
                            form.leaves().into_iter().map(|operand| self.owned(operand)).collect();
                        lines.push(&format!("vec![{}]", all.join(", ")));
                    }
                    None => lines.push("unreachable!(\"it failed above\")"),
                }
            }
            None => lines.push("unreachable!(\"it was not called\")"),
        }
        lines.indent -= 1;
        lines.push("};");
        name
    }
}

fn missing() -> Operand {
    Operand::Lost(tracewell_graph::ArrayType::new(tracewell_array::DType::F32, []))
}

fn one_leaf() -> Form<Operand> {
    Form::Leaf(missing())
}

fn policy(text: &str) -> String {
    let list = |names: &str| {
        let all: Vec<String> =
            names.split(',').map(|name| format!("{}.to_string()", literal(name))).collect();
        format!("vec![{}]", all.join(", "))
    };
    match text.split_once(' ') {
        Some(("primitives", names)) => format!("Policy::Primitives({})", list(names)),
        Some(("names", names)) => format!("Policy::Names({})", list(names)),
        _ if text == "everything" => "Policy::Everything".to_string(),
        _ if text == "dots" => "Policy::Dots".to_string(),
        _ => "Policy::Nothing".to_string(),
    }
}

fn scan_options(call: &ApiCall) -> String {
    let length = match call.option("length") {
        Some("-") | None => "None".to_string(),
        Some(n) => format!("Some({})", n.parse::<usize>().unwrap_or(0)),
    };
    let reverse = call.option("reverse") == Some("true");
    let unroll: usize = call.option("unroll").and_then(|n| n.parse().ok()).unwrap_or(1);
    format!("ScanOptions {{ length: {length}, reverse: {reverse}, unroll: {unroll} }}, ")
}
