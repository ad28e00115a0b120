//! A copy of the workspace that changes as little as possible from one run to the next, so that cargo compiles
//! only what is new.

use std::fs;
use std::path::Path;

use crate::{Result, workspace};

/// Makes `to` hold the files of the workspace `from`, and no others.
pub(super) fn synchronise(from: &Path, to: &Path) -> Result {
    fs::create_dir_all(to).map_err(|error| format!("cannot make {}: {error}", to.display()))?;
    let wanted = workspace::files(from)?;
    for path in workspace::files(to)? {
        if wanted.binary_search(&path).is_err() {
            fs::remove_file(to.join(&path)).map_err(|error| format!("cannot remove {path}: {error}"))?;
        }
    }
    for path in wanted {
        let (source, place) = (from.join(&path), to.join(&path));
        // Gone since it was listed: somebody is working.
        let Ok(bytes) = fs::read(&source) else { continue };
        if fs::read(&place).is_ok_and(|old| old == bytes) {
            continue;
        }
        let folder = place.parent().unwrap_or(to);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&place, bytes));
        written.map_err(|error| format!("cannot write {}: {error}", place.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_follows_and_what_is_equal_is_left_alone() {
        let home = std::env::temp_dir().join(format!("tracewell-xtask-copy-{}", std::process::id()));
        let (from, to) = (home.join("from"), home.join("to"));
        fs::create_dir_all(from.join("a")).unwrap();
        fs::write(from.join("a/same"), "1").unwrap();
        fs::write(from.join("gone"), "2").unwrap();
        synchronise(&from, &to).unwrap();
        let age = |path: &str| fs::metadata(to.join(path)).unwrap().modified().unwrap();
        let before = age("a/same");
        fs::remove_file(from.join("gone")).unwrap();
        fs::write(from.join("new"), "3").unwrap();
        synchronise(&from, &to).unwrap();
        let files = workspace::files(&to).unwrap();
        let after = age("a/same");
        fs::remove_dir_all(&home).unwrap();
        assert_eq!(files, ["a/same", "new"]);
        assert_eq!(before, after);
    }
}
