//! Running a tree again: the same calls of the same APIs, with functions that do what was recorded.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use rustc_hash::FxHashMap;
use tracewell_array::Tensor;
use tracewell_graph::prim::Policy;
use tracewell_graph::{HostFunction, Location, Param, ParamValue};
use tracewell_repro::{ApiCall, Body, CallTree, Failure, Operand, Replay, Statement};
use tracewell_trace::{Api, Error, ErrorKind, Form, Value, ask, boundary, raise};

use super::grown::Grown;
use super::session::{REPLAYING, take_replayed};
use super::{calls, settings, stand_in};
use crate::array::{Array, bind_here, or_raise};
use crate::control::ScanOptions;

/// Replays trees in this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Player;

impl Replay for Player {
    fn run(&self, tree: &CallTree) -> Option<Failure> {
        replay(tree)
    }
}

/// What is unwound where a tree failed and its replay did not.
struct NotFailed;

/// How a tree fails when it is run again.
pub(super) fn replay(tree: &CallTree) -> Option<Failure> {
    crate::executor::install();
    take_replayed();
    let location = Location { file: "repro".into(), line: 0, column: 0 };
    let run = || {
        boundary(Api::Replay, None, &location, || {
            let stage = Play {
                failure: tree.failure.as_ref(),
                values: RefCell::default(),
                functions: RefCell::default(),
                answering: stand_in::functions(tree),
            };
            settings::under(&tree.settings, || {
                tree.main.statements.iter().for_each(|statement| stage.statement(statement));
            });
        })
    };
    let result = REPLAYING.on(|| catch_unwind(AssertUnwindSafe(run)));
    match result {
        Ok(Ok(())) => None,
        Ok(Err(error)) => {
            let seen = take_replayed().filter(|failure| failure.message == error.message());
            Some(seen.unwrap_or_else(|| Failure::of(&error, None)))
        }
        Err(payload) if payload.is::<NotFailed>() => None,
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
            Some(Failure::panic(text.unwrap_or("a panic without text")))
        }
    }
}

/// A function that an API returned.
type Returned = Box<dyn Fn(&Grown) -> Grown + Send + Sync>;

/// One run.
struct Play<'t> {
    failure: Option<&'t Failure>,
    values: RefCell<FxHashMap<u32, Array>>,
    functions: RefCell<FxHashMap<u64, Returned>>,
    /// What answers in the place of functions that are called back, by their names in the tree.
    answering: BTreeMap<String, HostFunction>,
}

/// The functions of one role of a call: the first time the first that was recorded runs, and so on.
struct Function<'p> {
    play: &'p Play<'p>,
    bodies: Vec<&'p Body>,
    calls: Cell<usize>,
}

impl<'p> Function<'p> {
    /// Runs it on trees.
    fn call(&self, given: &[&Grown]) -> Grown {
        let at = self.calls.get();
        self.calls.set(at + 1);
        let Some(body) = self.bodies.get(at.min(self.bodies.len().saturating_sub(1))) else {
            // It never ran: what was before it failed, and now did not.
            resume_unwind(Box::new(NotFailed))
        };
        let arrays: Vec<Array> = given.iter().flat_map(|tree| tree.arrays()).collect();
        self.play.body(body, &arrays)
    }

    /// The same for functions that return one array.
    fn array(&self, given: &[&Grown]) -> Array {
        first(self.call(given))
    }

    /// The same for functions that return two trees.
    fn pair(&self, given: &[&Grown]) -> (Grown, Grown) {
        match self.call(given).0 {
            Form::Tuple(mut parts) if parts.len() == 2 => {
                let second = parts.pop().unwrap_or_else(Form::empty);
                (Grown(parts.pop().unwrap_or_else(Form::empty)), Grown(second))
            }
            other => (Grown(other), Grown(Form::empty())),
        }
    }
}

fn first(tree: Grown) -> Array {
    tree.arrays().into_iter().next().unwrap_or_else(|| Array::zeros([], tracewell_array::DType::F32))
}

fn leaf(array: Array) -> Grown {
    Grown(Form::Leaf(array))
}

fn pair_of(a: Grown, b: Grown) -> Grown {
    Grown(Form::Tuple(vec![a.0, b.0]))
}

impl Play<'_> {
    /// Whether a call failed because its function is the one that is being traced: that is another one here.
    fn calls_itself(&self, call: &ApiCall) -> bool {
        call.bodies.is_empty() && self.failure.is_some_and(|failure| failure.kind == "Recursion")
    }

    fn value(&self, operand: &Operand) -> Value {
        match operand {
            Operand::Var(typed) => match self.values.borrow().get(&typed.name.var) {
                Some(array) => array.value().clone(),
                None => zeros(&typed.ty),
            },
            Operand::Splat(splat) => Value::Splat(splat.clone()),
            Operand::Data(tensor, weak) => Value::Known(tensor.clone(), *weak),
            Operand::Lost(ty) => zeros(ty),
        }
    }

    fn array(&self, operand: &Operand) -> Array {
        Array::unfilled(self.value(operand))
    }

    fn tree(&self, form: &Form<Operand>) -> Grown {
        Grown(form.map(&mut |operand| self.array(operand)))
    }

    fn define(&self, name: tracewell_repro::Name, array: Array) {
        self.values.borrow_mut().insert(name.var, array);
    }

    /// Runs a function and gives what it returns.
    fn body(&self, body: &Body, given: &[Array]) -> Grown {
        for (typed, array) in body.parameters.iter().zip(given) {
            self.define(typed.name, array.clone());
        }
        for statement in &body.statements {
            self.statement(statement);
        }
        match &body.returned {
            Some(form) => self.tree(form),
            None => resume_unwind(Box::new(NotFailed)),
        }
    }

    fn statement(&self, statement: &Statement) {
        match statement {
            Statement::Bind(bind) => {
                let values: Vec<Value> = bind.operands.iter().map(|operand| self.value(operand)).collect();
                let prim = stand_in::applied(&bind.prim, &self.answering);
                let results = or_raise(bind_here(&prim, &values, &bind.location), &bind.location);
                for (typed, value) in bind.results.iter().zip(results) {
                    self.define(typed.name, Array::unfilled(value));
                }
            }
            Statement::Ask { operand, what, location } => {
                or_raise(ask(&self.value(operand), what, location), location);
            }
            Statement::Call { name, operands, arguments, location } => {
                let values: Vec<Value> = operands.iter().map(|operand| self.value(operand)).collect();
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                or_raise(calls::call(name, &values, &arguments, location), location);
            }
            Statement::Raise { kind, message, location } => {
                raise(Error::new(*kind, message.clone()), location)
            }
            Statement::Panic { text } => resume_unwind(Box::new(text.clone())),
            Statement::Api(call) => {
                let made = self.api(call);
                let results = call.results.iter().flat_map(|form| form.leaves());
                for (typed, array) in results.zip(made.arrays()) {
                    self.define(typed.name, array);
                }
            }
        }
    }

    fn function<'p>(&'p self, call: &'p ApiCall, role: &'p str) -> Function<'p> {
        let bodies = call.bodies_of(role).map(|body| &**body).collect();
        Function { play: self, bodies, calls: Cell::new(0) }
    }

    fn api(&self, call: &ApiCall) -> Grown {
        let argument =
            |name: &str| call.argument(name).map_or_else(|| Grown(Form::empty()), |form| self.tree(form));
        let f = self.function(call, "");
        let aux = call.option("aux").is_some();
        match call.api {
            Api::Jit if self.calls_itself(call) => {
                let message = self.failure.as_ref().map_or("", |failure| failure.message.as_str());
                raise(Error::new(ErrorKind::Recursion, message), &call.location)
            }
            Api::Jit => {
                // Everything in one list, as the functions take all their arrays in order.
                let arrays = call.arguments.iter().flat_map(|(_, form)| form.leaves());
                let all = Grown(Form::List(arrays.map(|operand| Form::Leaf(self.array(operand))).collect()));
                crate::jit(|x: &Grown| f.call(&[x])).named(call.function.as_deref()).call(&all)
            }
            Api::Grad if aux => {
                let both = |x: &Grown| {
                    let (value, rest) = f.pair(&[x]);
                    (first(value), rest)
                };
                let (gradient, rest) = crate::grad_aux(both)(&argument("x"));
                pair_of(gradient, rest)
            }
            Api::ValueAndGrad if aux => {
                let both = |x: &Grown| {
                    let (value, rest) = f.pair(&[x]);
                    (first(value), rest)
                };
                let ((value, rest), gradient) = crate::value_and_grad_aux(both)(&argument("x"));
                pair_of(pair_of(leaf(value), rest), gradient)
            }
            Api::Grad => crate::grad(|x: &Grown| f.array(&[x]))(&argument("x")),
            Api::ValueAndGrad => {
                let (value, gradient) = crate::value_and_grad(|x: &Grown| f.array(&[x]))(&argument("x"));
                pair_of(leaf(value), gradient)
            }
            Api::Jvp => {
                let (y, dy) = crate::jvp(|x: &Grown| f.call(&[x]), &argument("x"), &argument("dx"));
                pair_of(y, dy)
            }
            Api::Vjp => {
                let (y, pull) = crate::vjp(|x: &Grown| f.call(&[x]), &argument("x"));
                self.returned(call, pull);
                y
            }
            Api::Linearize => {
                let (y, push) = crate::linearize(|x: &Grown| f.call(&[x]), &argument("x"));
                self.returned(call, push);
                y
            }
            Api::Returned => {
                let number =
                    call.option("function").and_then(|number| number.parse().ok()).unwrap_or(u64::MAX);
                let given =
                    call.arguments.first().map_or_else(|| Grown(Form::empty()), |(_, form)| self.tree(form));
                let functions = self.functions.borrow();
                match functions.get(&number) {
                    Some(function) => function(&given),
                    None => resume_unwind(Box::new(NotFailed)),
                }
            }
            Api::Jacfwd => {
                leaf(crate::jacfwd(|x: &Array| f.array(&[&leaf(x.clone())]))(&first(argument("x"))))
            }
            Api::Jacrev => {
                leaf(crate::jacrev(|x: &Array| f.array(&[&leaf(x.clone())]))(&first(argument("x"))))
            }
            Api::Hessian => {
                leaf(crate::hessian(|x: &Array| f.array(&[&leaf(x.clone())]))(&first(argument("x"))))
            }
            Api::Hvp => crate::hvp(|x: &Grown| f.array(&[x]), &argument("x"), &argument("v")),
            Api::Vmap => {
                let axes = |name: &str| call.option(name).map(axes_of);
                let run = |x: &Grown| f.call(&[x]);
                match (axes("axes"), axes("out_axes")) {
                    (Some(axes), Some(out_axes)) => crate::vmap_axes(run, axes, out_axes)(&argument("x")),
                    (Some(axes), None) => crate::vmap_axes(run, axes, 0)(&argument("x")),
                    (None, _) => crate::vmap(run)(&argument("x")),
                }
            }
            Api::Checkpoint => {
                let text = ParamValue::Text(call.option("policy").unwrap_or("nothing").to_string());
                let policy = Policy::from_value(&text).unwrap_or_default();
                crate::checkpoint_with(|x: &Grown| f.call(&[x]), policy)(&argument("x"))
            }
            Api::CustomJvp => {
                let rule = self.function(call, "rule");
                let rule = |x: &Grown, dx: &Grown| rule.pair(&[x, dx]);
                crate::custom_jvp(|x: &Grown| f.call(&[x]), rule)(&argument("x"))
            }
            Api::CustomVjp => {
                let bwd = self.function(call, "rule");
                let bwd = |residuals: &Grown, ct: &Grown| bwd.call(&[residuals, ct]);
                crate::custom_vjp(|x: &Grown| f.pair(&[x]), bwd)(&argument("x"))
            }
            Api::Contract => crate::contract(|x: &Grown| f.call(&[x]))(&argument("x")),
            Api::EvalShape => crate::eval_shape(|x: &Grown| f.call(&[x]), &argument("x")),
            Api::Trace | Api::Lower | Api::Replay | Api::Tape | Api::Rule | Api::Callback => {
                or_raise(crate::trace(|x: &Grown| f.call(&[x]), &argument("x")), &call.location);
                Grown(Form::empty())
            }
            Api::SavedResiduals => {
                or_raise(crate::saved_residuals(|x: &Grown| f.call(&[x]), &argument("x")), &call.location);
                Grown(Form::empty())
            }
            Api::Expand => {
                let likes = call.bodies.last().map_or(&[][..], |body| &body.parameters);
                let likes: Vec<Array> = likes.iter().map(|typed| Array::unfilled(zeros(&typed.ty))).collect();
                let likes: Vec<&Array> = likes.iter().collect();
                let list = |x: &[Array]| {
                    let all = Grown(Form::List(x.iter().cloned().map(Form::Leaf).collect()));
                    f.call(&[&all]).arrays()
                };
                crate::primitive::stage(list, &likes);
                Grown(Form::empty())
            }
            Api::Cond => {
                let (then, otherwise) = (self.function(call, "then"), self.function(call, "otherwise"));
                crate::cond(&first(argument("pred")), || then.call(&[]), || otherwise.call(&[]))
            }
            Api::Switch => self.switch(call, &first(argument("index"))),
            Api::WhileLoop => {
                let (cond, body) = (self.function(call, "cond"), self.function(call, "body"));
                crate::while_loop(argument("carry"), |s| cond.array(&[s]), |s: &Grown| body.call(&[s]))
            }
            Api::ForiLoop => self.fori_loop(call, argument("carry")),
            Api::Scan => {
                let body = self.function(call, "body");
                let number = |name: &str| call.option(name).and_then(|text| text.parse::<usize>().ok());
                let options = ScanOptions {
                    length: number("length"),
                    reverse: call.option("reverse") == Some("true"),
                    unroll: number("unroll").unwrap_or(1),
                };
                let run = |carry: &Grown, x: &Grown| body.pair(&[carry, x]);
                let (carry, ys) = crate::scan_with(argument("carry"), &argument("xs"), options, run);
                pair_of(carry, ys)
            }
            Api::Map => {
                let element = self.function(call, "element");
                crate::map(&argument("xs"), |x: &Grown| element.call(&[x]))
            }
            Api::AssociativeScan => {
                let combine = self.function(call, "combine");
                let run = |a: &Grown, b: &Grown| combine.call(&[a, b]);
                match call.option("reverse") {
                    Some("true") => crate::associative_scan_reverse(&argument("xs"), run),
                    _ => crate::associative_scan(&argument("xs"), run),
                }
            }
            Api::MapReduce => {
                let (map, combine) = (self.function(call, "map"), self.function(call, "combine"));
                let (init, xs) = (argument("init"), argument("xs"));
                crate::map_reduce(init, &xs, |x: &Grown| map.call(&[x]), |a, b: &Grown| combine.call(&[a, b]))
            }
        }
    }

    fn switch(&self, call: &ApiCall, index: &Array) -> Grown {
        let one = |bodies| Function { play: self, bodies, calls: Cell::new(0) };
        let mut branches: Vec<Function<'_>> =
            call.bodies_of("branch").map(|body| one(vec![&**body])).collect();
        // Those that were not reached are there too. A text may ask for any number.
        let count: usize = call.option("branches").and_then(|n| n.parse().ok()).unwrap_or(0);
        while branches.len() < count.min(1000) {
            branches.push(one(Vec::new()));
        }
        let all: Vec<Box<dyn Fn() -> Grown + '_>> =
            branches.iter().map(|branch| Box::new(|| branch.call(&[])) as _).collect();
        let all: Vec<&dyn Fn() -> Grown> = all.iter().map(|f| &**f).collect();
        crate::switch(index, &all)
    }

    fn fori_loop(&self, call: &ApiCall, carry: Grown) -> Grown {
        let body = self.function(call, "body");
        let run = |i: &Array, carry: &Grown| body.call(&[&leaf(i.clone()), carry]);
        let range = call.option("range").and_then(|range| range.split_once(".."));
        match range.and_then(|(start, end)| Some((start.parse::<i64>().ok()?, end.parse::<i64>().ok()?))) {
            Some((start, end)) => crate::fori_loop(start..end, carry, run),
            None => {
                let end = |name: &str| call.argument(name).map(|form| first(self.tree(form)));
                let zero = || Array::from(0);
                let range = end("start").unwrap_or_else(zero)..end("end").unwrap_or_else(zero);
                crate::fori_loop(range, carry, run)
            }
        }
    }

    fn returned(&self, call: &ApiCall, function: Returned) {
        if let Some(number) = call.returned {
            self.functions.borrow_mut().insert(number, function);
        }
    }
}

fn zeros(ty: &tracewell_graph::ArrayType) -> Value {
    let literal = tracewell_array::Literal::zero(ty.dtype);
    Value::Known(Tensor::full(literal, ty.shape.clone()), ty.weak)
}

fn axes_of(text: &str) -> Vec<Option<isize>> {
    text.split(',').filter(|axis| !axis.is_empty()).map(|axis| axis.parse().ok()).collect()
}
