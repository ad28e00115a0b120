//! Random numbers from explicit keys.
//!
//! A [`Key`] is data: two words, from which every number is a function. The same key gives the same numbers, on any
//! number of threads, compiled or not, and the same bits as JAX with its default generator (Threefry-2×32). So a key
//! is used once: [`split`] it to get more, or [`fold_in`] a number. [`checking_keys`](crate::checking_keys) finds a key
//! that is used twice.
//!
//! ```
//! use tracewell::prelude::*;
//!
//! let key = random::key(0);
//! let [weights, noise] = random::split(&key);
//! let w = random::normal(&weights, [2, 3], F32);
//! let x = random::uniform(&noise, [3], F32);
//! assert_eq!(w.dot(&x).shape().to_string(), "[2]");
//! assert_eq!(random::bits(&key, [2], U32).to_string(), "[4070199207 4202968722]");
//! ```

mod bits;
mod floats;
mod integers;

pub use bits::{bits, fold_in, key, split, split_n};
pub(crate) use floats::check_float;
pub use floats::{
    bernoulli, categorical, exponential, gumbel, laplace, normal, truncated_normal, uniform, uniform_in,
};
pub use integers::{choice, choice_weighted, permutation, randint, shuffle};

use tracewell_graph::Location;
use tracewell_graph::prim::Call;
use tracewell_trace::{Api, Argument, Error, ErrorKind, is_idle, is_observed, stage};

use crate::array::{Array, apply, found_by, or_raise};
use crate::key::Key as Structure;
use crate::tree::{Path, Tree};

/// What random numbers are made of: a tree of one `u32[2]`, so that it passes through `jit!`, `vmap` and `scan`. Many
/// keys are one `Key` with more axes in front, as `vmap` takes them.
#[derive(Clone, Debug)]
pub struct Key {
    words: Array,
}

impl Key {
    /// A key of two words.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let key = random::Key::from_words(&Array::from([0u32, 42]));
    /// assert_eq!(key.words().to_string(), random::key(42).words().to_string());
    /// ```
    #[track_caller]
    pub fn from_words(words: &Array) -> Key {
        let ty = words.ty();
        if ty.dtype != crate::U32 || ty.shape.iter().next_back() != Some(2) {
            let message = format!("a key is made of u32[2], found {ty}");
            let error =
                Error::new(ErrorKind::Type, message).help("`random::key(seed)` makes one of a number");
            or_raise(Err(found_by(error, "key", &[words], &[])), &Location::caller())
        }
        Key { words: words.clone() }
    }

    /// Its two words.
    pub fn words(&self) -> &Array {
        &self.words
    }
}

impl Tree for Key {
    fn visit<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array)) {
        leaf(&self.words);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Key {
        Key { words: leaf(&self.words) }
    }
    fn structure(&self, key: &mut Structure) {
        key.node::<Key>();
    }
    fn describe(&self, path: &mut Path, leaf: &mut dyn FnMut(&Path)) {
        leaf(path);
    }
}

/// What is drawn with a key, which is used up by it. Where nothing is traced it is one program, so that no array of
/// bits is made on the way; inside a trace it is part of that.
fn drawn(
    name: &str,
    key: &Key,
    others: &[&Array],
    location: &Location,
    draw: impl Fn(&Array, &[Array]) -> Array,
) -> Array {
    or_raise(crate::checks::use_key(key.words(), location), location);
    let rank = key.words.rank();
    if rank != 1 {
        let message = format!("one key is used here, found {} of them", key.words.ty());
        let error = Error::new(ErrorKind::Type, message).help("`vmap` over the keys");
        or_raise(Err(found_by(error, "one_key", &[&key.words], &[])), location)
    }
    let others: Vec<Array> = others.iter().map(|&x| x.clone()).collect();
    if !is_idle() || is_observed() {
        return draw(&key.words, &others);
    }
    let operands: Vec<Array> = std::iter::once(&key.words).chain(&others).cloned().collect();
    let argument = |(i, x): (usize, &Array)| Argument { name: format!("x{i}"), ty: x.ty(), value: None };
    let arguments: Vec<Argument> = operands.iter().enumerate().map(argument).collect();
    let staged = stage(Api::Jit, Some(name), location, &arguments, |tracers| {
        let inside: Vec<Array> = tracers.iter().map(|x| Array::from_value(x.clone())).collect();
        Ok(vec![draw(&inside[0], &inside[1..]).value().clone()])
    });
    let graph = std::sync::Arc::new(or_raise(staged, location).graph);
    let values: Vec<_> = operands.iter().map(|x| x.value().clone()).collect();
    apply(Call { graph }, &values, location)
}
