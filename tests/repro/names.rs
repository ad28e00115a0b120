//! Whatever names and texts a program has: its repro reads back, its program is Rust, and it fails as it did.

use std::sync::Arc;

use tracewell::observe::Form;
use tracewell::prelude::*;
use tracewell::repro::{self, CallTree, Repro, Statement};
use tracewell_repro::Body;

/// Names that no program has, and some that it may have.
const ODD: &[&str] = &[
    "two\nlines",
    "two\r\nlines",
    "\r",
    "a \"quoted\" one",
    "'",
    "\\",
    "\\n\\",
    "*/ fn main() { /*",
    "// x",
    "/// x",
    "#![x]",
    "{}",
    "{",
    "}}",
    "größe",
    "名前",
    "a\u{202e}b",
    "\u{2028}",
    "\0\u{7}\u{1b}[31m",
    "type",
    "r#type",
    "Self",
    "self",
    "_",
    "",
    " ",
    "1st",
    "+5",
    "-5",
    "Array",
    "Vec",
    "F32",
    "$0",
    "%0",
    "../../etc/passwd",
    "`x`",
    "\u{10ffff}",
];

#[derive(Clone, Tree)]
struct Weights {
    first: Array,
    second: Array,
    #[tree(static)]
    name: String,
}

#[derive(Clone, Tree)]
enum Kind {
    One(Array),
    Two { first: Array, second: Array },
}

/// A tree of which the names are those given.
fn renamed(tree: &CallTree, odd: &str) -> CallTree {
    let mut tree = tree.clone();
    tree.main = Body { name: None, ..body(&tree.main, odd) };
    tree.stand_ins = vec![odd.to_string()];
    tree.settings.push((odd.to_string(), odd.to_string()));
    if let Some(failure) = &mut tree.failure {
        failure.message = odd.to_string();
    }
    tree
}

fn body(inner: &Body, odd: &str) -> Body {
    let mut made = inner.clone();
    made.name = Some(odd.to_string());
    made.location.file = odd.to_string().into();
    made.forms = made.forms.iter().map(|(_, part)| (odd.to_string(), form(part, odd))).collect();
    made.returned = made.returned.as_ref().map(|part| form(part, odd));
    for statement in &mut made.statements {
        match statement {
            Statement::Api(call) => {
                let call = Arc::make_mut(call);
                call.function = Some(odd.to_string());
                call.location.file = odd.to_string().into();
                call.bodies = call.bodies.iter().map(|inner| Arc::new(body(inner, odd))).collect();
                call.arguments.iter_mut().for_each(|(_, part)| *part = form(part, odd));
                call.results = call.results.as_ref().map(|part| form(part, odd));
            }
            Statement::Bind(bind) => bind.location.file = odd.to_string().into(),
            Statement::Ask { location, .. } | Statement::Call { location, .. } => {
                location.file = odd.to_string().into();
            }
            Statement::Raise { message, location, .. } => {
                *message = odd.to_string();
                location.file = odd.to_string().into();
            }
            Statement::Panic { text } => *text = odd.to_string(),
        }
    }
    made
}

fn form<T: Clone>(part: &Form<T>, odd: &str) -> Form<T> {
    // Two names stay two, though what sets them apart is nothing that a name of a program has.
    let fields = |all: &[(String, Form<T>)]| {
        let named = |(i, (_, part)): (usize, &(String, Form<T>))| {
            let apart = ["", "!", "?", "#"][i];
            (format!("{odd}{apart}"), form(part, odd))
        };
        all.iter().enumerate().map(named).collect()
    };
    match part {
        Form::Leaf(leaf) => Form::Leaf(leaf.clone()),
        Form::Tuple(parts) => Form::Tuple(parts.iter().map(|part| form(part, odd)).collect()),
        Form::List(parts) => Form::List(parts.iter().map(|part| form(part, odd)).collect()),
        Form::Optional(part) => Form::Optional(part.as_ref().map(|part| Box::new(form(part, odd)))),
        Form::Map(parts) => Form::Map(fields(parts)),
        Form::Record { variant, fields: all, .. } => {
            let variant = variant.as_ref().map(|_| odd.to_string());
            Form::Record { name: odd.to_string(), variant, fields: fields(all) }
        }
        Form::Static(_) => Form::Static(odd.to_string()),
    }
}

/// Programs with all that has a name: functions, structs, enums, maps, static arguments, texts.
fn programs() -> Vec<Repro> {
    let ones = || Array::ones([2], F32);
    let weights = || Weights { first: ones(), second: ones(), name: "plain".into() };
    let maps = || std::collections::BTreeMap::from([("a".to_string(), ones()), ("b".to_string(), ones())]);
    let inner = |w: &Weights| {
        let sum =
            scan(Kind::Two { first: w.first.clone(), second: w.second.clone() }, &ones(), |k, x| match k {
                Kind::Two { first, second } => (Kind::Two { first: first * x, second: second.sin() }, ()),
                Kind::One(x) => (Kind::One(x.clone()), ()),
            });
        let Kind::Two { first, second } = sum.0 else { unreachable!("it stays what it is") };
        first.dot(&second)
    };
    let collect =
        |run: &dyn Fn()| repro::collect(|| std::panic::catch_unwind(std::panic::AssertUnwindSafe(run))).1;
    let all = vec![
        collect(&|| drop(grad(|w: &Weights| inner(w).reshape([7]))(&weights()))),
        collect(&|| {
            drop(
                jit(|m: &std::collections::BTreeMap<String, Array>| &m["a"] + m["b"].reshape([7]))
                    .call(&maps()),
            )
        }),
        collect(&|| {
            jit(|x: &Array| -> Array { panic!("no {} here", x.rank()) }).call(&ones());
        }),
        collect(&|| {
            vmap(|x: &Array| if x.item::<f32>() > 0.0 { x.sin() } else { x.cos() })(&ones());
        }),
        collect(&|| repro::fail("Io", "it is gone")),
    ];
    assert!(all.iter().all(|repro| repro.failure().is_some()));
    all
}

#[test]
fn odd_names_read_back_and_are_rust() {
    let folder = std::env::temp_dir().join(format!("tracewell-names-{}", std::process::id()));
    for (number, plain) in programs().into_iter().enumerate() {
        for odd in ODD {
            let repro = Repro::new(renamed(plain.tree(), odd));
            let what = format!("program {number} with {odd:?}");
            let saved = repro.save(&folder).unwrap();
            assert_eq!(saved.parent(), Some(folder.as_path()), "{what}: outside of its folder");
            let read =
                Repro::load(&saved).unwrap_or_else(|error| panic!("{what}: {error}\n{}", repro.to_text()));
            assert_eq!(read, repro, "{what}");
            let rust = read.to_rust();
            let parsed = syn::parse_file(&rust).unwrap_or_else(|error| panic!("{what}: {error}\n{rust}"));
            names_are_told_apart(&parsed, &format!("{what}:\n{rust}"));
            // Whatever it is called, it does the same.
            let failed = read.replay().unwrap_or_else(|| panic!("{what} does not fail:\n{}", read.to_text()));
            assert_eq!(failed.kind, plain.failure().unwrap().kind, "{what}");
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Types, and the fields of each, have names of their own.
fn names_are_told_apart(file: &syn::File, what: &str) {
    let one_each = |names: Vec<String>| {
        let mut unique = names.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), names.len(), "{names:?} in {what}");
    };
    let fields = |fields: &syn::Fields| {
        one_each(fields.iter().filter_map(|field| field.ident.as_ref()).map(ToString::to_string).collect());
    };
    let mut types = Vec::new();
    for item in &file.items {
        match item {
            syn::Item::Struct(item) => {
                types.push(item.ident.to_string());
                fields(&item.fields);
            }
            syn::Item::Enum(item) => {
                types.push(item.ident.to_string());
                one_each(item.variants.iter().map(|variant| variant.ident.to_string()).collect());
                item.variants.iter().for_each(|variant| fields(&variant.fields));
            }
            _ => {}
        }
    }
    one_each(types);
}
