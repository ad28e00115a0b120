//! What the README tells people to run is what `ci` runs.

use super::tree::{Finding, Tree};
use crate::ci::TEST;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let command = format!("cargo {}", TEST.join(" "));
    match tree.file("README.md") {
        None => vec![Finding::new("README.md", 1, "there is none: say what this is and how to try it")],
        Some(file) if !file.text.contains(&command) => {
            vec![Finding::new("README.md", 1, format!("the test command `{command}` is not named"))]
        }
        Some(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_command_is_named() {
        assert_eq!(check(&Tree::fake(&[])).len(), 1);
        assert_eq!(check(&Tree::fake(&[("README.md", "run cargo test")])).len(), 1);
        assert_eq!(check(&Tree::fake(&[("README.md", "run `cargo test --workspace`")])).len(), 0);
    }
}
