//! No file is too long to be read in one sitting.

use super::tree::{Finding, Tree};

const LIMIT: usize = 700;

/// Where things are looked up, not read.
const ALLOWED: &[&str] = &["docs/errors.md"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let written = |path: &str| {
        [".rs", ".md", ".toml"].iter().any(|end| path.ends_with(end)) && !ALLOWED.contains(&path)
    };
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| written(&file.path)) {
        let lines = file.text.lines().count();
        if lines > LIMIT {
            let message = format!("{lines} lines, {LIMIT} are allowed: split it by what its parts are");
            findings.push(Finding::new(&file.path, LIMIT + 1, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_found() {
        let long = "x\n".repeat(LIMIT + 1);
        let tree = Tree::fake(&[("a.rs", &long), ("b.rs", &long[2..]), ("Cargo.lock", &long)]);
        let found = check(&tree);
        assert_eq!(found.len(), 1);
        assert!(found[0].to_string().starts_with("a.rs:701: 701 lines"));
    }
}
