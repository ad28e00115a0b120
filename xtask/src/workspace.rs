//! The files of the workspace: all but what `.gitignore` names. Needs no git, which a build machine may lack.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;

/// Where the workspace is.
pub(crate) fn root() -> PathBuf {
    let own = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    own.parent().map_or(own.clone(), Path::to_path_buf)
}

/// The paths of all files below `root`, relative, with `/`, sorted.
pub(crate) fn files(root: &Path) -> Result<Vec<String>> {
    let ignored = Ignored::read(&fs::read_to_string(root.join(".gitignore")).unwrap_or_default())?;
    let mut found = Vec::new();
    walk(root, "", &ignored, &mut found)?;
    found.sort();
    Ok(found)
}

fn walk(folder: &Path, prefix: &str, ignored: &Ignored, found: &mut Vec<String>) -> Result {
    let entries =
        fs::read_dir(folder).map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == ".git" || ignored.holds(&name, prefix.is_empty()) {
            continue;
        }
        let path = format!("{prefix}{name}");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&entry.path(), &format!("{path}/"), ignored, found)?,
            Ok(_) => found.push(path),
            // Gone since it was listed: an editor's temporary file.
            Err(_) => {}
        }
    }
    Ok(())
}

/// The part of `.gitignore`'s language that we use: a name with `*` in it, anywhere or only at the root.
struct Ignored {
    patterns: Vec<(String, bool)>,
}

impl Ignored {
    fn read(text: &str) -> Result<Ignored> {
        let mut patterns = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let name = line.strip_prefix('/').unwrap_or(line);
            let name = name.strip_suffix('/').unwrap_or(name);
            if name.contains(['/', '!', '?', '[']) || name.contains("**") {
                return Err(format!("`{line}` in .gitignore: xtask/src/workspace.rs reads only plain names"));
            }
            patterns.push((name.to_string(), line.starts_with('/')));
        }
        Ok(Ignored { patterns })
    }

    fn holds(&self, name: &str, at_root: bool) -> bool {
        self.patterns.iter().any(|(pattern, only_root)| (at_root || !only_root) && matches(pattern, name))
    }
}

/// Whether a name fits a pattern in which `*` stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => name.strip_prefix(head).is_some_and(|rest| {
            let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            ends.into_iter().any(|at| matches(tail, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignores_what_gitignore_names() {
        let ignored = Ignored::read("# made by cargo\n/target\n/target-*\n*.profraw\n").unwrap();
        assert!(ignored.holds("target", true) && !ignored.holds("target", false));
        assert!(ignored.holds("target-2", true) && !ignored.holds("targets", true));
        assert!(ignored.holds("a.profraw", false));
        assert!(!ignored.holds("profraw.rs", false));
        assert!(Ignored::read("a/b").is_err());
    }

    #[test]
    fn lists_this_file() {
        let files = files(&root()).unwrap();
        assert!(files.iter().any(|path| path == "xtask/src/workspace.rs"));
        assert!(files.iter().all(|path| !path.starts_with(".git/") && !path.starts_with("target/")));
    }
}
