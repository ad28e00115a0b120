//! What the program was asked for.

use std::path::PathBuf;

use crate::Result;
use crate::beside::Peer;

pub(crate) const HELP: &str = "\
bench [NAME…] [--filter NAME] [--against PEERS] [--json FILE] [--threads N] [--rounds N] [--python PATH]

Without a name every group runs: dispatch, eager, kernels, compile, staging, loops, heavy.
A name is a group or, of loops and heavy, a part of the name of a benchmark.

--against jax,numpy  beside others: the same programs on the same inputs, alternating in one run
               (`loops` and `heavy` only; NumPy where it has the operation); the scalar loop also beside C
--against c    beside C only
--json FILE    what was measured, as a list of objects with
                 name, group, threads
                 ours_s             the median of seconds of one call
                 peer               `jax`, `numpy`, `c`, `one thread`, or null
                 peer_s             its median
                 ratio              peer_s / ours_s: how many times faster we are
                 first_call_s       our first call: tracing, compilation, one run
                 peer_first_call_s  the peer's
                 agrees             whether the results do
--threads N    of ours and of the peer; 2 unless told
--rounds N     so many of ours and of the peer, in turn; 7 unless told
--python PATH  a Python with JAX and NumPy; `python3` unless told
";

pub(crate) struct Options {
    pub(crate) help: bool,
    /// Be the one that is measured: see `beside/talk.rs`.
    pub(crate) serve: bool,
    names: Vec<String>,
    /// Nobody, if programs are only timed.
    pub(crate) against: Vec<Peer>,
    pub(crate) json: Option<PathBuf>,
    pub(crate) threads: usize,
    pub(crate) rounds: usize,
    pub(crate) python: PathBuf,
}

impl Options {
    pub(crate) fn parse(words: &[String]) -> Result<Options> {
        let mut options = Options {
            help: false,
            serve: false,
            names: Vec::new(),
            against: Vec::new(),
            json: None,
            threads: 2,
            rounds: 7,
            python: "python3".into(),
        };
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("`{word}` needs a value"));
            match word {
                "-h" | "--help" => options.help = true,
                "--serve" => options.serve = true,
                "--filter" => options.names.push(value()?.to_string()),
                "--against" => options.against = value()?.split(',').map(peer).collect::<Result<_>>()?,
                "--json" => options.json = Some(value()?.into()),
                "--threads" => options.threads = count(word, value()?)?,
                "--rounds" => options.rounds = count(word, value()?)?,
                "--python" => options.python = value()?.into(),
                _ if word.starts_with('-') => {
                    return Err(format!("`{word}` means nothing here; `--help` shows what does"));
                }
                _ => options.names.push(word.to_string()),
            }
        }
        Ok(options)
    }

    /// Whether a group was asked for.
    pub(crate) fn wants(&self, group: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| name == group)
    }

    /// Whether a benchmark of a group was asked for.
    pub(crate) fn wants_one(&self, group: &str, benchmark: &str) -> bool {
        self.wants(group) || self.names.iter().any(|name| benchmark.contains(name.as_str()))
    }

    /// Whether a peer was asked for: ourselves always, C together with anybody.
    pub(crate) fn is_against(&self, peer: Peer) -> bool {
        match peer {
            Peer::Ours | Peer::OneThread => true,
            Peer::C => !self.against.is_empty(),
            Peer::Jax | Peer::Numpy => self.against.contains(&peer),
        }
    }

    /// What was asked for, for a message.
    pub(crate) fn wanted(&self) -> String {
        self.names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
    }
}

fn peer(name: &str) -> Result<Peer> {
    match name {
        "jax" => Ok(Peer::Jax),
        "numpy" => Ok(Peer::Numpy),
        "c" => Ok(Peer::C),
        _ => Err(format!("there is no peer `{name}`: `jax`, `numpy` and `c` are")),
    }
}

fn count(option: &str, text: &str) -> Result<usize> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| format!("`{option}` takes a count, found `{text}`"))
}
