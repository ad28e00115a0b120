//! The structure of a tree of arrays as data: what observers are told of trees, whose types only the face knows.

/// A tree with something in the place of each array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Form<T> {
    /// An array.
    Leaf(T),
    /// A tuple.
    Tuple(Vec<Form<T>>),
    /// A `Vec`, a slice or an array of trees.
    List(Vec<Form<T>>),
    /// An `Option`.
    Optional(Option<Box<Form<T>>>),
    /// A map, by its keys as people write them.
    Map(Vec<(String, Form<T>)>),
    /// A struct, or a variant of an enum.
    Record {
        /// The name of the type, without its path.
        name: String,
        /// The variant, of an enum.
        variant: Option<String>,
        /// Fields by name; those of a tuple struct are numbered.
        fields: Vec<(String, Form<T>)>,
    },
    /// A static value, as people write it.
    Static(String),
}

impl<T> Form<T> {
    /// No array at all.
    pub fn empty() -> Form<T> {
        Form::Tuple(Vec::new())
    }

    /// The trees in it, in order.
    pub fn children(&self) -> Vec<&Form<T>> {
        match self {
            Form::Leaf(_) | Form::Static(_) => Vec::new(),
            Form::Tuple(parts) | Form::List(parts) => parts.iter().collect(),
            Form::Optional(part) => part.iter().map(|part| &**part).collect(),
            Form::Map(parts) | Form::Record { fields: parts, .. } => {
                parts.iter().map(|(_, part)| part).collect()
            }
        }
    }

    /// What is at the leaves, in order.
    pub fn leaves(&self) -> Vec<&T> {
        let mut all = Vec::new();
        self.collect(&mut all);
        all
    }

    fn collect<'f>(&'f self, all: &mut Vec<&'f T>) {
        match self {
            Form::Leaf(leaf) => all.push(leaf),
            other => other.children().into_iter().for_each(|part| part.collect(all)),
        }
    }

    /// The same structure with something else at the leaves.
    pub fn map<U>(&self, leaf: &mut dyn FnMut(&T) -> U) -> Form<U> {
        match self {
            Form::Leaf(value) => Form::Leaf(leaf(value)),
            Form::Tuple(parts) => Form::Tuple(parts.iter().map(|part| part.map(leaf)).collect()),
            Form::List(parts) => Form::List(parts.iter().map(|part| part.map(leaf)).collect()),
            Form::Optional(part) => Form::Optional(part.as_ref().map(|part| Box::new(part.map(leaf)))),
            Form::Map(parts) => Form::Map(named(parts, leaf)),
            Form::Record { name, variant, fields } => {
                Form::Record { name: name.clone(), variant: variant.clone(), fields: named(fields, leaf) }
            }
            Form::Static(text) => Form::Static(text.clone()),
        }
    }
}

fn named<T, U>(parts: &[(String, Form<T>)], leaf: &mut dyn FnMut(&T) -> U) -> Vec<(String, Form<U>)> {
    parts.iter().map(|(name, part)| (name.clone(), part.map(leaf))).collect()
}
