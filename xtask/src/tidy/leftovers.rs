//! Nothing unfinished is left: no notes to oneself, no debugging aids, no tests that do not run.

use super::source::{line, occurrences};
use super::tree::{Finding, Tree};

/// What must not be in code, and what to do instead.
const CODE: &[(&str, &str)] = &[
    ("todo!", "write it, or return an error that says what is missing"),
    ("unimplemented!", "write it, or return an error that says what is missing"),
    ("dbg!", "remove it"),
    ("#[ignore", "make the test quick, or let it run only when RUN_SLOW=1 is set"),
    ("should_panic", "catch the panic and check its message"),
];

/// What must not be anywhere. Pieced together, so that this file holds none of them.
const NOTES: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        let source = file.source();
        for (piece, way_out) in CODE {
            for at in occurrences(&source.code, piece) {
                let message = format!("`{piece}` is left over: {way_out}");
                findings.push(Finding::new(&file.path, line(&source.code, at), message));
            }
        }
        for part in [&source.code, &source.comments] {
            notes(&file.path, part, &mut findings);
        }
    }
    for file in tree.files.iter().filter(|file| file.path.ends_with(".md") || file.path.ends_with(".toml")) {
        notes(&file.path, &file.text, &mut findings);
    }
    findings
}

fn notes(path: &str, text: &str, findings: &mut Vec<Finding>) {
    for note in NOTES {
        for at in occurrences(text, note) {
            let message = format!("`{note}`: do it now, or write down in docs/limits.md what is not had");
            findings.push(Finding::new(path, line(text, at), message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_are_found_in_code_and_comments_but_not_in_strings() {
        let text = format!(
            "//! A.\nfn a() {{ todo!() }} // {}: b\nconst C: &str = \"dbg! {}\";\n",
            NOTES[0], NOTES[1]
        );
        let note = format!("{}\n", NOTES[2]);
        let tree = Tree::fake(&[("crates/a/src/lib.rs", &text), ("docs/a.md", &note), ("docs/b.md", "dbg!")]);
        let found: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/lib.rs:2: `todo!`"));
        assert!(found[1].starts_with(&format!("crates/a/src/lib.rs:2: `{}`", NOTES[0])));
        assert!(found[2].starts_with("docs/a.md:1: "));
    }
}
