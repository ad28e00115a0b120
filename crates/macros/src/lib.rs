//! The macros of Tracewell: `jit!`, `#[jitted]`, `#[traced]`, `#[derive(Tree)]` and `#[derive(Static)]`.
//!
//! Only entry points live here. Everything behind them works on `proc_macro2` tokens, so that unit tests reach it.

mod jit;
mod mistakes;
mod shape;
mod static_arg;
mod traced;
mod tree;
mod types;

use proc_macro::TokenStream;

/// Defines functions that are traced, compiled and cached on their first call, and called like any other after it.
///
/// ```text
/// jit! {
///     /// A tanh network.
///     fn predict(layers: &[Layer], x: &Array) -> Array { /* … */ }
///
///     #[jit(donate(layers))]
///     fn step(layers: Vec<Layer>, x: &Array, lr: Scalar, #[static_arg] decay: bool) -> Result<Vec<Layer>> { /* … */ }
/// }
/// ```
///
/// Parameters are trees of arrays, by value or behind one `&`. A `Scalar` takes any number from its caller. A parameter
/// marked `#[static_arg]` is an ordinary Rust value, part of the key that a compiled version is found by.
///
/// `#[jit(donate(a, b))]` lets the result reuse the buffers of `a` and `b`; `#[jit(crate = path)]` says where the
/// library is when it is not at `::tracewell`.
///
/// A method that implements a trait is jitted too. If it has a `Scalar`, the trait has to say `impl Into<Scalar>`.
#[proc_macro]
pub fn jit(input: TokenStream) -> TokenStream {
    jit::items(input.into()).into()
}

/// `jit!` as an attribute of one function or method: `#[jitted]`, `#[jitted(donate(a), crate = path)]`.
///
/// It is not called `jit` because one name cannot be both a `jit!` and a `#[jit]`.
#[proc_macro_attribute]
pub fn jitted(options: TokenStream, item: TokenStream) -> TokenStream {
    jit::attribute(options.into(), item.into()).into()
}

/// Marks an ordinary function whose calls a tape and an op trace are to show: `#[traced]`, `#[traced(crate = path)]`.
///
/// The function does what it did. While somebody watches, its call is told of, with its arguments and what it returns:
/// trees of arrays as they are, other parameters by their text where they are `Debug`.
#[proc_macro_attribute]
pub fn traced(options: TokenStream, item: TokenStream) -> TokenStream {
    traced::attribute(options.into(), item.into()).into()
}

/// Makes a struct or an enum a tree of arrays.
///
/// A field marked `#[tree(static)]` holds no arrays: its value belongs to the structure of the tree and must be
/// `Static`. Type parameters are bound by `Tree` (by `Static` where only static fields use them); on the type,
/// `#[tree(bound = "T: Tree")]` replaces these bounds and `#[tree(crate = path)]` says where the library is.
#[proc_macro_derive(Tree, attributes(tree))]
pub fn derive_tree(input: TokenStream) -> TokenStream {
    tree::derive(input.into()).into()
}

/// Makes a type usable as a static argument and as a static field of a tree.
///
/// `#[tree(bound = "…")]` and `#[tree(crate = path)]` mean the same as for `#[derive(Tree)]`.
#[proc_macro_derive(Static, attributes(tree))]
pub fn derive_static(input: TokenStream) -> TokenStream {
    static_arg::derive(input.into()).into()
}
