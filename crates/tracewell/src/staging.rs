//! Staging functions of trees: what every function-taking API shares.

use tracewell_graph::Location;
use tracewell_trace::{Api, Argument, Error, Event, Staged, Value, boundary, is_observed, notify, stage};

use crate::array::Array;
use crate::outcome::Outcome;
use crate::tree::{Tree, TreeRef, leaves, paths};

/// A user's function as an API was given it.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) api: Api,
    /// Its name, where it has one.
    pub(crate) name: Option<String>,
    /// Where it is defined, or where the API was called.
    pub(crate) location: Location,
    /// The line that called it, where that is another.
    pub(crate) called: Option<Location>,
}

impl Function {
    /// A function of this type, given to an API at this line.
    pub(crate) fn of<F>(api: Api, location: Location) -> Function {
        Function { api, name: function_name(std::any::type_name::<F>()), location, called: None }
    }

    /// Whether both are defined at the same place, under the same name.
    pub(crate) fn is_same(&self, other: &Function) -> bool {
        self.location == other.location && self.name == other.name
    }

    /// What an API that is made of another gives to it: a closure of ours, at the user's line.
    pub(crate) fn within(&self, api: Api) -> Function {
        Function { api, name: None, ..self.clone() }
    }
}

/// The last name of a path, or nothing for a closure, which has none.
fn function_name(path: &str) -> Option<String> {
    let path = path.trim_start_matches('&');
    let plain = path.split('<').next().unwrap_or(path);
    let last = plain.rsplit("::").next().unwrap_or(plain);
    let is_name = !last.is_empty() && last.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then(|| last.to_string())
}

/// A function turned into a graph, with a result of the right structure.
pub(crate) struct Traced<Y> {
    pub(crate) staged: Staged,
    pub(crate) result: Y,
}

/// Why there is no result: our error, or the user's own, which passes through unchanged.
pub(crate) enum Failure<R: Outcome> {
    Ours(Error),
    Theirs(R::With<R::Ok>),
}

impl<R: Outcome> Failure<R> {
    /// As the outcome of an API that returns another tree.
    pub(crate) fn outcome<U: Tree>(self) -> R::With<U> {
        match self {
            Failure::Ours(error) => R::failure(error),
            Failure::Theirs(failed) => match R::refail(failed) {
                Some(failed) => failed,
                None => R::failure(Error::bug("a function failed without an error")),
            },
        }
    }
}

impl<R: Outcome> From<Error> for Failure<R> {
    fn from(error: Error) -> Failure<R> {
        Failure::Ours(error)
    }
}

/// The arguments of a function: its tree's arrays with their paths.
pub(crate) fn arguments<X: TreeRef + ?Sized>(x: &X, root: &str) -> Vec<Argument> {
    let named = leaves(x).into_iter().zip(paths(x, root));
    named.map(|(leaf, name)| Argument { name, ty: leaf.ty(), value: leaf.value().known() }).collect()
}

/// Runs a function once on tracers in the place of its argument's arrays.
pub(crate) fn stage_tree<X: TreeRef + ?Sized, R: Outcome>(
    function: &Function,
    x: &X,
    arguments: &[Argument],
    f: impl FnOnce(&X) -> R,
) -> Result<Traced<R::Ok>, Failure<R>> {
    stage_with(function, arguments, |tracers| {
        let mut next = tracers.iter();
        let inside = x.rebuild_ref(&mut |leaf| next.next().map_or_else(|| leaf.clone(), traced));
        f(X::lend(&inside))
    })
}

fn traced(value: &Value) -> Array {
    Array::from_value(value.clone())
}

/// The same where the caller puts the tracers in place.
pub(crate) fn stage_with<R: Outcome>(
    function: &Function,
    arguments: &[Argument],
    f: impl FnOnce(&[Value]) -> R,
) -> Result<Traced<R::Ok>, Failure<R>> {
    let mut result = None;
    let staged = stage(function.api, function.name.as_deref(), &function.location, arguments, |tracers| {
        let tree = result.insert(f(tracers).into_tree());
        match tree {
            Ok(tree) => Ok(leaves(tree).into_iter().map(|a| a.value().clone()).collect()),
            // Never seen: the user's own error is handed on below.
            Err(_) => Err(Error::bug("the traced function returned an error")),
        }
    });
    match (result, staged) {
        (Some(Err(theirs)), _) => Err(Failure::Theirs(theirs)),
        (Some(Ok(result)), Ok(staged)) => {
            if let Some(made) = &staged.made {
                made.check(leaves(&result).into_iter().map(Array::value))?;
            }
            Ok(Traced { staged, result })
        }
        (_, Err(error)) => Err(Failure::Ours(error)),
        (None, Ok(_)) => Err(Failure::Ours(Error::bug("the traced function did not run"))),
    }
}

/// Enters an API: events, the boundary, and the outcome in the form of the user's function.
///
/// `inside` works with `?`; `arguments` says what the API was called on, and is asked only by observers.
pub(crate) fn enter<R: Outcome, U: Tree>(
    function: &Function,
    arguments: impl FnOnce() -> (Vec<Value>, Vec<String>),
    inside: impl FnOnce() -> Result<U, Failure<R>>,
) -> R::With<U> {
    crate::executor::install();
    let Function { api, name, location, called } = function;
    let (api, name) = (*api, name.as_deref());
    if is_observed() {
        let (arguments, names) = arguments();
        let location = called.as_ref().unwrap_or(location);
        notify(&Event::ApiEnter { api, function: name, arguments: &arguments, names: &names, location });
    }
    let result = boundary(api, name, location, || match inside() {
        // An error that came back by `?` has not been raised yet; observers must see it before it leaves.
        Err(Failure::Ours(error)) if !error.is_raised() => {
            tracewell_trace::raise(error, called.as_ref().unwrap_or(location))
        }
        other => other,
    });
    let result = result.unwrap_or_else(|raised| Err(Failure::Ours(raised)));
    if is_observed() {
        let values: Vec<Value> = result.as_ref().map_or_else(|_| Vec::new(), values_of);
        let results = match &result {
            Err(Failure::Ours(error)) => Err(error),
            Ok(_) | Err(Failure::Theirs(_)) => Ok(values.as_slice()),
        };
        notify(&Event::ApiExit { api, results });
    }
    match result {
        Ok(tree) => R::success(tree),
        Err(failure) => failure.outcome(),
    }
}

/// What an API was called on, for observers.
pub(crate) fn describe<X: TreeRef + ?Sized>(x: &X, root: &str) -> (Vec<Value>, Vec<String>) {
    (values_of(x), paths(x, root))
}

/// A tree of the structure of another, with these arrays in order.
pub(crate) fn refill<T: TreeRef + ?Sized>(like: &T, values: Vec<Value>) -> T::Owned {
    let mut next = values.into_iter();
    like.rebuild_ref(&mut |leaf| next.next().map_or_else(|| leaf.clone(), Array::from_value))
}

/// The values of a tree's arrays.
pub(crate) fn values_of<T: TreeRef + ?Sized>(tree: &T) -> Vec<Value> {
    leaves(tree).into_iter().map(|a| a.value().clone()).collect()
}
