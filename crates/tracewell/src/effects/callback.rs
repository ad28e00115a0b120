//! `callback` and `ordered_callback`: Rust functions that compiled functions call.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;
use tracewell_graph::{ArrayType, Location};
use tracewell_trace::{Error, ErrorKind};

use super::host::{Site, call};
use crate::array::Array;
use crate::key::Key;
use crate::tree::{Tree, TreeRef, leaves, paths};

/// What the Rust function `f` makes of `x`, also inside `jit!`, `vmap` and loops, where it is called with known arrays
/// whenever the compiled function runs.
///
/// `f` must be pure: its calls may be dropped, merged and repeated. [`ordered_callback`] is for functions that do
/// something. Its results have the structure and types of `like`; other ones are an error when it runs, and so is a
/// panic in it. Under `vmap` it is called for each element, in order. It has no derivative: give it one with
/// [`custom_jvp`](crate::custom_jvp).
///
/// A function that captures nothing is the same whenever it is traced. One that captures something is another one
/// each time, so that what is compiled is not shared.
///
/// ```
/// use tracewell::prelude::*;
///
/// fn median(x: &Array) -> Array {
///     let mut all = x.to_vec::<f32>().expect("f32, as said where it is called");
///     all.sort_by(f32::total_cmp);
///     Array::from(all[all.len() / 2])
/// }
///
/// let f = jit(|x: &Array| callback(&Array::zeros([], F32), median, x) * 2.0);
/// assert_eq!(f.call(&Array::from([5.0f32, 1.0, 3.0])).item::<f32>(), 6.0);
/// ```
#[track_caller]
pub fn callback<X, Y, F>(like: &Y, f: F, x: &X) -> Y::Owned
where
    X: TreeRef + ?Sized + 'static,
    Y: TreeRef + ?Sized,
    F: Fn(&X) -> Y::Owned + Send + Sync + 'static,
{
    called(false, like, f, x, &Location::caller())
}

/// The same for a function that does something: it is called exactly once whenever it is come to, be its results used
/// or not, and in program order with other effects.
///
/// Under `grad` it is called as without it: with the values, in the forward pass.
///
/// ```
/// use std::sync::Mutex;
/// use tracewell::prelude::*;
///
/// static SEEN: Mutex<Vec<f32>> = Mutex::new(Vec::new());
///
/// let f = jit(|x: &Array| {
///     ordered_callback(&(), |x: &Array| SEEN.lock().unwrap().push(x.item()), x);
///     x * 2.0
/// });
/// f.call(&Array::from(1.0f32));
/// f.call(&Array::from(3.0f32));
/// assert_eq!(*SEEN.lock().unwrap(), [1.0, 3.0]);
/// ```
#[track_caller]
pub fn ordered_callback<X, Y, F>(like: &Y, f: F, x: &X) -> Y::Owned
where
    X: TreeRef + ?Sized + 'static,
    Y: TreeRef + ?Sized,
    F: Fn(&X) -> Y::Owned + Send + Sync + 'static,
{
    called(true, like, f, x, &Location::caller())
}

fn called<X, Y, F>(ordered: bool, like: &Y, f: F, x: &X, location: &Location) -> Y::Owned
where
    X: TreeRef + ?Sized + 'static,
    Y: TreeRef + ?Sized,
    F: Fn(&X) -> Y::Owned + Send + Sync + 'static,
{
    let types: Vec<ArrayType> =
        leaves(like).into_iter().map(|leaf| ArrayType { weak: false, ..leaf.ty() }).collect();
    let mut key = Key::new();
    key.node::<F>();
    x.structure_ref(&mut key);
    key.word(leaves(x).len() as u64);
    like.structure_ref(&mut key);
    types.iter().for_each(|ty| key.leaf(ty.dtype, false, &ty.shape));
    let number = if size_of::<F>() == 0 { number_of(key) } else { fresh() };
    let name = format!("callback {number} at {location}");
    let promised = types.clone();
    let expected = paths(like, "result");
    let function = || {
        // Only the structure is kept, not the arrays.
        let hole = Array::zeros([0], tracewell_array::DType::U8);
        let inside = x.rebuild_ref(&mut |_| hole.clone());
        let on_arrays = move |arrays: &[Array]| {
            let mut next = arrays.iter();
            let x = inside.rebuild(&mut |hole| next.next().unwrap_or(hole).clone());
            let result = f(X::lend(&x));
            check_results(&result, &promised, &expected)?;
            Ok(leaves(&result).into_iter().cloned().collect())
        };
        Box::new(on_arrays) as _
    };
    let results = call(Site { name, ordered, location }, &leaves(x), types, function);
    let mut next = results.into_iter();
    like.rebuild_ref(&mut |leaf| next.next().unwrap_or_else(|| leaf.clone()))
}

/// The results of a callback are what was promised.
fn check_results<T: Tree>(found: &T, promised: &[ArrayType], expected: &[String]) -> Result<(), Error> {
    let help = "the first argument of `callback` says what its function gives: arrays of the same structure and types";
    let arrays = leaves(found);
    let given = paths(found, "result");
    if given != expected {
        let list = |paths: &[String]| {
            let quoted: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
            if quoted.is_empty() { "no array".to_string() } else { quoted.join(", ") }
        };
        let message = format!("a callback gave {}, expected {}", list(&given), list(expected));
        return Err(Error::new(ErrorKind::Structure, message).help(help));
    }
    for ((array, want), path) in arrays.into_iter().zip(promised).zip(expected) {
        if !array.ty().matches(want) {
            // A weak type is of no interest here.
            let found = ArrayType { weak: false, ..array.ty() };
            let message = format!("a callback gave {found} for `{path}`, expected {want}");
            return Err(Error::new(ErrorKind::Type, message).help(help));
        }
        if array.is_traced() {
            let message = format!("a callback gave a traced array for `{path}`");
            let help = "it is called with known arrays: compute its results from its argument";
            return Err(Error::new(ErrorKind::LeakedTracer, message).help(help));
        }
    }
    Ok(())
}

/// So many functions are remembered.
const KEPT: usize = 4096;

/// The number of a function that captures nothing, called on trees of some structure: the same each time.
fn number_of(key: Key) -> u64 {
    static NUMBERS: Mutex<Option<FxHashMap<Key, u64>>> = Mutex::new(None);
    let mut numbers = NUMBERS.lock().unwrap_or_else(PoisonError::into_inner);
    let numbers = numbers.get_or_insert_default();
    if numbers.len() >= KEPT {
        numbers.clear();
    }
    *numbers.entry(key).or_insert_with(fresh)
}

/// A number that no other function has.
fn fresh() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
