//! Trees of arrays: what traced functions take and return.
//!
//! A leaf is an [`Array`]; anything else in a tree is structure (lengths, variants, map keys) or static. A tree is
//! always rebuilt from another of the same structure, so that user types need no `Default`.

use std::collections::BTreeMap;

use tracewell_array::DType;
use tracewell_graph::Location;
use tracewell_trace::{Error, ErrorKind, Form, Value, raise};

use crate::array::{Array, Cut, Scalar, concatenate, found_by, or_raise};
use crate::key::Key;
use crate::static_arg::Static;

/// A value made of arrays. Derive it for structs and enums; mark other fields `#[tree(static)]`.
///
/// ```
/// use tracewell::prelude::*;
///
/// #[derive(Clone, Tree)]
/// struct Layer {
///     w: Array,
///     b: Array,
///     #[tree(static)]
///     name: String,
/// }
///
/// let layer = Layer { w: Array::ones([2, 2], F32), b: Array::zeros([2], F32), name: "first".into() };
/// let doubled = tree::map(&layer, |x| 2.0 * x);
/// assert_eq!(doubled.w.to_vec::<f32>().unwrap(), [2.0; 4]);
/// assert_eq!(doubled.name, "first");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tree of arrays",
    label = "not a tree of arrays",
    note = "arrays, tuples, `Vec`, `[T; N]`, `Option`, `Box` and `BTreeMap` of trees are; for your own type use `#[derive(Tree)]`",
    note = "a plain Rust value is not traced: mark the parameter `#[static_arg]`, or take a `Scalar`"
)]
pub trait Tree: Sized + Send + Sync + 'static {
    /// Calls `leaf` with every array, in a fixed order.
    fn visit<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array));

    /// The same for a call that only reads them: numbers need no memory.
    #[doc(hidden)]
    fn read<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array)) {
        self.visit(leaf);
    }

    /// The same structure with other arrays: `leaf` is called in the order of [`visit`](Tree::visit).
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self;

    /// Adds everything but the leaves to a key: type identities, lengths, variants, static values.
    fn structure(&self, key: &mut Key);

    /// Calls `leaf` with the path of every array, in the order of [`visit`](Tree::visit).
    fn describe(&self, path: &mut Path, leaf: &mut dyn FnMut(&Path));
}

/// Where a leaf is in a tree: `layers[0].w`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Path {
    text: String,
    /// The static values on the way, with their paths, where they are wanted.
    statics: Option<Vec<(String, String)>>,
    /// The structure seen so far, from the root to here, where it is wanted.
    grown: Option<Vec<Node>>,
}

impl Path {
    /// A path that starts with a name.
    pub fn new(root: &str) -> Path {
        Path { text: root.to_string(), statics: None, grown: None }
    }

    /// One that collects the static values of a tree as it is described.
    pub(crate) fn with_statics(root: &str) -> Path {
        Path { statics: Some(Vec::new()), ..Path::new(root) }
    }

    /// The static values found, with their paths.
    pub(crate) fn into_statics(self) -> Vec<(String, String)> {
        self.statics.unwrap_or_default()
    }

    /// At a static value, of which people may want to know.
    pub fn constant(&mut self, value: &dyn std::fmt::Debug) {
        self.is(|| Kind::Static(brief(value)));
        if let Some(statics) = &mut self.statics {
            statics.push((self.text.clone(), brief(value)));
        }
    }

    /// At a value of a type of the user's, of this name.
    pub fn record(&mut self, name: &str) {
        self.is(|| Kind::Record { name: last_name(name), variant: None });
    }

    /// Inside a field.
    pub fn field(&mut self, name: &str, inside: impl FnOnce(&mut Path)) {
        self.within(&format!(".{name}"), |path| path.part(name, inside));
    }

    /// Inside a variant of an enum.
    pub fn variant(&mut self, name: &str, inside: impl FnOnce(&mut Path)) {
        if let Some(Node { kind: Kind::Record { variant, .. }, .. }) = self.here() {
            *variant = Some(name.to_string());
        }
        self.within(&format!("::{name}"), inside);
    }

    /// Inside an element.
    pub fn index(&mut self, index: impl std::fmt::Display, inside: impl FnOnce(&mut Path)) {
        let index = index.to_string();
        self.within(&format!("[{index}]"), |path| path.part(&index, inside));
    }

    fn within(&mut self, step: &str, inside: impl FnOnce(&mut Path)) {
        let len = self.text.len();
        self.text.push_str(step);
        inside(self);
        self.text.truncate(len);
    }

    /// The structure of which this is a part, where it is wanted.
    fn here(&mut self) -> Option<&mut Node> {
        self.grown.as_mut()?.last_mut()
    }

    /// Says what is here.
    pub(crate) fn is(&mut self, kind: impl FnOnce() -> Kind) {
        if let Some(node) = self.here() {
            node.kind = kind();
        }
    }

    /// Inside a part of what is here.
    pub(crate) fn part(&mut self, name: &str, inside: impl FnOnce(&mut Path)) {
        let Some(grown) = &mut self.grown else { return inside(self) };
        grown.push(Node::default());
        inside(self);
        let part = self.grown.as_mut().and_then(Vec::pop).unwrap_or_default().form();
        if let Some(node) = self.here() {
            node.parts.push((name.to_string(), part));
        }
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// A part of a tree whose structure is being found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Node {
    kind: Kind,
    parts: Vec<(String, Form<()>)>,
}

/// What a part of a tree is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Kind {
    /// An array, unless it has parts: then something that does not say what it is.
    #[default]
    Unknown,
    Tuple,
    List,
    Optional,
    Map,
    Record {
        name: String,
        variant: Option<String>,
    },
    Static(String),
}

impl Node {
    fn form(self) -> Form<()> {
        let Node { kind, parts } = self;
        let all_static = !parts.is_empty() && parts.iter().all(|(_, part)| matches!(part, Form::Static(_)));
        let unnamed = |parts: Vec<(String, Form<()>)>| parts.into_iter().map(|(_, part)| part).collect();
        match kind {
            Kind::Unknown if parts.is_empty() => Form::Leaf(()),
            Kind::Unknown if all_static => {
                let texts = parts.iter().map(|(name, part)| match part {
                    Form::Static(text) => format!("{name}: {text}"),
                    _ => String::new(),
                });
                Form::Static(texts.collect::<Vec<_>>().join(", "))
            }
            Kind::Unknown => Form::Record { name: "Node".to_string(), variant: None, fields: parts },
            Kind::Tuple => Form::Tuple(unnamed(parts)),
            Kind::List => Form::List(unnamed(parts)),
            Kind::Optional => Form::Optional(parts.into_iter().next().map(|(_, part)| Box::new(part))),
            Kind::Map => Form::Map(parts),
            Kind::Record { name, variant } => Form::Record { name, variant, fields: parts },
            Kind::Static(text) => Form::Static(text),
        }
    }
}

/// The last name of a type's path, without generics.
fn last_name(path: &str) -> String {
    let plain = path.split('<').next().unwrap_or(path);
    plain.rsplit("::").next().unwrap_or(plain).to_string()
}

/// The structure of a tree, with its values.
pub(crate) fn form<T: TreeRef + ?Sized>(tree: &T) -> Form<Value> {
    let mut path = Path { grown: Some(vec![Node::default()]), ..Path::default() };
    tree.describe_ref(&mut path, &mut |_| {});
    let found = path.grown.and_then(|mut grown| grown.pop()).unwrap_or_default().form();
    let mut next = leaves(tree).into_iter();
    found.map(&mut |()| match next.next() {
        Some(array) => array.value().clone(),
        None => Array::zeros([0], DType::U8).value().clone(),
    })
}

/// A value as people write it, cut where it is long.
pub(crate) fn brief(value: &dyn std::fmt::Debug) -> String {
    /// Stops the writer when there is enough.
    struct Cut(String);
    impl std::fmt::Write for Cut {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.push_str(text);
            if self.0.len() > LONGEST { Err(std::fmt::Error) } else { Ok(()) }
        }
    }
    const LONGEST: usize = 100;
    let mut cut = Cut(String::new());
    match std::fmt::write(&mut cut, format_args!("{value:?}")) {
        Ok(()) => cut.0,
        Err(_) => cut.0.chars().take(LONGEST).collect::<String>() + " …",
    }
}

/// What may be lent to a traced function: any [`Tree`], and slices of trees.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tree of arrays",
    label = "not a tree of arrays",
    note = "arrays, tuples, `Vec`, slices, `[T; N]`, `Option`, `Box` and `BTreeMap` of trees are; for your own type use `#[derive(Tree)]`",
    note = "a plain Rust value is not traced: mark the parameter `#[static_arg]`, or take a `Scalar`"
)]
pub trait TreeRef {
    /// What holds the tracers inside.
    type Owned: Tree;
    /// See [`Tree::visit`].
    fn visit_ref<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array));
    /// See [`Tree::read`].
    #[doc(hidden)]
    fn read_ref<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array)) {
        self.visit_ref(leaf);
    }
    /// See [`Tree::rebuild`].
    fn rebuild_ref(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self::Owned;
    /// See [`Tree::structure`].
    fn structure_ref(&self, key: &mut Key);
    /// See [`Tree::describe`].
    fn describe_ref(&self, path: &mut Path, leaf: &mut dyn FnMut(&Path));
    /// Back to what is lent.
    fn lend(owned: &Self::Owned) -> &Self;
}

impl<T: Tree> TreeRef for T {
    type Owned = T;
    fn visit_ref<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array)) {
        self.visit(leaf);
    }
    fn read_ref<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array)) {
        self.read(leaf);
    }
    fn rebuild_ref(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> T {
        self.rebuild(leaf)
    }
    fn structure_ref(&self, key: &mut Key) {
        self.structure(key);
    }
    fn describe_ref(&self, path: &mut Path, leaf: &mut dyn FnMut(&Path)) {
        self.describe(path, leaf);
    }
    fn lend(owned: &T) -> &T {
        owned
    }
}

impl<T: Tree> TreeRef for [T] {
    type Owned = Vec<T>;
    fn visit_ref<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array)) {
        self.iter().for_each(|t| t.visit(leaf));
    }
    fn rebuild_ref(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Vec<T> {
        self.iter().map(|t| t.rebuild(leaf)).collect()
    }
    fn structure_ref(&self, key: &mut Key) {
        key.node::<[T]>();
        key.word(self.len() as u64);
        self.iter().for_each(|t| t.structure(key));
    }
    fn describe_ref(&self, path: &mut Path, leaf: &mut dyn FnMut(&Path)) {
        path.is(|| Kind::List);
        self.iter().enumerate().for_each(|(i, t)| path.index(i, |path| t.describe(path, leaf)));
    }
    fn lend(owned: &Vec<T>) -> &[T] {
        owned
    }
}

impl Tree for Array {
    fn visit<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array)) {
        leaf(self);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Array {
        leaf(self)
    }
    fn structure(&self, _: &mut Key) {}
    fn describe(&self, path: &mut Path, leaf: &mut dyn FnMut(&Path)) {
        leaf(path);
    }
}

impl Tree for Scalar {
    fn visit<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array)) {
        leaf(self);
    }
    fn read<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array)) {
        leaf(Scalar::read(self));
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Scalar {
        Scalar::wrap(leaf(self))
    }
    fn structure(&self, key: &mut Key) {
        key.node::<Scalar>();
    }
    fn describe(&self, path: &mut Path, leaf: &mut dyn FnMut(&Path)) {
        leaf(path);
    }
}

impl<T: Tree> Tree for Vec<T> {
    fn visit<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array)) {
        self.as_slice().visit_ref(leaf);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Vec<T> {
        self.as_slice().rebuild_ref(leaf)
    }
    fn structure(&self, key: &mut Key) {
        self.as_slice().structure_ref(key);
    }
    fn describe(&self, path: &mut Path, leaf: &mut dyn FnMut(&Path)) {
        self.as_slice().describe_ref(path, leaf);
    }
}

impl<T: Tree, const N: usize> Tree for [T; N] {
    fn visit<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array)) {
        self.iter().for_each(|t| t.visit(leaf));
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> [T; N] {
        std::array::from_fn(|i| self[i].rebuild(leaf))
    }
    fn structure(&self, key: &mut Key) {
        key.node::<[T; N]>();
        self.iter().for_each(|t| t.structure(key));
    }
    fn describe(&self, path: &mut Path, leaf: &mut dyn FnMut(&Path)) {
        self.as_slice().describe_ref(path, leaf);
    }
}

impl<T: Tree> Tree for Option<T> {
    fn visit<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array)) {
        self.iter().for_each(|t| t.visit(leaf));
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Option<T> {
        self.as_ref().map(|t| t.rebuild(leaf))
    }
    fn structure(&self, key: &mut Key) {
        key.node::<Option<T>>();
        key.word(self.is_some() as u64);
        self.iter().for_each(|t| t.structure(key));
    }
    fn describe(&self, path: &mut Path, leaf: &mut dyn FnMut(&Path)) {
        path.is(|| Kind::Optional);
        self.iter().for_each(|t| path.part("", |path| t.describe(path, leaf)));
    }
}

impl<T: Tree> Tree for Box<T> {
    fn visit<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array)) {
        (**self).visit(leaf);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Box<T> {
        Box::new((**self).rebuild(leaf))
    }
    fn structure(&self, key: &mut Key) {
        (**self).structure(key);
    }
    fn describe(&self, path: &mut Path, leaf: &mut dyn FnMut(&Path)) {
        (**self).describe(path, leaf);
    }
}

impl<K: Static + Ord, T: Tree> Tree for BTreeMap<K, T> {
    fn visit<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array)) {
        self.values().for_each(|t| t.visit(leaf));
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> BTreeMap<K, T> {
        self.iter().map(|(k, t)| (k.clone(), t.rebuild(leaf))).collect()
    }
    fn structure(&self, key: &mut Key) {
        key.node::<BTreeMap<K, T>>();
        key.word(self.len() as u64);
        for (k, t) in self {
            k.key(key);
            t.structure(key);
        }
    }
    fn describe(&self, path: &mut Path, leaf: &mut dyn FnMut(&Path)) {
        path.is(|| Kind::Map);
        self.iter().for_each(|(k, t)| path.index(format!("{k:?}"), |path| t.describe(path, leaf)));
    }
}

impl Tree for () {
    fn visit<'t>(&'t self, _: &mut dyn FnMut(&'t Array)) {}
    fn rebuild(&self, _: &mut dyn FnMut(&Array) -> Array) {}
    fn structure(&self, _: &mut Key) {}
    fn describe(&self, path: &mut Path, _: &mut dyn FnMut(&Path)) {
        path.is(|| Kind::Tuple);
    }
}

macro_rules! tuple_tree {
    ($($T:ident $i:tt),*) => {
        impl<$($T: Tree),*> Tree for ($($T,)*) {
            fn visit<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array)) {
                $(self.$i.visit(leaf);)*
            }
            fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
                ($(self.$i.rebuild(leaf),)*)
            }
            fn structure(&self, key: &mut Key) {
                key.node::<Self>();
                $(self.$i.structure(key);)*
            }
            fn describe(&self, path: &mut Path, leaf: &mut dyn FnMut(&Path)) {
                path.is(|| Kind::Tuple);
                $(path.field(stringify!($i), |path| self.$i.describe(path, leaf));)*
            }
        }
    };
}
tuple_tree!(A 0);
tuple_tree!(A 0, B 1);
tuple_tree!(A 0, B 1, C 2);
tuple_tree!(A 0, B 1, C 2, D 3);
tuple_tree!(A 0, B 1, C 2, D 3, E 4);
tuple_tree!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple_tree!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple_tree!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);

/// The arrays of a tree, in order.
pub fn leaves<T: TreeRef + ?Sized>(tree: &T) -> Vec<&Array> {
    let mut all = Vec::new();
    tree.visit_ref(&mut |leaf| all.push(leaf));
    all
}

/// Applies a function to every array.
pub fn map<T: TreeRef + ?Sized>(tree: &T, mut f: impl FnMut(&Array) -> Array) -> T::Owned {
    tree.rebuild_ref(&mut f)
}

/// Applies a function to pairs of arrays of two trees of one structure.
#[track_caller]
pub fn map2<T: TreeRef + ?Sized, U: TreeRef + ?Sized>(
    a: &T,
    b: &U,
    mut f: impl FnMut(&Array, &Array) -> Array,
) -> T::Owned {
    or_raise(check_pairs(&paths(a, "tree"), &paths(b, "tree")), &Location::caller());
    let mut right = leaves(b).into_iter();
    a.rebuild_ref(&mut |x| match right.next() {
        Some(y) => f(x, y),
        None => x.clone(),
    })
}

/// Trees whose arrays have these paths go together.
pub(crate) fn check_pairs(left: &[String], right: &[String]) -> Result<(), Error> {
    if left.len() == right.len() {
        return Ok(());
    }
    let message = format!(
        "`map2` takes two trees of one structure, found {} and {} arrays: {}",
        left.len(),
        right.len(),
        odd_one("the first", left, "the second", right)
    );
    let error = Error::new(ErrorKind::Structure, message).help("make one from the other with `tree::map`");
    Err(found_by(error, "map2", &[], &[&left.join("\n"), &right.join("\n")]))
}

/// The arrays of a tree, in order; [`unflatten`] puts others in their places.
///
/// ```
/// use tracewell::prelude::*;
///
/// let p = (Array::from(1.0f32), vec![Array::from(2.0f32)]);
/// let arrays = tree::flatten(&p);
/// let swapped = tree::unflatten(&p, arrays.into_iter().rev().collect());
/// assert_eq!((swapped.0.item::<f32>(), swapped.1[0].item::<f32>()), (2.0, 1.0));
/// ```
pub fn flatten<T: TreeRef + ?Sized>(tree: &T) -> Vec<Array> {
    leaves(tree).into_iter().cloned().collect()
}

/// A tree of the structure of another, with these arrays in order; their types may be others.
#[track_caller]
pub fn unflatten<T: TreeRef + ?Sized>(like: &T, arrays: Vec<Array>) -> T::Owned {
    let location = Location::caller();
    let count = leaves(like).len();
    if count != arrays.len() {
        let message =
            format!("`unflatten` takes one array for each of the tree's {count}, found {}", arrays.len());
        let error = Error::new(ErrorKind::Structure, message);
        raise(error, &location);
    }
    let mut next = arrays.into_iter();
    like.rebuild_ref(&mut |leaf| next.next().unwrap_or_else(|| leaf.clone()))
}

/// All elements of a tree's arrays, one array after the other along one axis, and the way back.
///
/// The arrays must be of one element type. Both ways can be traced and differentiated.
///
/// ```
/// use tracewell::prelude::*;
///
/// let p = (Array::ones([2, 2], F32), vec![Array::from(5.0f32)]);
/// let (flat, unravel) = tree::ravel(&p);
/// assert_eq!(flat.to_string(), "[1. 1. 1. 1. 5.]");
/// let doubled = unravel(&(2.0 * flat));
/// assert_eq!(doubled.1[0].item::<f32>(), 10.0);
/// ```
#[track_caller]
pub fn ravel<T: TreeRef + ?Sized>(tree: &T) -> (Array, impl Fn(&Array) -> T::Owned + use<T>) {
    let location = Location::caller();
    let arrays = leaves(tree);
    let types: Vec<_> = arrays.iter().map(|array| array.ty()).collect();
    let first = types.first().map_or(DType::F32, |ty| ty.dtype);
    if let Some((ty, path)) = types.iter().zip(paths(tree, "x")).find(|(ty, _)| ty.dtype != first) {
        let message = format!("`ravel` takes a tree of one element type, found {first} and `{path}` of {ty}");
        raise(
            Error::new(ErrorKind::Type, message).help("`convert` the others with `tree::map` first"),
            &location,
        );
    }
    let flat: Vec<Array> = arrays.iter().map(|array| array.ravel()).collect();
    let whole = if flat.is_empty() { Array::zeros([0], first) } else { concatenate(&flat, 0) };
    let (like, count) = (tree.rebuild_ref(&mut Clone::clone), whole.len());
    let back = move |flat: &Array| {
        if *flat.shape() != [count] {
            let message =
                format!("the inverse of `ravel` takes {count} elements along one axis, found {}", flat.ty());
            raise(Error::new(ErrorKind::Type, message).note("it was made at this line"), &location);
        }
        let mut start = 0;
        like.rebuild(&mut |leaf| {
            let part = flat.slice([Cut::from(start..start + leaf.len())]);
            start += leaf.len();
            part.reshape(leaf.shape().clone())
        })
    };
    (whole, back)
}

/// Checks that a tree has the structure and types of another: a tangent those of the argument, a cotangent those
/// of the result. `part` and `whole` name them, `root` is the name of the whole.
pub(crate) fn check_like<T: TreeRef + ?Sized, U: TreeRef + ?Sized>(
    (part, whole, root): (&str, &str, &str),
    like: &T,
    found: &U,
) -> Result<(), Error> {
    let help = format!("a {part} has the structure and types of the {whole}: `tree::map` makes one from it");
    let (expected, given) = (paths(like, root), paths(found, root));
    if expected != given {
        let odd = odd_one(&format!("the {whole}"), &expected, &format!("the {part}"), &given);
        let message = format!("the {part} has another structure than the {whole}: {odd}");
        return Err(Error::new(ErrorKind::Structure, message).help(help));
    }
    for ((want, have), path) in leaves(like).into_iter().zip(leaves(found)).zip(expected) {
        if !want.ty().matches(&have.ty()) {
            let message = format!("the {part} of `{path}` must be {}, found {}", want.ty(), have.ty());
            return Err(Error::new(ErrorKind::Type, message).help(help));
        }
    }
    Ok(())
}

/// The first array that only one of two trees has, in words.
pub(crate) fn odd_one(first_name: &str, first: &[String], second_name: &str, second: &[String]) -> String {
    let missing = |of: &[String], path: &&String| !of.contains(path);
    match (first.iter().find(|p| missing(second, p)), second.iter().find(|p| missing(first, p))) {
        (Some(path), _) => format!("only {first_name} has `{path}`"),
        (None, Some(path)) => format!("only {second_name} has `{path}`"),
        (None, None) => "their arrays are in another order".to_string(),
    }
}

/// The paths of a tree's arrays, in order, under a root name.
pub(crate) fn paths<T: TreeRef + ?Sized>(tree: &T, root: &str) -> Vec<String> {
    let mut all = Vec::new();
    tree.describe_ref(&mut Path::new(root), &mut |path| all.push(path.as_str().to_string()));
    all
}
