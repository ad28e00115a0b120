//! What a traced function may return: a tree, or a `Result` of one. Failures go where the user can take them.

use tracewell_trace::{Error, raise_again};

use crate::tree::Tree;

/// A tree, which is returned plainly and whose failures panic; or a `Result`, whose failures are its `Err`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned from a traced function",
    label = "neither a tree of arrays nor a `Result` of one",
    note = "arrays, tuples, `Vec`, `[T; N]`, `Option` and `BTreeMap` of arrays can; for your own type use `#[derive(Tree)]`"
)]
pub trait Outcome: Sized {
    /// The tree.
    type Ok: Tree;
    /// The same kind of outcome with another tree.
    type With<U: Tree>: Outcome<Ok = U>;
    /// The same kind of outcome with anything, such as a tree and a function.
    type Plain<U>;

    /// The tree, or the user's own error, which passes through the library unchanged.
    fn into_tree(self) -> Result<Self::Ok, Self::With<Self::Ok>>;

    /// Success.
    fn success<U: Tree>(tree: U) -> Self::With<U>;

    /// A failure of the library.
    fn failure<U: Tree>(error: Error) -> Self::With<U>;

    /// A failed outcome as one of another tree; `None` if it did not fail.
    fn refail<U: Tree>(failed: Self::With<Self::Ok>) -> Option<Self::With<U>>;

    /// Its own outcome.
    fn own(outcome: Self::With<Self::Ok>) -> Self;

    /// A success with something made of the tree, or the same failure.
    fn and<U>(outcome: Self::With<Self::Ok>, make: impl FnOnce(Self::Ok) -> U) -> Self::Plain<U>;
}

impl<T: Tree> Outcome for T {
    type Ok = T;
    type With<U: Tree> = U;
    type Plain<U> = U;

    fn into_tree(self) -> Result<T, T> {
        Ok(self)
    }
    fn success<U: Tree>(tree: U) -> U {
        tree
    }
    fn failure<U: Tree>(error: Error) -> U {
        raise_again(error)
    }
    fn refail<U: Tree>(_: T) -> Option<U> {
        None
    }
    fn own(outcome: T) -> T {
        outcome
    }

    fn and<U>(outcome: T, make: impl FnOnce(T) -> U) -> U {
        make(outcome)
    }
}

impl<T: Tree, E: From<Error>> Outcome for Result<T, E> {
    type Ok = T;
    type With<U: Tree> = Result<U, E>;
    type Plain<U> = Result<U, E>;

    fn into_tree(self) -> Result<T, Result<T, E>> {
        self.map_err(Err)
    }
    fn success<U: Tree>(tree: U) -> Result<U, E> {
        Ok(tree)
    }
    fn failure<U: Tree>(error: Error) -> Result<U, E> {
        Err(E::from(error))
    }
    fn refail<U: Tree>(failed: Result<T, E>) -> Option<Result<U, E>> {
        failed.err().map(Err)
    }
    fn own(outcome: Result<T, E>) -> Result<T, E> {
        outcome
    }

    fn and<U>(outcome: Result<T, E>, make: impl FnOnce(T) -> U) -> Result<U, E> {
        outcome.map(make)
    }
}

/// What a function returns that is staged beside one that returns `R`, such as the condition of a loop beside its
/// body: a tree, or a `Result` with the same error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned beside a function that returns `{R}`",
    label = "neither a tree of arrays nor a `Result` with the error of the other function",
    note = "let the other function return a `Result` with the same error too"
)]
pub trait Beside<R: Outcome>: Outcome {
    /// A failed outcome as one of the other function; `None` if it did not fail.
    fn hand_on(failed: Self::With<Self::Ok>) -> Option<R::With<R::Ok>>;
}

impl<T: Tree, R: Outcome> Beside<R> for T {
    fn hand_on(_: T) -> Option<R::With<R::Ok>> {
        None
    }
}

impl<T: Tree, U: Tree, E: From<Error>> Beside<Result<U, E>> for Result<T, E> {
    fn hand_on(failed: Result<T, E>) -> Option<Result<U, E>> {
        failed.err().map(Err)
    }
}
