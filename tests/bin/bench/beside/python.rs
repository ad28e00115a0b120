//! The Python of the peers: one of our own beside the compiled program, with the packages of requirements.txt.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::peers::file;
use crate::Result;

/// Makes it, if it is not there or has other packages.
pub(super) fn installed() -> Result<PathBuf> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = program.with_file_name("bench-python");
    let python = folder.join("bin/python");
    let list = file("requirements.txt");
    let wanted =
        fs::read_to_string(&list).map_err(|error| format!("cannot read {}: {error}", list.display()))?;
    // Written when all is there.
    let note = folder.join("installed.txt");
    if fs::read_to_string(&note).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    println!("installing JAX and NumPy into {}", folder.display());
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r"]).arg(&list))?;
    fs::write(&note, wanted).map_err(|error| format!("cannot write {}: {error}", note.display()))?;
    Ok(python)
}

fn run(command: &mut Command) -> Result {
    let name = Path::new(command.get_program()).display().to_string();
    let status = command.status().map_err(|error| format!("cannot start {name}: {error}"))?;
    let failed = || format!("{name} failed; `--python PATH` takes a Python that has JAX and NumPy already");
    if status.success() { Ok(()) } else { Err(failed()) }
}
