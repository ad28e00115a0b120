//! Staging functions of trees: what every function-taking API shares.

use tracewell_graph::Location;
use tracewell_trace::{
    Api, Argument, Called, Error, Event, Form, Staged, Value, boundary, is_observed, notify, stage,
};

use crate::array::Array;
use crate::outcome::Outcome;
use crate::repro;
use crate::tree::{Tree, TreeRef, form, leaves, paths};

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
    /// What it is for the API where there are several: a condition, a body.
    pub(crate) role: &'static str,
    /// Whether it is one of ours, by which one API is made of others.
    pub(crate) internal: bool,
}

impl Function {
    /// A function of this type, given to an API at this line.
    pub(crate) fn of<F>(api: Api, location: Location) -> Function {
        Function { name: function_name(std::any::type_name::<F>()), ..Function::unnamed(api, location) }
    }

    /// One whose name is of no interest, given to an API at this line.
    pub(crate) fn unnamed(api: Api, location: Location) -> Function {
        Function { api, name: None, location, called: None, role: "", internal: false }
    }

    /// The same as one of several.
    pub(crate) fn as_a(&self, role: &'static str) -> Function {
        Function { role, ..self.clone() }
    }

    /// The same API, given a function of ours.
    pub(crate) fn inner(&self) -> Function {
        Function { internal: true, ..self.clone() }
    }

    /// Whether both are defined at the same place, under the same name.
    pub(crate) fn is_same(&self, other: &Function) -> bool {
        self.location == other.location && self.name == other.name
    }

    /// What an API that is made of another gives to it: a closure of ours, at the user's line.
    pub(crate) fn within(&self, api: Api) -> Function {
        Function { api, name: None, internal: true, ..self.clone() }
    }
}

/// A user's function is running; observers are told when it ends, also by a panic.
pub(crate) struct Running(bool);

impl Running {
    /// It starts on these arguments.
    pub(crate) fn start(function: &Function, arguments: &[Value]) -> Running {
        let observed = is_observed();
        if observed {
            let Function { name, location, role, internal, .. } = function;
            let (function, internal) = (name.as_deref(), *internal);
            notify(&Event::FunctionEnter { function, role, internal, arguments, location });
        }
        Running(observed)
    }

    /// It returned this.
    pub(crate) fn returned<T: TreeRef + ?Sized>(mut self, tree: &T) {
        if std::mem::take(&mut self.0) {
            notify(&Event::FunctionExit { results: Some(&form(tree)) });
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.0 {
            notify(&Event::FunctionExit { results: None });
        }
    }
}

/// Calls a function where nothing is traced, so that there is nothing to stage.
pub(crate) fn call_plainly<X: TreeRef + ?Sized, R: Outcome>(
    function: &Function,
    x: &X,
    f: impl FnOnce(&X) -> R,
) -> Result<R::Ok, Failure<R>> {
    let arguments = if is_observed() { values_of(x) } else { Vec::new() };
    let running = Running::start(function, &arguments);
    let tree = f(x).into_tree().map_err(Failure::Theirs)?;
    running.returned(&tree);
    Ok(tree)
}

/// The last name of a path, or nothing for a closure, which has none.
fn function_name(path: &str) -> Option<String> {
    let path = path.trim_start_matches('&');
    // Its own parameters come last; those of what it is defined in do not count.
    let mut depth = 0;
    let parameters = path.char_indices().rev().find(|&(_, c)| {
        depth += i32::from(c == '>') - i32::from(c == '<');
        depth == 0
    });
    let plain = match parameters {
        Some((at, '<')) => &path[..at],
        _ => path,
    };
    let last = plain.rsplit("::").next().unwrap_or(plain);
    // The type of a function pointer is no path.
    let is_name =
        !plain.contains('(') && !last.is_empty() && last.chars().all(|c| c.is_alphanumeric() || c == '_');
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
        let running = Running::start(function, tracers);
        let tree = result.insert(f(tracers).into_tree());
        match tree {
            Ok(tree) => {
                running.returned(tree);
                Ok(values_of(tree))
            }
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
/// `inside` works with `?`; `called` says what the API was called on, and is asked only by observers.
pub(crate) fn enter<R: Outcome, U: Tree>(
    function: &Function,
    called: impl FnOnce() -> Called,
    inside: impl FnOnce() -> Result<U, Failure<R>>,
) -> R::With<U> {
    crate::executor::install();
    let _session = repro::session();
    let entered = Entered::start(function, called);
    let Function { api, name, location, called, .. } = function;
    let result = boundary(*api, name.as_deref(), location, || match inside() {
        // An error that came back by `?` has not been raised yet; observers must see it before it leaves.
        Err(Failure::Ours(error)) if !error.is_raised() => {
            tracewell_trace::raise(error, called.as_ref().unwrap_or(location))
        }
        other => other,
    });
    let result = result.unwrap_or_else(|raised| Err(Failure::Ours(raised)));
    entered.end(match &result {
        Ok(tree) => Ok(tree),
        Err(Failure::Ours(error)) => Err(Some(error)),
        Err(Failure::Theirs(_)) => Err(None),
    });
    match result {
        Ok(tree) => R::success(tree),
        Err(failure) => failure.outcome(),
    }
}

/// Tells observers of an API that is made of others, which enter for themselves.
pub(crate) fn composed<U: Tree>(
    function: &Function,
    called: impl FnOnce() -> Called,
    inside: impl FnOnce() -> U,
) -> U {
    let _session = repro::session();
    let entered = Entered::start(function, called);
    let tree = inside();
    entered.end(Ok(&tree));
    tree
}

/// An API is running; observers are told when it ends, also by a panic.
pub(crate) struct Entered(Option<Api>);

impl Entered {
    pub(crate) fn start(function: &Function, called: impl FnOnce() -> Called) -> Entered {
        if !is_observed() {
            return Entered(None);
        }
        let location = function.called.as_ref().unwrap_or(&function.location);
        let (api, name) = (function.api, function.name.as_deref());
        notify(&Event::ApiEnter { api, function: name, called: &called(), location });
        Entered(Some(api))
    }

    pub(crate) fn end<U: Tree>(mut self, result: Result<&U, Option<&Error>>) {
        let Some(api) = self.0.take() else { return };
        let found: Result<Form<Value>, Option<&Error>> = result.map(form);
        notify(&Event::ApiExit { api, results: found.as_ref().map_err(|error| *error) });
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(api) = self.0 {
            notify(&Event::ApiExit { api, results: Err(None) });
        }
    }
}

/// What an API was called on, for observers.
pub(crate) fn describe<X: TreeRef + ?Sized>(x: &X, root: &'static str) -> Called {
    Called { arguments: vec![(root, form(x))], options: Vec::new() }
}

/// The same with one more argument.
pub(crate) fn and<X: TreeRef + ?Sized>(mut called: Called, x: &X, root: &'static str) -> Called {
    called.arguments.push((root, form(x)));
    called
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

#[cfg(test)]
mod tests {
    use super::function_name;

    #[test]
    fn functions_have_names_and_closures_have_none() {
        let named = |path: &str| function_name(path);
        assert_eq!(named("app::model::loss").as_deref(), Some("loss"));
        assert_eq!(named("&app::loss<f32, app::Model<u8>>").as_deref(), Some("loss"));
        assert_eq!(named("app::Model<f32>::loss").as_deref(), Some("loss"));
        assert_eq!(named("app::main::{{closure}}"), None);
        assert_eq!(named("app::Model<'_>::train::{{closure}}"), None);
        assert_eq!(named("fn(&app::X) -> app::Y"), None);
    }
}
