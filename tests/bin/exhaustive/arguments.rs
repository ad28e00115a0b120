//! What the program is asked to do.

use tracewell_kernel::math::{FUNCTIONS, Function};

pub(crate) const USAGE: &str = "\
exhaustive [--function F] [--threads N] [--chunks N] [--again]

Measures the error of every math function, or of F, on every f32 (of pairs: on a sample), on N threads
(all cores). A run takes up where the last one stopped; --again starts afresh. --chunks stops after
so many chunks of 2^24 arguments of each function. At the end docs/math.md and tests/math/worst.txt
are written from all that is known. It fails if a function exceeds its stated error.
";

/// Which functions, and how.
#[derive(Clone, Debug)]
pub(crate) struct Arguments {
    pub(crate) functions: Vec<Function>,
    pub(crate) threads: usize,
    pub(crate) chunks: u64,
    pub(crate) again: bool,
}

impl Arguments {
    /// Reads the command line; nothing if help is wanted.
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut arguments =
            Arguments { functions: FUNCTIONS.to_vec(), threads: cores, chunks: u64::MAX, again: false };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("a value follows `{word}`"));
            let number = |text: String| text.parse::<u64>().map_err(|_| format!("`{text}` is not a number"));
            match word.as_str() {
                "-h" | "--help" => return Ok(None),
                "--again" => arguments.again = true,
                "--threads" => arguments.threads = number(value()?)?.max(1) as usize,
                "--chunks" => arguments.chunks = number(value()?)?,
                "--function" => {
                    let name = value()?;
                    arguments.functions.retain(|function| function.name == name);
                    if arguments.functions.is_empty() {
                        let names: Vec<&str> = FUNCTIONS.iter().map(|function| function.name).collect();
                        return Err(format!("there is no function `{name}`, only {}", names.join(", ")));
                    }
                }
                _ => return Err(format!("there is no `{word}`")),
            }
        }
        Ok(Some(arguments))
    }
}
