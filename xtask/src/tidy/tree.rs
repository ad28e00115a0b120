//! What the checks look at: every file of the workspace, in memory.

use std::cell::OnceCell;
use std::fmt;
use std::fs;
use std::path::Path;

use super::source::{self, Source};
use crate::{Result, workspace};

/// The files, sorted by path.
pub(super) struct Tree {
    pub(super) files: Vec<File>,
}

pub(super) struct File {
    /// Relative to the root, with `/`.
    pub(super) path: String,
    pub(super) text: String,
    source: OnceCell<Source>,
}

/// Something to put right.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Finding {
    path: String,
    /// Counted from 1.
    line: usize,
    /// What is wrong, and the way out.
    message: String,
}

impl Finding {
    pub(super) fn new(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: path.to_string(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

impl Tree {
    pub(super) fn read(root: &Path) -> Result<Tree> {
        let mut files = Vec::new();
        for path in workspace::files(root)? {
            // Gone since it was listed: somebody is working.
            let Ok(bytes) = fs::read(root.join(&path)) else { continue };
            files.push(File::new(path, String::from_utf8_lossy(&bytes).into_owned()));
        }
        Ok(Tree { files })
    }

    /// A tree for tests.
    #[cfg(test)]
    pub(super) fn fake(files: &[(&str, &str)]) -> Tree {
        let mut files: Vec<File> =
            files.iter().map(|(path, text)| File::new(path.to_string(), text.to_string())).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Tree { files }
    }

    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The Rust files of the project, without programs that are meant not to compile.
    pub(super) fn rust(&self) -> impl Iterator<Item = &File> {
        let ours = |file: &&File| {
            let home = ["crates/", "tests/", "xtask/"].iter().any(|home| file.path.starts_with(home));
            home && file.path.ends_with(".rs") && !file.path.starts_with("tests/ui/")
        };
        self.files.iter().filter(ours)
    }

    /// Whether a Rust file is compiled only for tests: by its place, or because its parent says so.
    pub(super) fn is_test(&self, file: &File) -> bool {
        let path = file.path.as_str();
        if path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs") {
            return true;
        }
        let Some((folder, name)) = path.rsplit_once('/') else { return false };
        // `a/b.rs` is declared in `a/mod.rs` or its kin, `a/b/mod.rs` one folder up.
        let (folder, stem) = match name {
            "mod.rs" => folder.rsplit_once('/').unwrap_or(("", folder)),
            _ => (folder, name.trim_end_matches(".rs")),
        };
        let parents = ["mod.rs", "lib.rs", "main.rs"].map(|name| format!("{folder}/{name}"));
        let declares = |parent: &File| parent.source().test_modules.iter().any(|module| module == stem);
        parents.iter().filter_map(|parent| self.file(parent)).any(declares)
    }
}

impl File {
    fn new(path: String, text: String) -> File {
        File { path, text, source: OnceCell::new() }
    }

    /// The text taken apart as Rust.
    pub(super) fn source(&self) -> &Source {
        self.source.get_or_init(|| source::split(&self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_files_are_known_by_place_or_declaration() {
        let tree = Tree::fake(&[
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod samples;\nmod real;\n"),
            ("crates/a/src/samples.rs", ""),
            ("crates/a/src/real.rs", ""),
            ("crates/a/src/math/mod.rs", "#[cfg(test)] mod probe;"),
            ("crates/a/src/math/probe/mod.rs", ""),
            ("crates/a/tests/all.rs", ""),
            ("tests/laws.rs", ""),
        ]);
        let tests: Vec<&str> =
            tree.rust().filter(|file| tree.is_test(file)).map(|file| file.path.as_str()).collect();
        assert_eq!(
            tests,
            [
                "crates/a/src/math/probe/mod.rs",
                "crates/a/src/samples.rs",
                "crates/a/tests/all.rs",
                "tests/laws.rs"
            ]
        );
    }
}
