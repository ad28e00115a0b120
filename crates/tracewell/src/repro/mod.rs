//! Repros: every failure leaves a program that fails in the same way.
//!
//! Nothing has to be switched on. A failing call writes a folder and its error says where; the folder holds a program
//! on the public API, the data, and a text that `tracewell repro` replays and makes smaller. `TRACEWELL_REPRO=off`
//! switches it off, `TRACEWELL_REPRO_DIR` says where folders go. See docs/repro.md.
//!
//! ```
//! use tracewell::prelude::*;
//!
//! let x = Array::from([1.0f32, 2.0]);
//! let wrong = jit(|x: &Array| -> Result<Array> { Ok(x.sin().sum_axes(&[3])) });
//! let (result, repro) = repro::collect(|| wrong.call(&x));
//! assert!(result.is_err());
//! assert!(repro.run().is_reproduced());
//! assert!(repro.to_rust().contains("fn main()"));
//! ```

mod again;
mod bisect;
mod calls;
mod grown;
mod replay;
mod session;
mod settings;
mod stand_in;

use std::path::{Path, PathBuf};

use tracewell_array::Tensor;
use tracewell_graph::{Location, Splat};
use tracewell_trace::{Error, ErrorKind, Value, complete, raise};

pub use crate::checks::{check_compiled, check_nans};
pub use tracewell_repro::{CallTree, Failure, Signature, Stage, Statement, Verdict};

pub(crate) use tracewell_repro::KeptCall;

pub(crate) use again::{LISTENING, hear, run_again, run_again_if_kept};
pub(crate) use session::{
    early, found, install, last_call, release, restore, session, session_after, take_body,
};

use crate::array::{Array, or_raise};
use crate::tree::Tree;

pub use bisect::Blame;
pub(crate) use bisect::{did_not_compile, differed, differed_primitive};
pub use replay::Player;
#[doc(hidden)]
pub use session::recording_at_most;

/// A recorded call: what it did, how it failed, and all it needs to do so again.
#[derive(Clone, PartialEq, Debug)]
pub struct Repro {
    tree: CallTree,
}

impl Repro {
    /// Of a call tree.
    pub fn new(tree: CallTree) -> Repro {
        Repro { tree: tree.numbered() }
    }

    /// What it did.
    pub fn tree(&self) -> &CallTree {
        &self.tree
    }

    /// How it failed, if it did.
    pub fn failure(&self) -> Option<&Failure> {
        self.tree.failure.as_ref()
    }

    /// Whether nothing in it stands in for something else.
    pub fn is_exact(&self) -> bool {
        self.tree.stand_ins.is_empty()
    }

    /// Runs it again, in this process.
    pub fn run(&self) -> Verdict {
        Verdict::of(self.tree.failure.as_ref(), replay::replay(&self.tree))
    }

    /// How it fails when it is run again, in this process; `None` if it does not.
    pub fn replay(&self) -> Option<Failure> {
        replay::replay(&self.tree)
    }

    /// As a program on the public API.
    pub fn to_rust(&self) -> String {
        tracewell_repro::to_rust(&self.tree)
    }

    /// As text; arrays of more than a few elements are not in it.
    pub fn to_text(&self) -> String {
        tracewell_repro::text::write(&self.tree).text
    }

    /// A smaller one that fails in the same way, found by replaying in this process. Programs that hang or end the
    /// process are reduced by the command `tracewell repro reduce`.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([1.0f32, 2.0, 3.0]);
    /// let wrong = |x: &Array| (x.sin() * x.cos()).exp().dot(&Array::ones([7], F32));
    /// let small = repro::assert_reproduces(|| grad(wrong)(&x)).reduce();
    /// assert!(small.run().is_reproduced());
    /// assert_eq!(small.tree().leaves(), 1);
    /// ```
    pub fn reduce(&self) -> Repro {
        let mut reducer = tracewell_repro::reduce::Reducer {
            replay: &Player,
            jobs: 1,
            memo: Default::default(),
            answered: &mut |_, _| {},
            better: &mut |_| {},
            progress: &mut |_| true,
        };
        Repro { tree: tracewell_repro::reduce::reduce(&self.tree, &mut reducer) }
    }

    /// The step of the compiler after which compiled and evaluated results differ, or which fails itself; nothing if
    /// they agree.
    pub fn bisect(&self) -> Option<Blame> {
        bisect::bisect(&self.tree)
    }

    /// Writes its folder into this one, and gives its path.
    #[track_caller]
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<PathBuf, Error> {
        let (folder, location) = (folder.as_ref(), Location::caller());
        session::save(&self.tree, folder).map_err(|error| {
            let message = format!("cannot write a repro into `{}`: {error}", folder.display());
            complete(Error::new(ErrorKind::Io, message), &location)
        })
    }

    /// Reads a folder that was written. Nothing in it is run.
    #[track_caller]
    pub fn load(folder: impl AsRef<Path>) -> Result<Repro, Error> {
        let location = Location::caller();
        let loaded = stand_in::load(folder.as_ref());
        loaded.map(|tree| Repro { tree }).map_err(|error| {
            let error = Error::new(ErrorKind::Io, error.to_string());
            complete(error.help("the folder is one that a failure has left, with its `repro.txt`"), &location)
        })
    }
}

/// Runs `f` and records what it does, whether it fails or not.
///
/// If something in it fails, the repro is that of the last failure; otherwise of all that was done.
#[track_caller]
pub fn collect<R>(f: impl FnOnce() -> R) -> (R, Repro) {
    session::collect(f, Location::caller())
}

/// The repro of the last failure of this process for which a folder was written, with its folder.
pub fn last() -> Option<(Repro, PathBuf)> {
    session::last()
}

/// Runs `f`; failures in it leave their folders in this one, also where repros are switched off.
pub fn writing_to<R>(folder: impl AsRef<Path>, f: impl FnOnce() -> R) -> R {
    session::writing_to(folder.as_ref(), f)
}

/// Runs `f`; if `holds` says that its result is wrong, that is a failure like any other, which leaves a repro.
///
/// What was expected is code, and not part of the repro: that fails where its results are the ones that were wrong.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::from([1.0f32, 2.0]);
/// let positive = |y: &Array| y.item::<f32>() > 0.0;
/// assert!(repro::expect(|| x.sum(), positive).is_ok());
/// let error = repro::expect(|| -x.sum(), positive).unwrap_err();
/// assert_eq!(error.message(), "a result is not what was expected");
/// ```
#[track_caller]
pub fn expect<Y: Tree>(f: impl FnOnce() -> Y, holds: impl FnOnce(&Y) -> bool) -> Result<Y, Error> {
    session::expect(f, holds, Location::caller())
}

/// For tests: runs `f`, which fails by an error or a panic, and fails unless its repro fails in the same way.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::from([1.0f32, 2.0]);
/// repro::assert_reproduces(|| x.dot(&Array::from([1.0f32])));
/// ```
///
/// # Panics
///
/// If nothing fails in it, or if the repro does not fail in the same way.
#[track_caller]
pub fn assert_reproduces<R>(f: impl FnOnce() -> R) -> Repro {
    let quiet = || {
        let _ = tracewell_trace::boundary(tracewell_trace::Api::Replay, None, &Location::caller(), || {
            let _ = f();
        });
    };
    let (_, repro) = collect(|| {
        // What it failed with was seen when it was raised.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(quiet));
    });
    assert!(repro.failure().is_some(), "nothing failed, so that there is nothing to reproduce");
    let verdict = repro.run();
    let text = repro.to_text();
    assert!(verdict.is_reproduced(), "{verdict:?} instead of {:?} by\n{text}", repro.failure());
    repro
}

/// An array from its text, in which a repro keeps every bit: `f32[2]{1.0,nan:0x7fc00001}`; weak after `~`.
///
/// ```
/// use tracewell::prelude::*;
///
/// assert_eq!(repro::array("f32[2]{1.0,2.0}").to_string(), "[1. 2.]");
/// ```
#[track_caller]
pub fn array(text: &str) -> Array {
    let location = Location::caller();
    let (text, weak) = text.strip_prefix('~').map_or((text, false), |text| (text, true));
    let read = tracewell_graph::text::read_tensors(text).map_err(|error| error.message);
    let one = read.and_then(|mut all| all.pop().ok_or_else(|| "there is no array".to_string()));
    let one = one.map_err(|message| wrong_text(text, &message));
    Array::unfilled(Value::Known(or_raise(one, &location), weak))
}

/// One number, repeated, from its text: `2.0:f32[2,3]`. Inside a traced function it is no array.
///
/// ```
/// use tracewell::prelude::*;
///
/// assert_eq!(repro::splat("2.0:f32[2]").to_string(), "[2. 2.]");
/// ```
#[track_caller]
pub fn splat(text: &str) -> Array {
    let location = Location::caller();
    let read = tracewell_graph::text::read_applied(&format!("sin {text}"), &tracewell_graph::text::NoCustom);
    let found = match read {
        Ok((_, atoms)) => atoms.first().and_then(|atom| match atom {
            tracewell_graph::Atom::Splat(splat) => Some(splat.clone()),
            tracewell_graph::Atom::Var(_) => None,
        }),
        Err(_) => None,
    };
    let found: Splat = or_raise(found.ok_or_else(|| wrong_text(text, "it is no literal")), &location);
    Array::from_value(Value::Splat(found))
}

fn wrong_text(text: &str, why: &str) -> Error {
    Error::new(ErrorKind::Structure, format!("`{text}` is no array: {why}"))
}

/// Fails as another program did: where nothing else in a repro brings the failure about.
#[track_caller]
pub fn fail(kind: &str, message: &str) {
    let kind = ErrorKind::parse(kind).unwrap_or(ErrorKind::Bug);
    raise(Error::new(kind, message), &Location::caller())
}

/// A function that answers in the place of one of another program: what that gave for the same arrays, and for others
/// what it gave in the call of the same number. Where that failed, it fails so; where the types are others, it gives
/// zeros.
pub fn answering(
    known: Vec<(u64, Option<Vec<Array>>)>,
    failure: Option<(&'static str, &'static str)>,
    zeros: Vec<Array>,
) -> impl Fn(&Vec<Array>) -> Vec<Array> + Send + Sync + 'static {
    let tensors = |all: Vec<Array>| all.iter().filter_map(|array| array.value().known()).collect();
    let known = known.into_iter().map(|(given, results)| (given, results.map(tensors)));
    let answers = again::Answers::new(known.collect());
    move |given: &Vec<Array>| {
        let given: Vec<_> = given.iter().filter_map(|array| array.value().known()).collect();
        let number = tracewell_repro::fingerprint(
            given.iter().map(|tensor| (tensor.dtype(), tensor.shape(), tensor.as_bytes())),
        );
        match (answers.answer(number), failure) {
            (Some(None), Some((kind, message))) => {
                fail(kind, message);
                zeros.clone()
            }
            (Some(Some(results)), _) if are_like(results, &zeros) => {
                results.iter().map(|tensor| Array::from_value(Value::from(tensor.clone()))).collect()
            }
            _ => zeros.clone(),
        }
    }
}

/// Whether these are the results that are promised.
fn are_like(results: &[Tensor], promised: &[Array]) -> bool {
    let like = |(result, array): (&Tensor, &Array)| {
        result.dtype() == array.dtype() && result.shape() == array.shape()
    };
    results.len() == promised.len() && results.iter().zip(promised).all(like)
}

/// Checks the arguments of a function of the library as that does, before it comes to a primitive: what failed in
/// another program.
#[track_caller]
pub fn call(name: &str, operands: &[&Array], arguments: &[&str]) {
    let location = Location::caller();
    let values: Vec<Value> = operands.iter().map(|array| array.value().clone()).collect();
    or_raise(calls::call(name, &values, arguments, &location), &location);
}
