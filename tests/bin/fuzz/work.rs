//! The process that works: readers and graphs in turns until the time is up.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tests::differential::{self, Seeded, WAYS};
use tests::generate::{Options, graph_with};
use tests::readers::{Kind, Mutator};
use tracewell_array::DType;
use tracewell_graph::Prim;
use tracewell_graph::text::write;

use crate::allocator::take_peak;
use crate::arguments::Arguments;
use crate::findings::{Desk, Findings};

/// A reader that takes longer for one input has a loop that grows too fast.
const SLOW: Duration = Duration::from_secs(5);

/// How long one kind of work goes on before the other has its turn.
const TURN: Duration = Duration::from_millis(500);

/// As much as a thread usually has.
const STACK: usize = 2 << 20;

/// Whether nothing was found.
pub(crate) fn run(arguments: &Arguments, desk: &Path) -> Result<bool, String> {
    let mut work = Work::new(arguments, Desk::open(desk)?);
    match arguments.graphs {
        Some(count) => println!("fuzz: {count} graphs from seed {}", arguments.seed),
        None => println!("fuzz: {} s from seed {}", arguments.time.as_secs(), arguments.seed),
    }
    let (end, graphs) = (Instant::now() + arguments.time, arguments.graphs);
    let worker = std::thread::Builder::new().stack_size(STACK);
    let worker = worker.spawn(move || work.until(end, graphs)).map_err(|error| error.to_string())?;
    worker.join().map_err(|_| "the work itself panicked".to_owned())?
}

/// What the readers of one kind were given.
#[derive(Default)]
struct Tried {
    inputs: u64,
    /// How many of them were read.
    good: u64,
    slowest: Duration,
}

struct Work {
    desk: Desk,
    findings: Findings,
    readers: Vec<(Kind, Mutator, Tried)>,
    /// The most memory that a reader took.
    reader_peak: usize,
    graph_peak: usize,
    next_graph: u64,
    graphs: u64,
    /// Equations of each graph.
    sizes: Vec<usize>,
    /// How far results are from those in `f64`, for each graph.
    errors: Vec<f64>,
    /// Results too rough to be compared.
    skipped: usize,
    uses: BTreeMap<(String, DType), u64>,
}

impl Work {
    fn new(arguments: &Arguments, desk: Desk) -> Work {
        let reader = |kind| (kind, Mutator::new(kind, arguments.seed), Tried::default());
        Work {
            desk,
            findings: Findings::default(),
            readers: Kind::ALL.into_iter().map(reader).collect(),
            reader_peak: 0,
            graph_peak: 0,
            // Far from the seeds that the tests try.
            next_graph: arguments.seed.wrapping_mul(1_000_003),
            graphs: 0,
            sizes: Vec::new(),
            errors: Vec::new(),
            skipped: 0,
            uses: BTreeMap::new(),
        }
    }

    /// Works until a moment, or until so many graphs were compared.
    fn until(&mut self, end: Instant, graphs: Option<u64>) -> Result<bool, String> {
        catch_messages();
        let mut shown = Instant::now();
        let done = |work: &Work| graphs.is_some_and(|count| work.graphs >= count);
        while Instant::now() < end && !self.findings.enough() && !done(self) {
            let turn = end.min(Instant::now() + TURN);
            while Instant::now() < turn && graphs.is_none() {
                for reader in 0..self.readers.len() {
                    self.read(reader)?;
                }
            }
            let turn = end.min(Instant::now() + TURN);
            while Instant::now() < turn && !done(self) {
                self.graph()?;
            }
            if shown.elapsed() >= Duration::from_secs(10) {
                println!("{}", self.progress());
                shown = Instant::now();
            }
        }
        println!("{}\n{}", self.progress(), self.summary());
        Ok(self.findings.count() == 0)
    }

    /// Tries one damaged input.
    fn read(&mut self, reader: usize) -> Result<(), String> {
        let (kind, mutator, tried) = &mut self.readers[reader];
        let input = mutator.next_input();
        self.desk.put(kind.folder(), &input)?;
        take_peak();
        let began = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| kind.check(&input)));
        let took = began.elapsed();
        self.reader_peak = self.reader_peak.max(take_peak());
        tried.inputs += 1;
        tried.slowest = tried.slowest.max(took);
        let why = match outcome {
            Ok(Ok(good)) => {
                tried.good += u64::from(good);
                (took > SLOW).then(|| format!("reading takes {took:?}"))
            }
            Ok(Err(why)) => Some(why),
            Err(_) => Some(last_message()),
        };
        if let Some(why) = why {
            // The same mistake has the same first line, but for places.
            let first = why.lines().next().unwrap_or_default().replace(|c: char| c.is_ascii_digit(), "");
            self.findings.add(kind.folder(), &input, first, &format!("{kind:?}: {why}"));
        }
        Ok(())
    }

    /// Compiles and evaluates one random graph, in one of the ways there are.
    fn graph(&mut self) -> Result<(), String> {
        let seed = self.next_graph;
        self.next_graph = seed.wrapping_add(1);
        let options = Options { size: 4 + (seed % 29) as usize, extreme: seed.is_multiple_of(3) };
        let way = WAYS[(seed % 7) as usize % WAYS.len()];
        let (graph, inputs) = graph_with(seed, options);
        self.desk
            .put("graphs", format!("// inputs {seed} {}\n{}", options.extreme, write(&graph)).as_bytes())?;
        take_peak();
        let outcome =
            differential::check_text(&graph).and_then(|()| differential::check(&graph, &inputs, way));
        self.graph_peak = self.graph_peak.max(take_peak());
        self.graphs += 1;
        self.sizes.push(graph.equations.len());
        if let Ok(agreement) = &outcome {
            self.errors.extend(agreement.error);
            self.skipped += agreement.skipped;
        }
        for used in differential::uses(&graph) {
            *self.uses.entry(used).or_default() += 1;
        }
        if let Err(why) = outcome {
            let (text, small) = differential::report(seed, options, way, &why);
            let kept = small.unwrap_or(Seeded { graph, seed, extreme: options.extreme });
            // The same mistake shrinks to the same primitives.
            let kind = format!("{:?}", differential::uses(&kept.graph));
            self.findings.add("graphs", kept.text().as_bytes(), kind, &text);
        }
        Ok(())
    }

    fn progress(&self) -> String {
        let mut line = String::from("fuzz:");
        for (kind, _, Tried { inputs, good, .. }) in &self.readers {
            let _ = write!(line, " {inputs} {} ({good} read),", kind.folder());
        }
        format!("{line} {} graphs, {} findings", self.graphs, self.findings.count())
    }

    /// What was tried, and how often each primitive was compiled for each element type.
    fn summary(&self) -> String {
        let mut text = format!("\n{:<16}", "primitive");
        DType::ALL.iter().for_each(|dtype| text += &format!(" {:>8}", dtype.name()));
        for name in Prim::NAMES {
            let _ = write!(text, "\n{name:<16}");
            for dtype in DType::ALL {
                let count = self.uses.get(&((*name).to_owned(), *dtype)).copied().unwrap_or(0);
                let _ = write!(text, " {:>8}", if count == 0 { "-".to_owned() } else { count.to_string() });
            }
        }
        let median = |mut sizes: Vec<usize>| {
            sizes.sort_unstable();
            sizes.get(sizes.len() / 2).copied().unwrap_or(0)
        };
        let mut errors = self.errors.clone();
        errors.sort_by(f64::total_cmp);
        let quantile = |share: usize| errors.get(errors.len() * share / 100).copied().unwrap_or(0.0);
        let _ = write!(
            text,
            "\n{} graphs, the median of {} equations; error against f64 in units of f32: median {:.1}, 90 of 100 \
             below {:.0}, 99 of 100 below {:.0}; {} results too rough to be compared",
            self.graphs,
            median(self.sizes.clone()),
            quantile(50),
            quantile(90),
            quantile(99),
            self.skipped
        );
        for (kind, _, Tried { slowest, .. }) in &self.readers {
            let _ = write!(text, "\nslowest {}: {slowest:?}", kind.folder());
        }
        let mebibytes = |bytes: usize| bytes >> 20;
        let (reader, graph) = (mebibytes(self.reader_peak), mebibytes(self.graph_peak));
        let _ = write!(text, "\npeak of memory: {reader} MiB in a reader, {graph} MiB in a graph");
        text
    }
}

/// What the last panic said, and where.
static MESSAGE: Mutex<String> = Mutex::new(String::new());

/// Keeps the text of panics instead of printing it.
fn catch_messages() {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut message) = MESSAGE.lock() {
            *message = format!("panicked: {info}").replace('\n', " ");
        }
    }));
}

fn last_message() -> String {
    MESSAGE.lock().map_or_else(|_| "panicked".to_owned(), |message| message.clone())
}
