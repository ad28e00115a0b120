//! What is carried through a loop keeps its structure and types; what branches return has those of each other.
//!
//! Weak types, which are those of Rust numbers, yield: a weak initial value takes the element type of what the body
//! returns for it, and a weak result that of what it is returned for.

use tracewell_array::{DType, promote};
use tracewell_graph::prim::Convert;
use tracewell_graph::{ArrayType, Atom, Graph, Location, Splat};
use tracewell_trace::{Argument, Error, ErrorKind, Value};

use super::body::{Body, extended, unknown};
use crate::array::{common_dtype, fit};
use crate::key::Key;
use crate::outcome::Outcome;
use crate::staging::{Failure, Function, values_of};
use crate::tree::{Tree, TreeRef, leaves, odd_one, paths};

/// What a loop carries: a tree, and the values that its arrays start as.
pub(super) struct Carry<'t, T> {
    tree: &'t T,
    /// Of the types that are carried.
    pub(super) values: Vec<Value>,
}

impl<'t, T: Tree> Carry<'t, T> {
    /// Starts as this.
    pub(super) fn new(tree: &'t T) -> Carry<'t, T> {
        Carry { tree, values: values_of(tree) }
    }

    /// The types that are carried.
    pub(super) fn types(&self) -> Vec<ArrayType> {
        self.values.iter().map(Value::ty).collect()
    }

    /// The arguments that stand for it.
    pub(super) fn arguments(&self, root: &str) -> Vec<Argument> {
        let mut arguments = unknown(self.tree, root);
        for (argument, ty) in arguments.iter_mut().zip(self.types()) {
            argument.ty = ty;
        }
        arguments
    }

    /// Stages the body until it returns what it is given. `part` finds what is carried in what it returns, whose
    /// arrays come first; `what` is what the user calls the function.
    pub(super) fn settle<R: Outcome>(
        &mut self,
        function: &Function,
        what: &str,
        stage: impl Fn(&[Argument]) -> Result<Body<R::Ok>, Failure<R>>,
        part: impl Fn(&R::Ok) -> &T,
    ) -> Result<Body<R::Ok>, Failure<R>> {
        loop {
            let mut body = stage(&self.arguments("carry"))?;
            if self.meet(function, what, &mut body, &part)? {
                return Ok(body);
            }
        }
    }

    /// Makes a body return the types that are carried. If instead a weak start takes the type of a result, which
    /// changes the types that are carried, it says no.
    pub(super) fn meet<Y: Tree>(
        &mut self,
        function: &Function,
        what: &str,
        body: &mut Body<Y>,
        part: impl Fn(&Y) -> &T,
    ) -> Result<bool, Error> {
        check_structure(self.tree, part(&body.result), what)?;
        let (wanted, found) = (self.types(), body.graph.output_types());
        let mut settled = true;
        for (i, (want, have)) in wanted.iter().zip(&found).enumerate() {
            match meeting(want, have) {
                Meeting::Same | Meeting::Result => {}
                Meeting::Start => {
                    let shape = &want.shape;
                    self.values[i] = fit(&self.values[i], have.dtype, have.weak, shape, &function.location)?;
                    settled = false;
                }
                Meeting::Never => {
                    let path = &paths(self.tree, "carry")[i];
                    return Err(carry_mismatch(what, path, want, have, body.line(i)));
                }
            }
        }
        if settled {
            body.graph = converted(&body.graph, &wanted)?;
        }
        Ok(settled)
    }
}

/// How the type of a result becomes that of what it is returned for.
enum Meeting {
    /// It is that.
    Same,
    /// The result is weak and yields.
    Result,
    /// What it is returned for is weak and yields.
    Start,
    Never,
}

fn meeting(want: &ArrayType, have: &ArrayType) -> Meeting {
    if want == have {
        return Meeting::Same;
    }
    let (dtype, _) = promote(want.dtype, want.weak, have.dtype, have.weak);
    if want.shape != have.shape {
        Meeting::Never
    } else if have.dtype == want.dtype {
        if want.weak { Meeting::Start } else { Meeting::Result }
    } else if want.weak && dtype == have.dtype {
        Meeting::Start
    } else if have.weak && dtype == want.dtype {
        Meeting::Result
    } else {
        Meeting::Never
    }
}

/// The graph with its first outputs of these types, which they may yield to.
fn converted(graph: &Graph, types: &[ArrayType]) -> Result<Graph, Error> {
    if graph.output_types().iter().zip(types).all(|(have, want)| have == want) {
        return Ok(graph.clone());
    }
    extended(graph, |b, _, mut outputs| {
        for (output, want) in outputs.iter_mut().zip(types) {
            if b.ty(output) != *want {
                let (dtype, weak) = (want.dtype, want.weak);
                *output = match output {
                    Atom::Splat(splat) => {
                        Atom::Splat(Splat { literal: splat.literal.convert(dtype), weak, ..splat.clone() })
                    }
                    Atom::Var(_) => b.bind1(Convert { dtype, weak }, std::slice::from_ref(output))?,
                };
            }
        }
        Ok(outputs)
    })
}

/// A result has the structure of what it is returned for.
fn check_structure<T: Tree>(want: &T, have: &T, what: &str) -> Result<(), Error> {
    let Some(difference) = difference(("what is carried", want), ("what it returns", have), "carry") else {
        return Ok(());
    };
    let message = format!("{what} returns another structure than what is carried: {difference}");
    Err(Error::new(ErrorKind::Structure, message)
        .help("what is carried keeps its lengths, variants and static fields; only its arrays change"))
}

/// How the structures of two trees of one type differ, in words.
fn difference<T: Tree>((first, a): (&str, &T), (second, b): (&str, &T), root: &str) -> Option<String> {
    let (left, right) = (paths(a, root), paths(b, root));
    if left != right {
        return Some(odd_one(first, &left, second, &right));
    }
    let key = |tree: &T| {
        let mut key = Key::new();
        tree.structure(&mut key);
        key
    };
    (key(a) != key(b)).then(|| "their static fields or map keys differ".to_string())
}

/// What a body returns for something that it carries as another type.
fn carry_mismatch(
    what: &str,
    path: &str,
    want: &ArrayType,
    have: &ArrayType,
    line: Option<Location>,
) -> Error {
    let (want, have) = (strong(want), strong(have));
    let message = format!("{what} returns {have} for `{path}`, which is {want}");
    let mut error = Error::new(ErrorKind::Type, message);
    if let Some(line) = line {
        error = error.note(format!("what is returned for it is made at {line}"));
    }
    if want.shape == have.shape {
        let (from, to) = (constant(have.dtype), constant(want.dtype));
        error.help(format!("`.convert({to})` what is returned, or start with an array of {from}"))
    } else if want.shape.len() == have.shape.len() {
        error.help(format!("`.reshape({})` what is returned, or start with {have}", sizes(&want)))
    } else {
        error.help(format!(
            "what is carried keeps its shape: reduce, `slice` or `broadcast_to` what is returned, or start with \
             {have}; what grows from turn to turn is not carried, but given out by `scan`"
        ))
    }
}

/// Makes the branches of a choice return one type. `names` says what the user calls each.
pub(super) fn unify<T: Tree>(
    function: &Function,
    bodies: &mut [Body<T>],
    names: &[String],
) -> Result<(), Error> {
    let api = function.api.name();
    let Some(first) = bodies.first() else { return Ok(()) };
    for (body, name) in bodies.iter().zip(names).skip(1) {
        let found = difference((&names[0], &first.result), (name, &body.result), "result");
        if let Some(difference) = found {
            let message = format!("the branches of `{api}` return different structures: {difference}");
            let error = Error::new(ErrorKind::Structure, message);
            let error = with_line(error, &names[0], None, first.line(0), function);
            return Err(with_line(error, name, None, body.line(0), function)
                .help("all branches return one structure: the same lengths, variants and static fields"));
        }
    }
    let mut types = Vec::new();
    for i in 0..leaves(&first.result).len() {
        let of_branches: Vec<ArrayType> =
            bodies.iter().map(|body| body.graph.output_types()[i].clone()).collect();
        let (dtype, weak) = common_dtype(&of_branches);
        let want = ArrayType { weak, ..of_branches[0].with_dtype(dtype) };
        let is_odd = |ty: &ArrayType| ty.shape != want.shape || (ty.dtype != dtype && !ty.weak);
        let Some(odd) = of_branches.iter().position(is_odd) else {
            types.push(want);
            continue;
        };
        // The other that it disagrees with: the first branch, unless it is that itself.
        let disagrees = |other: &usize| !strong(&of_branches[*other]).matches(&strong(&of_branches[odd]));
        let other = (0..of_branches.len()).find(disagrees).unwrap_or(0);
        let (a, b) = (odd.min(other), odd.max(other));
        let path = &paths(&first.result, "result")[i];
        let message = format!("the branches of `{api}` return different types for `{path}`");
        let mut error = Error::new(ErrorKind::Type, message);
        for branch in [a, b] {
            let line = bodies[branch].line(i);
            error = with_line(error, &names[branch], Some(&of_branches[branch]), line, function);
        }
        return Err(error.help(if of_branches[a].shape == of_branches[b].shape {
            let (a, b) = (constant(of_branches[a].dtype), constant(of_branches[b].dtype));
            format!("`.convert({a})` the second, or `.convert({b})` the first")
        } else {
            "all branches return one shape: `broadcast_to` or `reshape` one of them".to_string()
        }));
    }
    for body in bodies {
        body.graph = converted(&body.graph, &types)?;
    }
    Ok(())
}

/// Adds a note of what a branch returns, and where.
fn with_line(
    error: Error,
    name: &str,
    ty: Option<&ArrayType>,
    line: Option<Location>,
    function: &Function,
) -> Error {
    let line = line.unwrap_or_else(|| function.location.clone());
    match ty {
        Some(ty) => error.note(format!("{name} returns {} at {line}", strong(ty))),
        None => error.note(format!("{name} returns at {line}")),
    }
}

/// What a predicate must be.
pub(super) fn check_predicate(what: &str, ty: &ArrayType, line: Option<Location>) -> Result<(), Error> {
    if ty.dtype == DType::Bool && ty.rank() == 0 {
        return Ok(());
    }
    let mut error =
        Error::new(ErrorKind::Type, format!("{what} must be a bool scalar, found {}", strong(ty)));
    if let Some(line) = line {
        error = error.note(format!("it is made at {line}"));
    }
    Err(match (ty.dtype == DType::Bool, ty.rank() == 0) {
        (false, true) => error.help("compare it, as in `.gt(0)` or `.ne(0)`"),
        (false, false) => {
            error.help("compare it and make one of many, as in `.gt(0).all()` or `.ne(0).any()`")
        }
        _ => error
            .help("`.all()` or `.any()` makes one of many")
            .help("to choose for each element use `select`; to choose for each example, `vmap` the function"),
    })
}

/// What a number that chooses or counts must be.
pub(super) fn check_integer(what: &str, ty: &ArrayType, help: &str) -> Result<(), Error> {
    if ty.dtype.is_integer() && ty.rank() == 0 {
        return Ok(());
    }
    let message = format!("{what} must be an integer scalar, found {}", strong(ty));
    Err(Error::new(ErrorKind::Type, message).help(help))
}

/// What a function that is staged for whole arrays must give back: their structure and types.
pub(super) fn check_same<X: TreeRef + ?Sized>(
    what: &str,
    given: &X,
    found: &X::Owned,
    line: Location,
    help: &str,
) -> Result<(), Error> {
    let (expected, returned) = (paths(given, "x"), paths(found, "x"));
    if expected != returned {
        let odd = odd_one("what it is given", &expected, "what it returns", &returned);
        let message = format!("{what} returns another structure than it is given: {odd}");
        return Err(Error::new(ErrorKind::Structure, message).help(help));
    }
    for ((want, have), path) in leaves(given).into_iter().zip(leaves(found)).zip(expected) {
        if !want.ty().matches(&have.ty()) {
            let (want, found) = (strong(&want.ty()), strong(&have.ty()));
            let message = format!("{what} returns {found} for `{path}`, of which it is given {want}");
            let made = have.value().tracer().map_or(line, |tracer| tracer.made().clone());
            let error = Error::new(ErrorKind::Type, message);
            let error = error.note(format!("what is returned for it is made at {made}"));
            return Err(error.help(help));
        }
    }
    Ok(())
}

/// The type without its weakness, which is of no interest in an error.
pub(super) fn strong(ty: &ArrayType) -> ArrayType {
    ArrayType { weak: false, ..ty.clone() }
}

/// The name of an element type as the program writes it.
fn constant(dtype: DType) -> String {
    dtype.to_string().to_uppercase()
}

/// A shape as the program writes it.
fn sizes(ty: &ArrayType) -> String {
    let sizes: Vec<String> = ty.shape.iter().map(|n| n.to_string()).collect();
    format!("[{}]", sizes.join(", "))
}
