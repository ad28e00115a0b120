//! The rules of the house that neither the compiler nor clippy knows.
//!
//! Each check is a function from the tree of files to findings, in a file of its own, with its exceptions and
//! the reason for each beside it. A finding names the place and the way out. The checks read text, not syntax
//! trees: they are meant to be simple enough to be believed, and each says what it cannot see.

mod boundary;
mod header;
mod layers;
mod ledger;
mod leftovers;
mod length;
mod machines;
mod paths;
mod readme;
mod rooms;
mod root;
mod source;
mod tree;

use crate::args::Args;
use crate::{Result, Verb, mutate, workspace};

use self::tree::{Finding, Tree};

pub(crate) const VERB: Verb = Verb {
    name: "tidy",
    usage: "[--list] [CHECK…]",
    about: "Check the rules of the house: layers, rooms, boundary, unsafe, leftovers and more",
    details: "\
Without a name all checks run. `--list` says what each one asks.
",
    run: tidy,
};

struct Check {
    name: &'static str,
    /// What must hold.
    rule: &'static str,
    run: fn(&Tree) -> Vec<Finding>,
}

const CHECKS: &[Check] = &[
    Check { name: "header", rule: "every Rust file says what it is in its first line", run: header::check },
    Check { name: "layers", rule: "crates use what docs/architecture.md lets them", run: layers::check },
    Check {
        name: "rooms",
        rule: "a primitive is named only where it lives and where it is made",
        run: rooms::check,
    },
    Check {
        name: "boundary",
        rule: "a public function that takes functions enters the boundary",
        run: boundary::check,
    },
    Check { name: "ledger", rule: "docs/unsafe.md lists the files with unsafe code", run: ledger::check },
    Check { name: "leftovers", rule: "nothing unfinished is left in the code", run: leftovers::check },
    Check { name: "length", rule: "no file is too long to read", run: length::check },
    Check { name: "root", rule: "the root holds only what belongs there", run: root::check },
    Check { name: "machines", rule: "no path of anybody's machine is written down", run: machines::check },
    Check { name: "paths", rule: "files that documents and comments name exist", run: paths::check },
    Check { name: "readme", rule: "the README gives the command that ci runs", run: readme::check },
    Check { name: "defects", rule: "every defect of `mutate` still applies", run: defects },
];

fn tidy(mut args: Args) -> Result {
    let list = args.flag("--list");
    let mut wanted = Vec::new();
    while let Some(name) = args.word() {
        let check = CHECKS.iter().find(|check| check.name == name);
        wanted.push(check.ok_or_else(|| format!("there is no check `{name}`; `--list` shows them"))?);
    }
    args.finish()?;
    if list {
        CHECKS.iter().for_each(|check| println!("{:<10} {}", check.name, check.rule));
        return Ok(());
    }
    run(if wanted.is_empty() { CHECKS.iter().collect() } else { wanted })
}

/// All checks, as `ci` runs them.
pub(crate) fn check_workspace() -> Result {
    run(CHECKS.iter().collect())
}

fn run(checks: Vec<&Check>) -> Result {
    let tree = Tree::read(&workspace::root())?;
    let mut total = 0;
    for check in checks {
        let findings = (check.run)(&tree);
        for finding in &findings {
            println!("{}: {finding}", check.name);
        }
        total += findings.len();
    }
    match total {
        0 => Ok(()),
        1 => Err("tidy found 1 thing to put right".to_string()),
        _ => Err(format!("tidy found {total} things to put right")),
    }
}

/// The defects of `mutate` are pieces of today's code, and must move with it.
fn defects(tree: &Tree) -> Vec<Finding> {
    let text = |path: &str| tree.file(path).map(|file| file.text.as_str());
    let problems = mutate::stale(&text);
    problems.into_iter().map(|problem| Finding::new("xtask/src/mutate/defects/mod.rs", 1, problem)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_checks_differ() {
        let mut names: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
