//! Every file with unsafe code is in the ledger with what it does and why, and nothing else is.

use super::source::{line, occurrences};
use super::tree::{File, Finding, Tree};

const LEDGER: &str = "docs/unsafe.md";

/// Here the keyword is a token of users' programs. That no code of its own is unsafe, the lint sees to.
const TOKENS: &str = "crates/macros/";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(ledger) = tree.file(LEDGER) else {
        return vec![Finding::new(LEDGER, 1, "there is no ledger of unsafe code")];
    };
    let listed = entries(ledger);
    let mut findings = Vec::new();
    for file in tree.rust() {
        let Some(line) = first_unsafe(file) else { continue };
        if !listed.iter().any(|(path, _)| *path == file.path) {
            let message =
                format!("unsafe code: say in {LEDGER} what it does and why it must, or write it safely");
            findings.push(Finding::new(&file.path, line, message));
        }
    }
    for (path, line) in listed {
        if tree.file(path).and_then(first_unsafe).is_none() {
            findings.push(Finding::new(LEDGER, line, format!("`{path}` has no unsafe code: remove the row")));
        }
    }
    findings
}

/// The files in the first column of the ledger's tables, with their lines.
fn entries(ledger: &File) -> Vec<(&str, usize)> {
    let mut entries = Vec::new();
    for (i, row) in ledger.text.lines().enumerate() {
        let path = row.strip_prefix("| `").and_then(|row| row.split_once('`')).map(|(path, _)| path);
        entries.extend(path.filter(|path| path.ends_with(".rs")).map(|path| (path, i + 1)));
    }
    entries
}

/// The line of the first use of the keyword. In the macros, only allowing it counts.
fn first_unsafe(file: &File) -> Option<usize> {
    let code = &file.source().code;
    let word = if file.path.starts_with(TOKENS) { "unsafe_code" } else { "unsafe" };
    occurrences(code, word).next().map(|at| line(code, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ledger_and_the_code_agree() {
        let tree = Tree::fake(&[
            ("crates/a/src/good.rs", "//! unsafe in words\nconst S: &str = \"unsafe\";"),
            ("crates/a/src/listed.rs", "unsafe fn f() {}"),
            ("crates/a/src/secret.rs", "//! A.\nfn g() { unsafe { f() } }"),
            ("crates/macros/src/lib.rs", "Token![unsafe]"),
            (
                "docs/unsafe.md",
                "| file | what |\n|---|---|\n| `crates/a/src/listed.rs` | f |\n| `crates/a/src/good.rs` | - |\n",
            ),
        ]);
        let found: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/secret.rs:2: "));
        assert!(found[1].starts_with("docs/unsafe.md:4: `crates/a/src/good.rs` "));
    }
}
