//! Random graphs compiled and evaluated give the same; math functions keep their errors; readers survive everything
//! in the corpus.

#[path = "math/checks.rs"]
mod math;

use std::process::Command;

use tests::differential::{Seeded, WAYS, check, check_text, report};
use tests::generate::{Options, graph_with};
use tests::readers::{Kind, files};

/// How many graphs, unless `TRACEWELL_SEEDS` says otherwise.
const GRAPHS: u64 = 300;

/// How many of them run again on guarded memory, in a process of its own.
const GUARDED: u64 = 40;

fn options(seed: u64) -> Options {
    Options { size: 6 + (seed % 23) as usize, extreme: seed.is_multiple_of(3) }
}

/// Compares random graphs in the usual way and in one of the others; all failures together, each made small.
fn compare(seeds: std::ops::Range<u64>) {
    let mut failures = Vec::new();
    for seed in seeds {
        let (graph, inputs) = graph_with(seed, options(seed));
        if let Err(why) = check_text(&graph) {
            failures.push(format!("seed {seed}: {why}\n{graph}"));
        }
        let other = WAYS[1 + seed as usize % (WAYS.len() - 1)];
        for way in [WAYS[0], other] {
            if let Err(why) = check(&graph, &inputs, way) {
                failures.push(report(seed, options(seed), way, &why).0);
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} graphs fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn random_graphs_agree() {
    let seeds = std::env::var("TRACEWELL_SEEDS").ok().and_then(|text| text.parse().ok());
    compare(0..seeds.unwrap_or(GRAPHS));
}

/// Every buffer ends before a protected page, so that an access beyond its end stops the process.
#[test]
fn random_graphs_stay_inside_their_buffers() {
    if std::env::var_os("TRACEWELL_TEST_GUARD").is_some() {
        return compare(0..GUARDED);
    }
    let child = Command::new(std::env::current_exe().expect("a test has a file"))
        .args(["--exact", "random_graphs_stay_inside_their_buffers", "--test-threads", "1"])
        .env("TRACEWELL_TEST_GUARD", "1")
        .env("TRACEWELL_GUARD", "1")
        .output()
        .expect("a test can run itself");
    let text = String::from_utf8_lossy(&child.stdout);
    let errors = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{}\n{text}\n{errors}", child.status);
    assert!(text.contains("1 passed"), "{text}");
}

/// Graphs that once failed, or might: compiled in every way.
#[test]
fn graphs_of_the_corpus_agree() {
    for (path, bytes) in files("graphs") {
        let text = String::from_utf8(bytes).expect("a text");
        let seeded = Seeded::read(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for way in WAYS {
            if let Err(why) = check(&seeded.graph, &seeded.inputs(), way) {
                panic!("{}, {way}: {why}\n{text}", path.display());
            }
        }
    }
}

/// Whatever the bytes, readers answer; what they read, they read again.
#[test]
fn readers_survive_the_corpus() {
    let mut good = 0;
    for kind in Kind::ALL {
        let files = files(kind.folder());
        assert!(files.len() >= 15, "{kind:?} has {} files", files.len());
        for (path, bytes) in files {
            let outcome = std::panic::catch_unwind(|| kind.check(&bytes));
            match outcome {
                Ok(Ok(read)) => good += usize::from(read),
                Ok(Err(why)) => panic!("{}: {why}", path.display()),
                Err(_) => panic!("{}: panicked", path.display()),
            }
        }
    }
    assert!(good >= 15, "only {good} files can be read");
}
