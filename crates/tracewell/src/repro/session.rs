//! Recording as it goes: each call of an API that is not part of another records its tree, and a failure writes it.
//!
//! A call whose trace is cached makes no event at all: what its function did is kept with the trace.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use tracewell_array::Tensor;
use tracewell_graph::Location;
use tracewell_repro::{
    Answer, Body, CallTree, Dependency, Failure, KeptCall, Limits, Place, Recorded, Recorder, Signature,
    Stage, Statement, failing, plain_operand,
};
use tracewell_trace::{Cause, Error, ErrorKind, Observing, Switch, Value, Witness, install_witness};

use super::again::LISTENING;
use super::{Repro, settings, stand_in};
use crate::config::{self, Repros};
use crate::jit::Entry;
use crate::staging::values_of;
use crate::tree::Tree;

/// So many folders are written by one process.
const MOST_FOLDERS: usize = 16;

/// So many bytes of data are written by one process.
const MOST_BYTES: usize = 256 << 20;

thread_local! {
    /// What records on this thread.
    static CURRENT: RefCell<Option<Arc<Recorder>>> = const { RefCell::new(None) };
    /// The last call that was recorded and did not fail, without data: what a leaked tracer came from.
    static LAST: RefCell<Option<KeptCall>> = const { RefCell::new(None) };
    /// Where folders go on this thread, whatever the variable says; the last counts.
    static FOLDERS: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
    static REPLAY_COUNT: Cell<usize> = const { Cell::new(0) };
    /// The last failure while replaying.
    static REPLAYED: RefCell<Option<Failure>> = const { RefCell::new(None) };
    /// The last failure while collecting.
    static COLLECTED: RefCell<Option<CallTree>> = const { RefCell::new(None) };
    static KEEP_COUNT: Cell<usize> = const { Cell::new(0) };
    static COLLECT_COUNT: Cell<usize> = const { Cell::new(0) };
    /// So many statements are kept of one tree.
    static MOST: Cell<usize> = const { Cell::new(tracewell_repro::MOST_STATEMENTS) };
}

/// On while a tree is replayed: its failures are expected.
pub(super) static REPLAYING: Switch = Switch::new(&REPLAY_COUNT);

/// On while data is kept that a failure may need later.
static KEEPING: Switch = Switch::new(&KEEP_COUNT);

/// On while `collect` runs.
static COLLECTING: Switch = Switch::new(&COLLECT_COUNT);

/// What this process has written.
#[derive(Default)]
struct Dumped {
    folders: FxHashMap<(Option<PathBuf>, Signature), Option<PathBuf>>,
    count: usize,
    bytes: usize,
    last: Option<(Repro, PathBuf)>,
}

static DUMPED: Mutex<Option<Dumped>> = Mutex::new(None);

fn dumped() -> MutexGuard<'static, Option<Dumped>> {
    DUMPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records while it is alive.
pub(crate) struct Session {
    recorder: Arc<Recorder>,
    outer: Option<Arc<Recorder>>,
    _observing: Observing,
}

impl Drop for Session {
    fn drop(&mut self) {
        CURRENT.with_borrow_mut(|current| *current = self.outer.take());
        if !COLLECTING.is_on() {
            let last = self.recorder.take_last();
            LAST.with_borrow_mut(|kept| *kept = last);
        }
    }
}

fn is_armed() -> bool {
    !REPLAYING.is_on() && (config::repros() != Repros::Off || FOLDERS.with_borrow(|all| !all.is_empty()))
}

pub(super) fn is_recording() -> bool {
    CURRENT.with_borrow(Option::is_some)
}

/// Starts to record, unless that is going on or switched off.
pub(crate) fn session() -> Option<Session> {
    session_after(None)
}

/// The same, after a call that was recorded before.
pub(crate) fn session_after(before: Option<&KeptCall>) -> Option<Session> {
    if is_recording() || !is_armed() {
        return None;
    }
    Some(start(before, nowhere()))
}

fn nowhere() -> Location {
    Location { file: "".into(), line: 0, column: 0 }
}

fn start(before: Option<&KeptCall>, location: Location) -> Session {
    let recorder = Arc::new(Recorder::new(location, before, MOST.get()));
    let outer = CURRENT.with_borrow_mut(|current| current.replace(recorder.clone()));
    let _observing = Observing::start(recorder.clone());
    Session { recorder, outer, _observing }
}

fn with_current<T>(f: impl FnOnce(&Recorder) -> T) -> Option<T> {
    let current = CURRENT.with_borrow(Clone::clone);
    current.map(|recorder| f(&recorder))
}

/// The last call that was recorded here.
pub(crate) fn last_call() -> Option<KeptCall> {
    with_current(Recorder::last_call).flatten()
}

/// What the function that has just been traced did.
pub(crate) fn take_body() -> Option<Arc<Recorded>> {
    with_current(Recorder::take_ended).flatten()
}

/// The call that is going on found its trace in the cache.
pub(crate) fn found(entry: &Entry) {
    with_current(|recorder| {
        let from_graph = || {
            let frame = u64::MAX - Arc::as_ptr(&entry.graph) as u64;
            let body = Body::from_graph(&entry.graph, frame, &entry.signature.function.location);
            Arc::new(Recorded::from(body))
        };
        recorder.cached(entry.recorded.clone().unwrap_or_else(from_graph));
    });
}

/// A function of the user's was called.
pub(super) fn was_called(answer: Answer) {
    with_current(|recorder| recorder.was_called(answer));
}

/// Whether a failure may come after calls that went well: then all is kept.
pub(super) fn keeps_all() -> bool {
    COLLECTING.is_on() || KEEPING.is_on()
}

/// Arguments are about to be given away: nothing here may refer to them.
pub(crate) fn release() {
    if !keeps_all() {
        with_current(Recorder::release);
    }
}

/// What is left of them after a run that failed.
pub(crate) fn restore(arguments: &[Option<Tensor>]) {
    with_current(|recorder| recorder.restore(arguments));
}

/// Removes a folder when the call it was written for has ended, well or not.
pub(crate) struct Early(PathBuf);

impl Drop for Early {
    fn drop(&mut self) {
        // That it cannot be removed is no news for the user: it says that it was written early.
        let _ = tracewell_repro::remove(&self.0);
    }
}

/// With `TRACEWELL_REPRO=early`, writes what ran so far before something that may end the process.
pub(crate) fn early() -> Option<Early> {
    if config::repros() != Repros::Early || REPLAYING.is_on() {
        return None;
    }
    let main = with_current(|recorder| recorder.tree_so_far(None))?;
    let failure = Failure {
        kind: "Process".to_string(),
        stage: Stage::Running,
        primitive: None,
        message: "the process ended while something was compiled or ran".to_string(),
    };
    let tree = whole(main, Some(failure));
    let place = Place { root: config::repro_folder(), number: 0, name: format!("early-{}", name_of(&tree)) };
    let saved = tracewell_repro::save(&tree, &place, &library(), Limits { bytes: MOST_BYTES });
    saved.ok().map(Early)
}

/// Makes failures known here.
pub(crate) fn install() {
    install_witness(Recording);
}

struct Recording;

impl Witness for Recording {
    fn raised(&self, error: &Error) -> Option<String> {
        if LISTENING.is_on() {
            return None;
        }
        let primitive = match error.cause() {
            Some(Cause::Bind { prim, .. }) => Some(prim.name().to_string()),
            _ => None,
        };
        let failure = Failure::of(error, primitive.as_deref());
        if REPLAYING.is_on() {
            REPLAYED.set(Some(failure.clone()));
        }
        if !COLLECTING.is_on() && !is_armed() {
            return None;
        }
        let tree = || {
            let main = match CURRENT.with_borrow(Clone::clone) {
                Some(recorder) => recorder.tree_so_far(recorder.failing(error)),
                None => {
                    let statements = vec![failing(error, &mut plain_operand)];
                    Body { statements, ..Body::main(nowhere()) }
                }
            };
            whole(main, Some(failure.clone()))
        };
        report(&failure, tree)
    }

    fn panicked(&self, text: Option<&str>) {
        if LISTENING.is_on() || (!COLLECTING.is_on() && !is_armed()) {
            return;
        }
        let text = text.unwrap_or("a panic without text");
        let Some(main) = with_current(|recorder| recorder.panicked(text)).flatten() else { return };
        let failure = Failure::panic(text);
        if let Some(folder) = report(&failure, || whole(main, Some(failure.clone()))) {
            #[allow(clippy::print_stderr, reason = "a panic that is not ours cannot say it itself")]
            {
                eprintln!("  repro: {folder}");
            }
        }
    }
}

/// The failure of what was replayed, once.
pub(super) fn take_replayed() -> Option<Failure> {
    REPLAYED.take()
}

/// A tree of what ran, with what cannot be written stood in for.
fn whole(main: Body, failure: Option<Failure>) -> CallTree {
    let version = env!("CARGO_PKG_VERSION").to_string();
    let settings = settings::now(failure.as_ref());
    let stand_ins = with_current(Recorder::note).flatten().into_iter().collect();
    let called = with_current(Recorder::called).unwrap_or_default();
    let tree = CallTree { version, settings, main, failure, stand_ins, answers: called };
    let answers = with_current(Recorder::answers).unwrap_or_default();
    let mut tree = stand_in::written(tree, &answers);
    // A tracer of an earlier call: that call comes first.
    let numbered = tree.numbered();
    if numbered.stand_ins.len() > tree.stand_ins.len()
        && let Some(last) = LAST.with_borrow(Clone::clone)
    {
        let mut with_last = tree.clone();
        with_last.main.statements.insert(0, last.unpacked());
        let with_last = stand_in::written(with_last, &answers);
        if with_last.numbered().stand_ins.len() <= numbered.stand_ins.len() {
            tree = with_last;
        }
    }
    tree.numbered()
}

/// Writes a failure's folder, once for each kind of failure, and gives its path.
fn report(failure: &Failure, tree: impl FnOnce() -> CallTree) -> Option<String> {
    if COLLECTING.is_on() {
        let tree = tree();
        COLLECTED.set(Some(tree));
        return None;
    }
    let forced = FOLDERS.with_borrow(|all| all.last().cloned());
    let key = (forced.clone(), failure.signature());
    let number = {
        let mut dumped = dumped();
        let dumped = dumped.get_or_insert_default();
        if let Some(known) = dumped.folders.get(&key) {
            return known.as_ref().map(|path| path.display().to_string());
        }
        if dumped.count >= MOST_FOLDERS && forced.is_none() {
            return None;
        }
        dumped.count += 1;
        dumped.folders.insert(key.clone(), None);
        dumped.count
    };
    let tree = tree();
    let root = forced.unwrap_or_else(config::repro_folder);
    let place = Place { root, number, name: name_of(&tree) };
    let left = dumped().as_ref().map_or(0, |dumped| MOST_BYTES.saturating_sub(dumped.bytes));
    // A failure to write never hides the user's error.
    let path = tracewell_repro::save(&tree, &place, &library(), Limits { bytes: left }).ok()?;
    let bytes: usize = data_bytes(&tree);
    let mut dumped = dumped();
    let dumped = dumped.get_or_insert_default();
    dumped.bytes += bytes.min(left);
    dumped.folders.insert(key, Some(path.clone()));
    dumped.last = Some((Repro { tree }, path.clone()));
    Some(path.display().to_string())
}

fn data_bytes(tree: &CallTree) -> usize {
    let written = tracewell_repro::text::write(tree);
    written.files.iter().map(|(_, tensor)| tensor.size_bytes()).sum()
}

/// Where programs find the library: this version of it.
fn library() -> Dependency {
    match std::env::var_os("TRACEWELL_REPRO_LIBRARY") {
        Some(path) => Dependency::Path(path.into()),
        None => Dependency::Version(env!("CARGO_PKG_VERSION").to_string()),
    }
}

/// What failed, for a folder's name.
fn name_of(tree: &CallTree) -> String {
    let named = tree.main.statements.iter().rev().find_map(|statement| match statement {
        Statement::Api(call) => call.function.clone().or_else(|| Some(call.api.name().to_string())),
        Statement::Bind(bind) => Some(bind.prim.name().to_string()),
        Statement::Call { name, .. } => Some(name.clone()),
        _ => None,
    });
    named.unwrap_or_else(|| "failure".to_string())
}

/// Writes a tree into a folder of this one.
pub(super) fn save(tree: &CallTree, folder: &Path) -> std::io::Result<PathBuf> {
    let place = Place { root: folder.to_path_buf(), number: 1, name: name_of(tree) };
    tracewell_repro::save(tree, &place, &library(), Limits { bytes: MOST_BYTES })
}

/// The last failure for which a folder was written.
pub(super) fn last() -> Option<(Repro, PathBuf)> {
    dumped().as_ref().and_then(|dumped| dumped.last.clone())
}

/// Runs `f` with folders of this thread going there.
pub(super) fn writing_to<R>(folder: &Path, f: impl FnOnce() -> R) -> R {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            FOLDERS.with_borrow_mut(Vec::pop);
        }
    }
    FOLDERS.with_borrow_mut(|all| all.push(folder.to_path_buf()));
    let _leave = Leave;
    f()
}

/// For tests: runs `f`, in which trees of so many statements are kept at most.
pub fn recording_at_most<R>(most: usize, f: impl FnOnce() -> R) -> R {
    struct Leave(usize);
    impl Drop for Leave {
        fn drop(&mut self) {
            MOST.set(self.0);
        }
    }
    let _leave = Leave(MOST.replace(most));
    f()
}

/// Runs `f`, and fails if its result is not what was expected.
pub(super) fn expect<Y: Tree>(
    f: impl FnOnce() -> Y,
    holds: impl FnOnce(&Y) -> bool,
    location: Location,
) -> Result<Y, Error> {
    crate::executor::install();
    let _session = if is_armed() || COLLECTING.is_on() { Some(start(None, nowhere())) } else { None };
    let y = KEEPING.on(f);
    if holds(&y) {
        return Ok(y);
    }
    let error = Error::new(ErrorKind::Check, "a result is not what was expected").while_running();
    let wrong = || {
        let found = values_of(&y);
        // Copies, so that they are not taken for the results themselves.
        let copies = found.iter().filter_map(|value| {
            let tensor = value.known()?;
            Tensor::from_bytes(tensor.dtype(), tensor.shape().clone(), tensor.as_bytes())
                .ok()
                .map(Value::from)
        });
        let operands: Vec<Value> = found.iter().cloned().chain(copies).collect();
        Cause::Call { name: "unexpected", operands, arguments: Vec::new() }
    };
    Err(tracewell_trace::complete(error.caused_by(wrong), &location))
}

/// Runs `f` and gives what it did, or how it failed.
pub(super) fn collect<R>(f: impl FnOnce() -> R, location: Location) -> (R, Repro) {
    crate::executor::install();
    let session = start(None, location);
    COLLECTED.set(None);
    let result = COLLECTING.on(f);
    let tree = COLLECTED.take().unwrap_or_else(|| whole(session.recorder.finished(), None));
    drop(session);
    (result, Repro { tree })
}
