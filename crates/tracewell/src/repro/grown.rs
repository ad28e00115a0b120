//! A tree whose structure is only known when a program runs: how replaying calls APIs that take trees.

use tracewell_trace::Form;

use crate::array::Array;
use crate::key::Key;
use crate::tree::{Kind, Path, Tree};

/// A tree of any structure.
#[derive(Clone, Debug)]
pub(super) struct Grown(pub(super) Form<Array>);

impl Grown {
    /// Its arrays, in order.
    pub(super) fn arrays(&self) -> Vec<Array> {
        self.0.leaves().into_iter().cloned().collect()
    }
}

fn write(form: &Form<Array>, key: &mut Key) {
    match form {
        Form::Leaf(_) => key.word(0),
        Form::Tuple(parts) => all(1, parts.iter(), key),
        Form::List(parts) => all(2, parts.iter(), key),
        Form::Optional(part) => all(3, part.iter().map(|part| &**part), key),
        Form::Map(parts) => {
            parts.iter().for_each(|(name, _)| key.text(name));
            all(4, parts.iter().map(|(_, part)| part), key);
        }
        Form::Record { name, variant, fields } => {
            key.text(name);
            key.text(variant.as_deref().unwrap_or(""));
            fields.iter().for_each(|(name, _)| key.text(name));
            all(5, fields.iter().map(|(_, part)| part), key);
        }
        Form::Static(text) => {
            key.word(6);
            key.text(text);
        }
    }
}

fn all<'f>(kind: u64, parts: impl ExactSizeIterator<Item = &'f Form<Array>>, key: &mut Key) {
    key.word(kind);
    key.word(parts.len() as u64);
    parts.for_each(|part| write(part, key));
}

fn visit<'t>(form: &'t Form<Array>, leaf: &mut dyn FnMut(&'t Array)) {
    form.leaves().into_iter().for_each(leaf);
}

fn describe(form: &Form<Array>, path: &mut Path, leaf: &mut dyn FnMut(&Path)) {
    match form {
        Form::Leaf(_) => leaf(path),
        Form::Tuple(parts) => {
            path.is(|| Kind::Tuple);
            for (i, part) in parts.iter().enumerate() {
                path.field(&i.to_string(), |path| describe(part, path, leaf));
            }
        }
        Form::List(parts) => {
            path.is(|| Kind::List);
            parts.iter().enumerate().for_each(|(i, part)| path.index(i, |path| describe(part, path, leaf)));
        }
        Form::Optional(part) => {
            path.is(|| Kind::Optional);
            part.iter().for_each(|part| path.part("", |path| describe(part, path, leaf)));
        }
        Form::Map(parts) => {
            path.is(|| Kind::Map);
            parts.iter().for_each(|(key, part)| path.index(key, |path| describe(part, path, leaf)));
        }
        Form::Record { name, variant, fields } => {
            path.record(name);
            let mut inside = |path: &mut Path| {
                for (field, part) in fields {
                    path.field(field, |path| describe(part, path, leaf));
                }
            };
            match variant {
                Some(variant) => path.variant(variant, inside),
                None => inside(path),
            }
        }
        Form::Static(text) => path.is(|| Kind::Static(text.clone())),
    }
}

impl Tree for Grown {
    fn visit<'t>(&'t self, leaf: &mut dyn FnMut(&'t Array)) {
        visit(&self.0, leaf);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Grown {
        Grown(self.0.map(leaf))
    }
    fn structure(&self, key: &mut Key) {
        key.node::<Grown>();
        write(&self.0, key);
    }
    fn describe(&self, path: &mut Path, leaf: &mut dyn FnMut(&Path)) {
        describe(&self.0, path, leaf);
    }
}
