//! Random graphs compiled and evaluated give the same; math functions keep their errors; readers survive everything
//! in the corpus.

#[path = "math/checks.rs"]
mod math;

use std::collections::BTreeMap;
use std::process::Command;

use tests::differential::{Seeded, WAYS, check, check_text, report, uses};
use tests::generate::{Options, graph_with};
use tests::laws::dtype;
use tests::readers::{Kind, files};
use tracewell_graph::Prim;

/// How many graphs each part of the test compares, unless `TRACEWELL_SEEDS` says otherwise.
const GRAPHS: u64 = 250;

/// How many of them run again on guarded memory, in a process of its own.
const GUARDED: u64 = 40;

/// Results that may be left uncompared, one in so many graphs.
const SKIPPED: usize = 50;

/// Half of all graphs must be at least so exact, and nine of ten so: in units of the precision of `f32`, against the
/// same graph in `f64`.
const MEDIAN_ERROR: f64 = 8.0;
const USUAL_ERROR: f64 = 256.0;

fn options(seed: u64) -> Options {
    Options { size: 12 + (seed % 17) as usize, extreme: seed.is_multiple_of(3) }
}

/// Failures that are made small, which takes a while; what is wrong with more of them is mostly the same.
const SHOWN: usize = 2;

/// Compares random graphs in the usual way and in one of the others; the first failures together, each made small.
fn compare(seeds: std::ops::Range<u64>) {
    let (mut failures, mut errors, mut skipped) = (Vec::new(), Vec::new(), 0);
    let count = (seeds.end - seeds.start) as usize;
    for seed in seeds {
        if failures.len() == SHOWN {
            break;
        }
        let (graph, inputs) = graph_with(seed, options(seed));
        if let Err(why) = check_text(&graph) {
            failures.push(format!("seed {seed}: {why}\n{graph}"));
        }
        let other = WAYS[1 + seed as usize % (WAYS.len() - 1)];
        for way in [WAYS[0], other] {
            match check(&graph, &inputs, way) {
                Ok(agreement) => {
                    skipped += agreement.skipped;
                    errors.extend(agreement.error);
                }
                Err(why) => {
                    failures.push(report(seed, options(seed), way, &why).0);
                    break;
                }
            }
        }
    }
    assert!(failures.is_empty(), "graphs fail:\n{}", failures.join("\n"));
    assert!(skipped <= count / SKIPPED, "{skipped} results of {count} graphs are too rough to be compared");
    errors.sort_by(f64::total_cmp);
    let (median, usual) = (errors[errors.len() / 2], errors[errors.len() * 9 / 10]);
    assert!(
        median <= MEDIAN_ERROR && usual <= USUAL_ERROR,
        "the median error is {median}, one in ten {usual}"
    );
}

/// A fourth of the random graphs, so that the tests run beside each other.
fn compare_part(part: u64) {
    let seeds = std::env::var("TRACEWELL_SEEDS").ok().and_then(|text| text.parse().ok());
    let count: u64 = seeds.map_or(GRAPHS, |all: u64| all.div_ceil(4));
    compare(part * count..(part + 1) * count);
}

#[test]
fn random_graphs_agree_part_1() {
    compare_part(0);
}

#[test]
fn random_graphs_agree_part_2() {
    compare_part(1);
}

#[test]
fn random_graphs_agree_part_3() {
    compare_part(2);
}

#[test]
fn random_graphs_agree_part_4() {
    compare_part(3);
}

/// The graphs of these tests have enough equations, and use everything on every element type often enough.
#[test]
fn random_graphs_cover_every_primitive_and_dtype() {
    let (mut counts, mut sizes) = (BTreeMap::new(), Vec::new());
    for example in Prim::examples() {
        counts.insert((example.prim.name().to_owned(), dtype(&example)), 0usize);
    }
    for seed in 0..4 * GRAPHS {
        let (graph, _) = graph_with(seed, options(seed));
        sizes.push(graph.equations.len());
        for used in uses(&graph) {
            if let Some(count) = counts.get_mut(&used) {
                *count += 1;
            }
        }
    }
    sizes.sort_unstable();
    assert!(sizes[sizes.len() / 2] >= 12, "the median graph has {} equations", sizes[sizes.len() / 2]);
    let seldom: Vec<_> = counts.iter().filter(|(_, count)| **count < 20).collect();
    assert!(seldom.is_empty(), "used less than 20 times in {} graphs: {seldom:?}", 4 * GRAPHS);
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
