//! Nothing in the tree knows on which machine it was written.

use super::source::line;
use super::tree::{Finding, Tree};

/// Pieced together, so that this file holds none of them.
const PLACES: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/ro", "ot/"),
    concat!("/tmp/", "target"),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        for place in PLACES {
            // part of a longer name is no place: a path begins where no name ends.
            let starts = |at: usize| !file.text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '.');
            for (at, _) in file.text.match_indices(place).filter(|(at, _)| starts(*at)) {
                let message =
                    format!("`{place}…` is a path of one machine: name it from the root of the tree");
                findings.push(Finding::new(&file.path, line(&file.text, at), message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_machine_are_found() {
        let text = format!("see\n{}main/x.rs and crates{}x", PLACES[0], PLACES[0]);
        let found = check(&Tree::fake(&[("docs/a.md", &text), ("docs/b.md", "/usr/bin and docs/a.md")]));
        assert_eq!(found.len(), 1);
        assert!(found[0].to_string().starts_with("docs/a.md:2: "));
    }
}
