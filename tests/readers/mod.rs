//! Everything that reads what others wrote: graphs, kernels and programs as text, arrays as `.npy`.
//!
//! Whatever the bytes, a reader answers with a value or an error; it neither panics nor takes more memory or time
//! than the bytes are worth. What it read can be written, and reads back as the same. The corpus holds texts that
//! reach the corners, good ones and hostile ones; mutations of it are what `cargo xtask fuzz` tries.

mod fresh;
mod mutate;

pub use fresh::fresh;
pub use mutate::Mutator;

use std::fs;
use std::path::{Path, PathBuf};

use tracewell_array::npy;
use tracewell_graph::text::{NoCustom, read, read_all, read_unchecked, write_with_locations};
use tracewell_graph::{Graph, verify};
use tracewell_kernel::{Kernel, Program, read_kernel, read_program, verify_kernel, verify_program};

/// What a file is read as.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A graph or several, as text.
    Graph,
    /// A kernel or a program, as text.
    Kernel,
    /// An array, as NumPy saves it.
    Array,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 3] = [Kind::Graph, Kind::Kernel, Kind::Array];

    /// Its folder in the corpus, which is also the end of its files' names.
    pub fn folder(self) -> &'static str {
        match self {
            Kind::Graph => "ir",
            Kind::Kernel => "kernel",
            Kind::Array => "npy",
        }
    }

    /// Reads, and checks what was read. The result says whether anything was; an error is a bug of a reader,
    /// and so is a panic.
    pub fn check(self, bytes: &[u8]) -> Result<bool, String> {
        let text = || String::from_utf8_lossy(bytes);
        match self {
            Kind::Graph => check_graph(&text()),
            Kind::Kernel => check_kernel(&text()),
            Kind::Array => check_array(bytes),
        }
    }
}

/// Where the corpus is.
pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// The files of one folder of the corpus, in order.
pub fn files(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = corpus().join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, bytes)
    };
    paths.into_iter().map(read).collect()
}

fn check_graph(text: &str) -> Result<bool, String> {
    let one = read(text, &NoCustom);
    let all = read_all(text, &NoCustom);
    match (&one, &all) {
        (Ok(graph), Ok(graphs)) if graphs.len() != 1 || graphs[0] != *graph => {
            return Err("`read` and `read_all` differ".to_owned());
        }
        (Ok(_), Err(error)) => return Err(format!("only `read` reads it: {error}")),
        _ => {}
    }
    for graph in all.iter().flatten() {
        verify(graph).map_err(|errors| format!("was read but does not verify: {errors}"))?;
        check_written(graph)?;
    }
    if let Ok(graph) = read_unchecked(text, &NoCustom) {
        let verified = verify(&graph).map_err(|errors| errors.to_string()).is_ok();
        let written = write_with_locations(&graph);
        if verified {
            check_written(&graph).map_err(|why| format!("unchecked: {why}\n{written}"))?;
        }
    }
    Ok(all.is_ok())
}

fn check_written(graph: &Graph) -> Result<(), String> {
    let text = write_with_locations(graph);
    let again = read(&text, &NoCustom).map_err(|error| format!("does not read back: {error}"))?;
    if again != *graph || write_with_locations(&again) != text {
        return Err("reads back as another graph".to_owned());
    }
    Ok(())
}

fn check_kernel(text: &str) -> Result<bool, String> {
    let kernel = read_kernel(text, &|_| None);
    if let Ok(kernel) = &kernel {
        // What is wrong with it is shown with its text, which is code of its own.
        let _ = verify_kernel(kernel).map_err(|errors| errors.to_string());
        let again = kernel.to_string().parse::<Kernel>();
        let again = again.map_err(|error| format!("the kernel does not read back: {error}"))?;
        if again != *kernel {
            return Err("the kernel reads back as another".to_owned());
        }
    }
    let program = read_program(text, &|_| None);
    if let Ok(program) = &program {
        let _ = verify_program(program).map_err(|errors| errors.to_string());
        let again = program.to_string().parse::<Program>();
        let again = again.map_err(|error| format!("the program does not read back: {error}"))?;
        if again != *program {
            return Err("the program reads back as another".to_owned());
        }
    }
    Ok(kernel.is_ok() || program.is_ok())
}

fn check_array(bytes: &[u8]) -> Result<bool, String> {
    let Ok(tensor) = npy::read(bytes) else { return Ok(false) };
    let again = npy::read(&npy::write(&tensor)).map_err(|error| format!("does not read back: {error}"))?;
    if again.dtype() != tensor.dtype() || again.shape() != tensor.shape() || !again.bits_eq(&tensor) {
        return Err("reads back as another array".to_owned());
    }
    Ok(true)
}
