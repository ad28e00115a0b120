//! A primitive is named in its own room and where programs are made of it, nowhere else: walks, passes and
//! later stages ask for its rules. Tests may name what they like.
//!
//! Seen are `prim::Name`, `Prim::Name` and lists after `prim::{`, for the names of the list in the room's
//! `mod.rs`. A name that came in by `prim::*` is not seen, so that is not allowed either. Within a room, `super::`
//! reaches the others.

use super::source::{braces, is_word, line, name, occurrences};
use super::tree::{Finding, Tree};

const LIST: &str = "crates/graph/src/prim/mod.rs";

/// Where primitives are named, and why. A path that ends in `/` stands for all below it.
const ALLOWED: &[(&str, &str)] = &[
    ("crates/graph/src/prim/", "where they live"),
    (
        "crates/graph/src/apart.rs",
        "complex numbers are put together and taken apart by `complex`, `real` and `imag`; control flow runs on parts",
    ),
    ("crates/graph/src/builder.rs", "a concrete array enters a graph as `constant`"),
    ("crates/graph/src/primitive.rs", "an operand without the batch axis is repeated by `broadcast`"),
    ("crates/transform/src/accumulate.rs", "a sum of cotangents needs one `add`"),
    (
        "crates/transform/src/contract.rs",
        "contraction is about products and sums, and enters what is called, computed again or linear",
    ),
    ("crates/optimize/src/control/", "what control flow runs, and with which operands, is its own"),
    ("crates/fuse/src/link/bands.rs", "what goes through a `scan` by rows or turns is cut into bands"),
    ("crates/fuse/src/link/control.rs", "each kind of control flow is other loops"),
    ("crates/optimize/src/fold.rs", "what was computed is a `constant`"),
    (
        "crates/optimize/src/narrow/columns.rs",
        "arrays are taken apart by `slice` and put together by `concatenate`",
    ),
    ("crates/optimize/src/rules/", "rewrites are about certain primitives"),
    (
        "crates/optimize/src/slabs.rs",
        "`conv` is what takes images one by one; slabs are cut by `reshape` and taken in turn by `scan`",
    ),
    (
        "crates/graph/src/effects.rs",
        "an ordered `callback` is an effect; rules of `custom_jvp` wait for derivatives",
    ),
    (
        "crates/tracewell/src/executor.rs",
        "a literal enters an eager program as a scalar, repeated by `broadcast`; a `callback` is called",
    ),
    (
        "crates/repro/src/reduce/values.rs",
        "what may never end or has effects is not evaluated; loops cost their turns",
    ),
    ("crates/tracewell/src/jit/call.rs", "a jitted function that is called inside a trace is a `call`"),
    (
        "crates/tracewell/src/primitive.rs",
        "the rules of a primitive that is defined by others are those of `call`",
    ),
    ("crates/tracewell/src/array/", "the methods of `Array` are made of them"),
    ("crates/tracewell/src/control/", "branches and loops of the face are these primitives"),
    ("crates/tracewell/src/effects/", "a Rust function that a graph calls is a `callback`"),
    ("crates/tracewell/src/checks/values.rs", "what is inside of a `call` is looked at one by one"),
    (
        "crates/tracewell/src/stepping.rs",
        "what ran as a whole is a `call`, and what is inside of one runs one by one",
    ),
    (
        "crates/tracewell/src/repro/stand_in.rs",
        "a user's primitive is stood in for by a `call`, a `callback` by another",
    ),
    (
        "crates/tracewell/src/repro/again.rs",
        "a user's primitive runs again as a `callback`, also inside of a `call`",
    ),
    ("crates/tracewell/src/linalg/factors.rs", "factorizations of the face are these primitives"),
    ("crates/tracewell/src/products/", "sums of products are made of `dot_general`"),
    ("crates/tracewell/src/random/", "random numbers are made of them"),
    ("crates/tracewell/src/transform/", "jacobians and the like put arrays together"),
    ("crates/tracewell/src/windows/", "convolutions and windows of the face are these primitives"),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let names = tree.file(LIST).map_or_else(Vec::new, |file| primitives(&file.text));
    if names.is_empty() {
        return vec![Finding::new(LIST, 1, "no list `primitives! { Name \"name\", … }` was found here")];
    }
    let mut findings = Vec::new();
    let mut used = vec![false; ALLOWED.len()];
    for file in tree.rust().filter(|file| !tree.is_test(file)) {
        let code = &file.source().product;
        let allowed = ALLOWED.iter().position(|(path, _)| file.path == *path || below(path, &file.path));
        for (at, what) in named(code) {
            if what != "*" && !names.iter().any(|name| name == what) {
                continue;
            }
            match allowed {
                Some(entry) => used[entry] = true,
                None => findings.push(Finding::new(
                    &file.path,
                    line(code, at),
                    format!(
                        "the primitive `{what}` is named outside its room: ask its rules instead, \
                         or add the file to xtask/src/tidy/rooms.rs with the reason"
                    ),
                )),
            }
        }
    }
    for ((path, _), _) in ALLOWED.iter().zip(used).filter(|((path, _), used)| !used && !path.ends_with('/')) {
        let message = format!("`{path}` names no primitive any more: remove it from the list");
        findings.push(Finding::new("xtask/src/tidy/rooms.rs", 1, message));
    }
    findings
}

fn below(folder: &str, path: &str) -> bool {
    folder.ends_with('/') && path.starts_with(folder)
}

/// The first words of the entries of `primitives! { Name "name", … }`.
fn primitives(text: &str) -> Vec<String> {
    let Some(start) = text.find("\nprimitives! {") else { return Vec::new() };
    let list = &text[start + "\nprimitives! ".len()..];
    let list = &list[1..braces(list).saturating_sub(1)];
    let entries =
        list.lines().map(|line| line.split("//").next().unwrap_or(line)).flat_map(|line| line.split(','));
    entries.map(|entry| name(entry.trim()).to_string()).filter(|name| !name.is_empty()).collect()
}

/// Everything that is named after `prim::` or `Prim::`, with its place.
fn named(code: &str) -> Vec<(usize, &str)> {
    let mut all = Vec::new();
    for path in ["prim::", "Prim::"] {
        for at in occurrences(code, path) {
            let rest = &code[at + path.len()..];
            if rest.starts_with('{') {
                let list = &rest[..braces(rest)];
                let starts =
                    list.char_indices().filter(|&(i, c)| is_word(c) && !list[..i].ends_with(is_word));
                all.extend(starts.map(|(i, _)| (at + path.len() + i, name(&list[i..]))));
                all.extend(list.find('*').map(|i| (at + path.len() + i, "*")));
            } else {
                let what = if rest.starts_with('*') { "*" } else { name(rest) };
                all.push((at, what));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: &str = "macro_rules! primitives { () => {} }\n\nprimitives! {\n    Add \"add\", // sums\n    Sin \"sin\",\n}\n";

    fn found(path: &str, text: &str) -> Vec<String> {
        let mut files: Vec<(&str, &str)> = vec![(LIST, ROOM), (path, text)];
        // Every exception is in use, so that only what is asked about is found.
        let exact = ALLOWED.iter().filter(|(allowed, _)| !allowed.ends_with('/') && *allowed != path);
        files.extend(exact.map(|(path, _)| (*path, "prim::Add")));
        check(&Tree::fake(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_list_is_read() {
        assert_eq!(primitives(ROOM), ["Add", "Sin"]);
    }

    #[test]
    fn names_outside_their_room_are_found() {
        for (text, at, what) in [
            ("\nprim::Add {}", 2, "Add"),
            ("matches!(p, Prim::Sin(_))", 1, "Sin"),
            ("use g::prim::{\n    Prim,\n    Add,\n};", 3, "Add"),
            ("use g::prim::*;", 1, "*"),
        ] {
            let found = found("crates/fuse/src/lib.rs", text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(
                found[0].starts_with(&format!("crates/fuse/src/lib.rs:{at}: the primitive `{what}`")),
                "{found:?}"
            );
        }
    }

    #[test]
    fn rooms_tests_and_other_names_are_free() {
        for (path, text) in [
            ("crates/graph/src/prim/sin.rs", "use super::super::prim::Add;"),
            ("crates/optimize/src/rules/zero.rs", "use tracewell_graph::prim::{Add, Sin};"),
            (
                "crates/fuse/src/lib.rs",
                "Prim::Custom(_); Prim::NAMES; use g::prim::{self, Prim}; prim::$Prim {}",
            ),
            ("crates/fuse/src/lib.rs", "#[cfg(test)]\nmod tests { use g::prim::*; }\n// prim::Add"),
            ("crates/fuse/tests/all.rs", "use g::prim::*;"),
        ] {
            assert_eq!(found(path, text), Vec::<String>::new(), "{text}");
        }
    }
}
