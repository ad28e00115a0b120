//! Every Rust file opens with `//!`: what it is, the invariant it keeps, what is deliberately absent.

use super::tree::{Finding, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let silent = tree.rust().filter(|file| !file.text.starts_with("//!"));
    let message = "the first line is not `//!`: say in a sentence what the file is";
    silent.map(|file| Finding::new(&file.path, 1, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_it_is() {
        let tree = Tree::fake(&[
            ("crates/a/src/lib.rs", "//! A thing."),
            ("crates/a/src/b.rs", "use a;"),
            ("tests/ui/wrong.rs", "fn main() {}"),
            ("docs/example.rs", ""),
        ]);
        let found: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/a/src/b.rs:1: "), "{found:?}");
    }
}
