//! A file that a document or a comment names exists.
//!
//! Seen are paths from the root that end in a name with a dot, such as `docs/limits.md`. Patterns (with `*`, `<`
//! or a word in capitals for a name to be filled in) are not paths.

use super::source::line;
use super::tree::{File, Finding, Tree};

const HOMES: &[&str] = &["docs/", "crates/", "tests/", "xtask/", ".ci/"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        look(tree, file, &file.source().comments, &mut findings);
    }
    for file in tree.files.iter().filter(|file| file.path.ends_with(".md")) {
        look(tree, file, &file.text, &mut findings);
    }
    findings
}

fn look(tree: &Tree, file: &File, text: &str, findings: &mut Vec<Finding>) {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "/._-*<>{}".contains(c);
    for home in HOMES {
        for (at, _) in text.match_indices(home) {
            // The path may be the end of a longer one, such as that of another project.
            if text[..at].ends_with(is_path) {
                continue;
            }
            let rest = &text[at..];
            let path = rest[..rest.find(|c| !is_path(c)).unwrap_or(rest.len())].trim_end_matches('.');
            let name = path.rsplit('/').next().unwrap_or(path);
            let filled_in =
                |part: &str| part.len() > 1 && part.chars().all(|c| c.is_ascii_uppercase() || c == '_');
            let pattern = path.contains(['*', '<', '>', '{', '}'])
                || path.split(['/', '.']).any(|part| filled_in(part) && part != "CHANGELOG");
            if name.contains('.') && !pattern && tree.file(path).is_none() {
                let message = format!("`{path}` does not exist: name another place, or write it");
                findings.push(Finding::new(&file.path, line(text, at), message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_paths_are_found() {
        let tree = Tree::fake(&[
            (
                "crates/a/src/lib.rs",
                "//! See docs/a.md and\n//! docs/gone.md.\nconst S: &str = \"docs/c.md\";",
            ),
            (
                "docs/a.md",
                "in `crates/a/src/lib.rs`, crates/*/src/lib.rs, tests/NAME.rs, crates/a, other/docs/b.md",
            ),
            ("docs/CHANGELOG.md", "docs/CHANGELOG.md"),
        ]);
        let found: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/lib.rs:2: `docs/gone.md` "));
    }
}
