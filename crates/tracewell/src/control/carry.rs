//! What a loop carries keeps its structure and types.
//!
//! Weak types, which are those of Rust numbers, yield: a weak initial value takes the element type of what the body
//! returns for it, and a weak result that of what it is returned for.

use tracewell_array::promote;
use tracewell_graph::{ArrayType, Location};
use tracewell_trace::{Argument, Error, ErrorKind, Value};

use super::body::{Body, converted, unknown};
use super::checks::{constant, difference, sizes, strong};
use crate::array::fit;
use crate::outcome::Outcome;
use crate::staging::{Failure, Function, values_of};
use crate::tree::{Tree, paths};

/// What a loop carries: a tree, and the values that its arrays start as.
pub(super) struct Carry<'t, T> {
    tree: &'t T,
    /// What the user calls it.
    root: &'static str,
    /// Of the types that are carried.
    pub(super) values: Vec<Value>,
}

impl<'t, T: Tree> Carry<'t, T> {
    /// Starts as this; errors name it by `root`.
    pub(super) fn new(tree: &'t T, root: &'static str) -> Carry<'t, T> {
        Carry { tree, root, values: values_of(tree) }
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
            let mut body = stage(&self.arguments(self.root))?;
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
        self.check_structure(part(&body.result), what)?;
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
                    let path = &paths(self.tree, self.root)[i];
                    return Err(mismatch(what, path, want, have, body.line(i)));
                }
            }
        }
        if settled {
            body.graph = converted(&body.graph, &wanted)?;
        }
        Ok(settled)
    }

    /// A result has the structure of what is carried.
    fn check_structure(&self, found: &T, what: &str) -> Result<(), Error> {
        let carried = ("what is carried", self.tree);
        let Some(difference) = difference(carried, ("what it returns", found), self.root) else {
            return Ok(());
        };
        let message = format!("{what} returns another structure than what is carried: {difference}");
        Err(Error::new(ErrorKind::Structure, message)
            .help("what is carried keeps its lengths, variants and static fields; only its arrays change"))
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

/// What a body returns for something that it carries as another type.
fn mismatch(what: &str, path: &str, want: &ArrayType, have: &ArrayType, line: Option<Location>) -> Error {
    let (want, have) = (strong(want), strong(have));
    let message = format!("{what} returns {have} for `{path}`, which is {want}");
    let mut error = Error::new(ErrorKind::Type, message);
    if let Some(line) = line {
        error = error.note(format!("what is returned for it is made at {line}"));
    }
    if want.shape == have.shape {
        let (from, to) = (constant(&have), constant(&want));
        error.help(format!("`.convert({to})` what is returned, or start with an array of {from}"))
    } else if want.shape.len() == have.shape.len() {
        error.help(format!("`.reshape({})` what is returned, or start with {have}", sizes(&want)))
    } else {
        let error = error.help(format!(
            "one shape is carried: reduce, `slice` or `broadcast_to` what is returned, or start with {have}"
        ));
        match want.shape.len() < have.shape.len() {
            true => error.help("to collect something of every turn, let `scan` give it out"),
            false => error,
        }
    }
}
