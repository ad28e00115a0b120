//! What a visitor sees first stays short.

use super::tree::{Finding, Tree};

const ALLOWED: &[&str] = &["Cargo.lock", "Cargo.toml", "README.md", "crates", "docs", "tests", "xtask"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut names: Vec<&str> =
        tree.files.iter().map(|file| file.path.split('/').next().unwrap_or(&file.path)).collect();
    names.dedup();
    let strange = names.into_iter().filter(|name| !name.starts_with('.') && !ALLOWED.contains(name));
    let message = format!("the root holds only {} and dotfiles: move it, or ignore it", ALLOWED.join(" "));
    strange.map(|name| Finding::new(name, 1, message.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_are_found() {
        let tree = Tree::fake(&[
            ("Cargo.toml", ""),
            (".ci/run", ""),
            ("crates/a", ""),
            ("notes/a", ""),
            ("notes/b", ""),
        ]);
        let found: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("notes:1: "), "{found:?}");
    }
}
