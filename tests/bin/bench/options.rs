//! What the program was asked for.

use std::path::PathBuf;

use crate::Result;
use crate::beside::Peer;

pub(crate) const HELP: &str = "\
bench [NAME…] [--filter NAME] [--against PEERS] [--json FILE] [--threads N] [--rounds N] [--patience N]
      [--python PATH]

Without a name every group runs: dispatch, eager, kernels, compile, staging, repro, and those that others have too:
loops, heavy, workloads, first, vectors. A name is a group or, of the latter, a part of the name of a benchmark.

--against jax,numpy,c,one,peak  beside others: the same programs on the same inputs, alternating in one run, by those that
               have the program (`vectors` is beside C, the others are beside JAX and NumPy); `one` is ourselves on
               one thread, with the same bits; `peak` the multiplications and additions of a program alone, in
               registers, in our process and in turn with our calls: the ratio is the share of what the processor
               can do at most, in the tenth of some hundred pairs in which both were fastest
--json FILE    what was measured, as a list of objects with
                 name, group, threads
                 ours_s             the median of seconds of one call
                 peer               `jax`, `numpy`, `c`, `one`, `peak`, or null
                 peer_s             its median
                 ratio              how many times faster we are: the median of the rounds' peer / ours
                 first_call_s       our first call: tracing, compilation, one run
                 peer_first_call_s  the peer's
                 building_s         our tracing and compiling
                 peer_building_s    the peer's
                 ours_spread        the slowest round in those of the fastest, of many without a tenth at either end
                 peer_spread        the peer's
                 ours_bytes         of results and of what lies between
                 peer_bytes         the peer's
                 share              the part of our time that the machine could not do without: the bytes that go in
                                    and out, or the operations, at the speeds that C reaches right behind our calls,
                                    where both are fastest
                 agrees             whether the results do
               and the speeds as objects of the group `limits` with name, group, threads, per_second
--threads N    of ours and of the peer; 2 unless told
--rounds N     so many of ours and of the peer, in turn, and up to five times as many while they differ; 7 unless told
--patience N   seconds of the whole run in which rounds are taken again in which the host of a virtual machine took
               processors away; 600 unless told. What is measured afterwards counts, whatever happens
--python PATH  a Python with JAX and NumPy; one of our own, made when it is first needed, unless told
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
    pub(crate) patience: usize,
    pub(crate) python: Option<PathBuf>,
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
            patience: 600,
            python: None,
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
                "--patience" => options.patience = count(word, value()?)?,
                "--python" => options.python = Some(value()?.into()),
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

    /// Who is asked for of those who have a program: ourselves on one thread always, if that is what it compares.
    pub(crate) fn peers(&self, having: &[Peer], multiplies: bool) -> Vec<Peer> {
        let is_asked = |peer: &Peer| *peer == Peer::OneThread || self.against.contains(peer);
        let mut peers: Vec<Peer> = having.iter().copied().filter(is_asked).collect();
        // Whatever we have, we have on one thread.
        if self.against.contains(&Peer::OneThread) && !peers.contains(&Peer::OneThread) {
            peers.push(Peer::OneThread);
        }
        if self.against.contains(&Peer::Peak) && multiplies {
            peers.push(Peer::Peak);
        }
        peers
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
        "one" => Ok(Peer::OneThread),
        "peak" => Ok(Peer::Peak),
        _ => Err(format!("there is no peer `{name}`: `jax`, `numpy`, `c`, `one` and `peak` are")),
    }
}

fn count(option: &str, text: &str) -> Result<usize> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| format!("`{option}` takes a count, found `{text}`"))
}
