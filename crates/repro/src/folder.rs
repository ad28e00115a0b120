//! The folder of a repro: written whole or not at all, read without trust.
//!
//! A folder is made under a name of its own that nobody looks at, with every file on the disk, and then renamed: one
//! that has its name is whole.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tracewell_array::{Tensor, npy};
use tracewell_graph::text::Resolve;

use crate::rust::{manifest, to_rust};
use crate::text;
use crate::tree::{Body, CallTree, Operand, Statement};

/// The file that is replayed.
const TEXT: &str = "repro.txt";

/// Where a program of a repro finds the library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dependency {
    /// By its exact version.
    Version(String),
    /// In this folder.
    Path(PathBuf),
}

/// Where folders go, and what they are called.
#[derive(Clone, Debug)]
pub struct Place {
    /// The folder of folders.
    pub root: PathBuf,
    /// A number that orders them.
    pub number: usize,
    /// What failed, for the name.
    pub name: String,
}

/// How large folders may become.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of data in one folder; what is over is left out.
    pub bytes: usize,
}

/// Why a folder could not be read.
#[derive(Debug)]
pub enum FolderError {
    /// The system's reason.
    Io(PathBuf, io::Error),
    /// What is wrong with the text.
    Text(text::ReadError),
    /// A file that is not what it should be.
    File(String),
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FolderError::Io(path, error) => write!(f, "cannot read `{}`: {error}", path.display()),
            FolderError::Text(error) => write!(f, "`{TEXT}` is no call tree: {error}"),
            FolderError::File(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for FolderError {}

/// Texts and arrays larger than this are not read.
const LARGEST: u64 = 1 << 30;

/// Writes the folder of a repro and gives its path.
pub fn save(tree: &CallTree, place: &Place, library: &Dependency, limits: Limits) -> io::Result<PathBuf> {
    let tree = within(tree, limits.bytes);
    let written = text::write(&tree);
    private_folder_all(&place.root)?;
    for _ in 0..16 {
        let suffix = random();
        let name = format!("{:04}-{}-{suffix:06x}", place.number, file_name(&place.name));
        let hidden = place.root.join(format!(".{name}.part"));
        match private_folder(&hidden) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        }
        let made = (|| {
            for (file, tensor) in &written.files {
                put(&hidden.join(file), &npy::write(tensor))?;
            }
            put(&hidden.join("Cargo.toml"), manifest(library).as_bytes())?;
            put(&hidden.join("repro.rs"), to_rust(&tree).as_bytes())?;
            put(&hidden.join("signature.txt"), signature(&tree).as_bytes())?;
            put(&hidden.join(TEXT), written.text.as_bytes())?;
            sync(&hidden)?;
            let whole = place.root.join(&name);
            fs::rename(&hidden, &whole)?;
            sync(&place.root)?;
            Ok(whole)
        })();
        if made.is_err() {
            // What is left of it is of no use to anybody; that it cannot be removed is no more news.
            let _ = fs::remove_dir_all(&hidden);
        }
        return made;
    }
    Err(io::Error::other("no free name for a folder was found"))
}

/// Removes a folder: hidden first, so that what is left of it if that is not finished does not look whole.
pub fn remove(folder: &Path) -> io::Result<()> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let hidden = folder.with_file_name(format!(".gone-{name}"));
    // What a process that was killed here has left would be in the way.
    if hidden.exists() {
        fs::remove_dir_all(&hidden)?;
    }
    fs::rename(folder, &hidden)?;
    fs::remove_dir_all(&hidden)
}

/// What tells the failure from others, for people and scripts.
fn signature(tree: &CallTree) -> String {
    let mut out = String::new();
    if let Some(failure) = &tree.failure {
        let signature = failure.signature();
        out.push_str(&format!("kind: {}\nstage: {}\n", signature.kind, signature.stage.name()));
        out.push_str(&format!("primitive: {}\n", signature.primitive.as_deref().unwrap_or("-")));
        out.push_str(&format!("message: {}\n", signature.skeleton.replace('\n', " ")));
    }
    match tree.stand_ins.as_slice() {
        [] => out.push_str("fidelity: exact\n"),
        all => out.push_str(&format!("fidelity: stand-in: {}\n", all.join("; ").replace('\n', " "))),
    }
    out
}

/// The tree without the data that does not fit.
fn within(tree: &CallTree, bytes: usize) -> CallTree {
    let mut left = bytes;
    let mut dropped = 0usize;
    let mut keep = |operand: &Operand| match operand {
        Operand::Data(tensor, _) => match left.checked_sub(tensor.size_bytes()) {
            Some(rest) => {
                left = rest;
                operand.clone()
            }
            None => {
                dropped += 1;
                Operand::Lost(operand.ty())
            }
        },
        other => other.clone(),
    };
    let main = map_operands(&tree.main, &mut keep);
    let answers = tree.answers.iter().flat_map(|answer| answer.results.iter().flatten());
    let fit = answers.clone().map(Tensor::size_bytes).sum::<usize>() <= left;
    if !fit {
        dropped += answers.count();
    }
    if dropped == 0 {
        return tree.clone();
    }
    let answers = if fit { tree.answers.clone() } else { Vec::new() };
    let mut tree = CallTree { main, answers, ..tree.clone() };
    tree.stand_ins
        .push(format!("the data of {dropped} arrays was left out: together more than {bytes} bytes"));
    tree
}

/// The body with every operand replaced.
pub(crate) fn map_operands(body: &Body, f: &mut dyn FnMut(&Operand) -> Operand) -> Body {
    let mut body = body.clone();
    for statement in &mut body.statements {
        match statement {
            Statement::Bind(bind) => bind.operands.iter_mut().for_each(|operand| *operand = f(operand)),
            Statement::Ask { operand, .. } => *operand = f(operand),
            Statement::Call { operands, .. } => operands.iter_mut().for_each(|operand| *operand = f(operand)),
            Statement::Raise { .. } | Statement::Panic { .. } => {}
            Statement::Api(call) => {
                let call = std::sync::Arc::make_mut(call);
                call.arguments.iter_mut().for_each(|(_, form)| *form = form.map(f));
                for inner in &mut call.bodies {
                    *inner = std::sync::Arc::new(map_operands(inner, f));
                }
            }
        }
    }
    body.returned = body.returned.map(|form| form.map(f));
    body
}

/// A number that nobody guesses.
fn random() -> u64 {
    std::collections::hash_map::RandomState::new().build_hasher().finish() & 0xff_ffff
}

/// A name as part of a file's.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = name.chars().take(40).map(plain).collect();
    if name.is_empty() { "closure".to_string() } else { name }
}

#[cfg(unix)]
fn builder() -> fs::DirBuilder {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = fs::DirBuilder::new();
    builder.mode(0o700);
    builder
}

#[cfg(not(unix))]
fn builder() -> fs::DirBuilder {
    fs::DirBuilder::new()
}

fn private_folder(path: &Path) -> io::Result<()> {
    builder().create(path)
}

fn private_folder_all(path: &Path) -> io::Result<()> {
    builder().recursive(true).create(path)
}

fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(unix)]
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Reads a folder. Nothing in it is run; data is read from plain files inside of it only.
pub fn load(folder: &Path, resolve: &dyn Resolve) -> Result<CallTree, FolderError> {
    let bytes = plain_file(folder, TEXT)?;
    let text = String::from_utf8(bytes).map_err(|_| FolderError::File(format!("`{TEXT}` is not UTF-8")))?;
    let file = |name: &str| -> Result<Tensor, String> {
        let stem = name.strip_suffix(".npy").unwrap_or("");
        if stem.is_empty() || !stem.bytes().all(|b| b.is_ascii_digit()) {
            return Err(format!("`{name}` is not the name of a data file such as `0.npy`"));
        }
        let bytes = plain_file(folder, name).map_err(|error| error.to_string())?;
        npy::read(&bytes).map_err(|error| format!("`{name}`: {error}"))
    };
    text::read(&text, resolve, &file).map_err(FolderError::Text)
}

/// The bytes of a file in the folder that is no link.
fn plain_file(folder: &Path, name: &str) -> Result<Vec<u8>, FolderError> {
    let path = folder.join(name);
    let found = fs::symlink_metadata(&path).map_err(|error| FolderError::Io(path.clone(), error))?;
    if !found.is_file() {
        return Err(FolderError::File(format!("`{}` is not a plain file", path.display())));
    }
    if found.len() > LARGEST {
        return Err(FolderError::File(format!("`{}` is larger than {LARGEST} bytes", path.display())));
    }
    let mut bytes = Vec::new();
    let read = File::open(&path).and_then(|file| file.take(LARGEST).read_to_end(&mut bytes));
    read.map_err(|error| FolderError::Io(path, error))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_removal_left_is_not_in_the_way() {
        let root = std::env::temp_dir().join(format!("tracewell-removed-{}", std::process::id()));
        let (folder, left) = (root.join("repro"), root.join(".gone-repro"));
        for path in [&folder, &left] {
            fs::create_dir_all(path).unwrap();
            fs::write(path.join("tree.txt"), "half").unwrap();
        }
        remove(&folder).unwrap();
        assert!(!folder.exists() && !left.exists());
        fs::remove_dir_all(root).unwrap();
    }
}
