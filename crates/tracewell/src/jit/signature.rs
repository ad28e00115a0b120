//! What a trace was made for, for people: the types, structure and static values behind a key.
//!
//! Collected while a function is traced, so that a warm call has nothing to do with it.

use std::any::type_name;

use tracewell_graph::ArrayType;

use crate::key::Key;
use crate::staging::Function;
use crate::static_arg::Static;
use crate::tree::{Path, TreeRef};

/// A function, and the arguments that one trace of it was made for.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) function: Function,
    parts: Vec<Part>,
}

/// One argument.
#[derive(Debug)]
struct Part {
    name: &'static str,
    /// Its Rust type.
    ty: &'static str,
    /// Whether two have the same structure and static values.
    key: Key,
    /// Its arrays and its static values, by their paths.
    arrays: Vec<(String, ArrayType)>,
    statics: Vec<(String, String)>,
}

impl Signature {
    /// Without arguments so far.
    pub(crate) fn new(function: Function) -> Signature {
        Signature { function, parts: Vec::new() }
    }

    /// Adds a traced argument, with the types of its arrays.
    pub(crate) fn argument<T: TreeRef + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
        types: impl Iterator<Item = ArrayType>,
    ) {
        let mut key = Key::new();
        value.structure_ref(&mut key);
        let mut path = Path::with_statics(name);
        let mut paths = Vec::new();
        value.describe_ref(&mut path, &mut |path| paths.push(path.as_str().to_string()));
        let arrays = paths.into_iter().zip(types).collect();
        self.parts.push(Part { name, ty: type_name::<T>(), key, arrays, statics: path.into_statics() });
    }

    /// Adds a static argument.
    pub(crate) fn constant<T: Static>(&mut self, name: &'static str, value: &T) {
        let mut key = Key::new();
        value.key(&mut key);
        let mut path = Path::with_statics(name);
        value.describe(&mut path);
        let (arrays, statics) = (Vec::new(), path.into_statics());
        self.parts.push(Part { name, ty: type_name::<T>(), key, arrays, statics });
    }

    /// The arrays of the last argument, by their paths.
    pub(crate) fn last_arrays(&self) -> &[(String, ArrayType)] {
        self.parts.last().map_or(&[], |part| &part.arrays)
    }

    /// Memory it holds.
    pub(crate) fn bytes(&self) -> usize {
        let bytes = |part: &Part| {
            let arrays = part.arrays.iter().map(|(path, _)| path.len() + size_of::<(String, ArrayType)>());
            let statics =
                part.statics.iter().map(|(path, text)| path.len() + text.len() + size_of::<[String; 2]>());
            size_of::<Part>() + part.key.bytes() + arrays.sum::<usize>() + statics.sum::<usize>()
        };
        self.parts.iter().map(bytes).sum()
    }

    /// What is another than in an earlier trace of the same function, in the order of the arguments.
    pub(crate) fn differences(&self, before: &Signature) -> Vec<Difference> {
        let pairs = self.parts.iter().zip(&before.parts);
        pairs.flat_map(|(now, before)| now.differences(before)).collect()
    }
}

/// Something that is another than before.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// In words, as in: `x` is f32[4] and was f32[3].
    pub(crate) text: String,
    pub(crate) help: &'static str,
    /// How far it takes two signatures apart: a structure farther than a shape.
    pub(crate) weight: usize,
}

const RUST_TYPE: &str = "each Rust type has traces of its own";
const STRUCTURE: &str = "each structure has a trace of its own: give trees of the same lengths and variants";
const SHAPE: &str = "each shape has a trace of its own: pad arrays to a common shape if there are many";
const DTYPE: &str = "each element type has a trace of its own: `convert` the array before the call";
const WEAK: &str =
    "a Rust number has a weak type, written `~`: pass either numbers or arrays, not both in turn";
const STATIC: &str =
    "each static value has a trace of its own: pass what changes often as an `Array` or a `Scalar`";

impl Part {
    fn differences(&self, before: &Part) -> Vec<Difference> {
        let name = self.name;
        let difference = |text, help| Difference { text, help, weight: 1 };
        let far = |text, help, weight| vec![Difference { text, help, weight }];
        if self.ty != before.ty {
            let text = format!("`{name}` is of type `{}` and was of type `{}`", self.ty, before.ty);
            return far(text, RUST_TYPE, 10_000);
        }
        if let Some((path, is_new)) = odd_one(&self.arrays, &before.arrays) {
            let text = format!("there is {} array `{path}`", if is_new { "a new" } else { "no longer an" });
            return far(text, STRUCTURE, 100);
        }
        let mut found = Vec::new();
        for ((path, now), (_, before)) in self.arrays.iter().zip(&before.arrays) {
            let help = match () {
                () if now.shape != before.shape => SHAPE,
                () if now.dtype != before.dtype => DTYPE,
                () if now.weak != before.weak => WEAK,
                () => continue,
            };
            found.push(difference(format!("`{path}` is {now} and was {before}"), help));
        }
        if self.key == before.key {
            return found;
        }
        let statics = self.statics.iter().zip(&before.statics);
        match statics.into_iter().find(|(now, before)| now != before) {
            Some(((path, now), (other, before))) if path == other && now != before => {
                found
                    .push(difference(format!("the static value `{path}` is {now} and was {before}"), STATIC));
            }
            // A variant without arrays, or a value that prints like another.
            _ => found.push(difference(format!("`{name}` has another structure or static value"), STRUCTURE)),
        }
        found
    }
}

/// The first array that only one of two trees has, and whether it is the first tree.
fn odd_one<'p>(now: &'p [(String, ArrayType)], before: &'p [(String, ArrayType)]) -> Option<(&'p str, bool)> {
    if now.iter().map(|(path, _)| path).eq(before.iter().map(|(path, _)| path)) {
        return None;
    }
    let missing = |path: &str, of: &[(String, ArrayType)]| of.iter().all(|(p, _)| p != path);
    let new = now.iter().find(|(path, _)| missing(path, before)).map(|(path, _)| (path.as_str(), true));
    new.or_else(|| before.iter().find(|(path, _)| missing(path, now)).map(|(path, _)| (path.as_str(), false)))
}
