//! What the code made by `#[traced]` is made of.

use std::fmt::Debug;

use tracewell_graph::Location;
use tracewell_trace::{Called, Event, Form, Value, is_observed, notify};

use crate::outcome::Outcome;
use crate::tree::{TreeRef, brief, form};

/// A call of a traced function that is going on; observers are told when it ends, also by a panic.
#[derive(Debug)]
pub struct Running(bool);

impl Running {
    /// It begins. Its arguments are asked for only where somebody watches.
    #[track_caller]
    pub fn start(function: &str, tell: impl FnOnce(Called) -> Called) -> Running {
        let observed = is_observed();
        if observed {
            crate::executor::install();
            let (called, location) = (tell(Called::default()), Location::caller());
            notify(&Event::TracedEnter { function, called: &called, location: &location });
        }
        Running(observed)
    }

    /// Calls the body: a closure, so that `return` and `?` leave only it.
    pub fn call<R>(body: impl FnOnce() -> R) -> R {
        body()
    }

    /// It returned.
    pub fn end(mut self, results: impl FnOnce() -> Option<Form<Value>>) {
        if std::mem::take(&mut self.0) {
            notify(&Event::TracedExit { results: results().as_ref() });
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.0 {
            notify(&Event::TracedExit { results: None });
        }
    }
}

/// An argument or a result, of which the compiler chooses the best that can be told: a tree, a text, nothing.
#[derive(Debug)]
pub struct Told<'a, T: ?Sized>(pub &'a T);

/// Trees of arrays.
pub trait TellTree {
    /// Adds an argument.
    fn tell(&self, name: &'static str, called: &mut Called);
    /// A result.
    fn result(&self) -> Option<Form<Value>>;
}

impl<T: TellOutcome + ?Sized> TellTree for &&Told<'_, T> {
    fn tell(&self, name: &'static str, called: &mut Called) {
        if let Some(form) = self.0.told() {
            called.arguments.push((name, form));
        }
    }

    fn result(&self) -> Option<Form<Value>> {
        self.0.told()
    }
}

/// What can be told as a tree: a tree, or a `Result` of one.
pub trait TellOutcome {
    /// As a tree; nothing of an error.
    fn told(&self) -> Option<Form<Value>>;
}

impl<T: TreeRef + ?Sized> TellOutcome for T {
    fn told(&self) -> Option<Form<Value>> {
        Some(form(self))
    }
}

impl<T: TreeRef, E> TellOutcome for Result<T, E>
where
    Result<T, E>: Outcome,
{
    fn told(&self) -> Option<Form<Value>> {
        self.as_ref().ok().map(form)
    }
}

/// Anything that has a text.
pub trait TellText {
    /// Adds an argument.
    fn tell(&self, name: &'static str, called: &mut Called);
    /// A result: no array.
    fn result(&self) -> Option<Form<Value>>;
}

impl<T: Debug + ?Sized> TellText for &Told<'_, T> {
    fn tell(&self, name: &'static str, called: &mut Called) {
        called.options.push((name, brief(&self.0)));
    }

    fn result(&self) -> Option<Form<Value>> {
        Some(Form::empty())
    }
}

/// Anything else.
pub trait TellNothing {
    /// Adds an argument.
    fn tell(&self, name: &'static str, called: &mut Called);
    /// A result: no array.
    fn result(&self) -> Option<Form<Value>>;
}

impl<T: ?Sized> TellNothing for Told<'_, T> {
    fn tell(&self, name: &'static str, called: &mut Called) {
        called.options.push((name, "…".to_string()));
    }

    fn result(&self) -> Option<Form<Value>> {
        Some(Form::empty())
    }
}
