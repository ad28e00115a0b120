//! Making a tree smaller while it still fails in the same way.
//!
//! A strategy knows places of a tree and what to do there; delta debugging chooses the places; whether a candidate
//! still fails in the same way is asked of whoever can run it. All strategies run to a fixpoint: after a success the
//! first one runs again.

mod answers;
mod bypass;
mod data;
mod drop;
mod dtypes;
mod earlier;
mod edit;
mod given;
mod leaves;
mod literals;
mod loops;
mod parts;
mod results;
mod settings;
mod shrink;
mod types;
mod unwrap;
mod values;

use std::collections::BTreeMap;

use crate::ddmin::ddmin;
use crate::failure::Signature;
use crate::replay::Replay;
use crate::text;
use crate::tree::CallTree;

/// One way to make trees smaller.
pub trait Strategy: Sync {
    /// What it does, in a word or two.
    fn name(&self) -> &'static str;

    /// At how many places of the tree it could do that.
    fn places(&self, tree: &CallTree) -> usize;

    /// The tree with it done at these places.
    fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree;
}

/// All strategies, the coarse ones first.
pub fn strategies() -> Vec<&'static dyn Strategy> {
    vec![
        &drop::Drop,
        &unwrap::Unwrap,
        &bypass::Bypass,
        &given::Given,
        &earlier::Earlier,
        &leaves::Leaves,
        &results::Results,
        &loops::Loops,
        &shrink::ToOne,
        &shrink::ToTwo,
        &shrink::Halve,
        &data::Data,
        &answers::Answers,
        &literals::ZEROS,
        &literals::ONES,
        &dtypes::DTypes,
        &settings::Settings,
    ]
}

/// How a reduction goes.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The strategy that is at work.
    pub strategy: &'static str,
    /// Candidates that were run.
    pub tried: usize,
    /// Candidates that were known already.
    pub known: usize,
    /// Statements of the smallest tree so far.
    pub size: usize,
    /// Statements at the beginning.
    pub before: usize,
}

/// What a reduction needs from outside.
pub struct Reducer<'a> {
    /// Who runs candidates.
    pub replay: &'a dyn Replay,
    /// How many run at once.
    pub jobs: usize,
    /// What candidates of an earlier reduction came to, by their texts; new ones are added.
    pub memo: BTreeMap<u64, bool>,
    /// Told of every new answer, for the memo of a later reduction.
    pub answered: &'a mut dyn FnMut(u64, bool),
    /// Told of every tree that is smaller than all before.
    pub better: &'a mut dyn FnMut(&CallTree),
    /// Told now and then how it goes; says whether to go on.
    pub progress: &'a mut dyn FnMut(&Progress) -> bool,
}

impl std::fmt::Debug for Reducer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reducer").field("jobs", &self.jobs).field("known", &self.memo.len()).finish()
    }
}

/// The smallest tree that is found and fails with the same signature; the tree itself if it does not fail.
pub fn reduce(tree: &CallTree, reducer: &mut Reducer<'_>) -> CallTree {
    let mut best = tree.numbered();
    let Some(signature) = best.failure.as_ref().map(|failure| failure.signature()) else { return best };
    let mut progress = Progress { strategy: "", tried: 0, known: 0, size: best.size(), before: best.size() };
    let strategies = strategies();
    let mut at = 0;
    while let Some(strategy) = strategies.get(at) {
        progress.strategy = strategy.name();
        let start = best.clone();
        let mut found: Option<CallTree> = None;
        let mut stopped = false;
        ddmin(strategy.places(&start), reducer.jobs, &mut |sets| {
            if stopped {
                return None;
            }
            let candidates: Vec<CallTree> =
                sets.iter().map(|places| strategy.apply(&start, places).numbered()).collect();
            let smallest = found.as_ref().unwrap_or(&start);
            let good = first_good(&candidates, smallest, &signature, reducer, &mut progress);
            if let Some(good) = good {
                let tree = &candidates[good];
                progress.size = tree.size();
                (reducer.better)(tree);
                found = Some(tree.clone());
            }
            stopped = !(reducer.progress)(&progress);
            good
        });
        match found {
            Some(tree) => {
                best = tree;
                at = 0;
            }
            None => at += 1,
        }
        if stopped {
            break;
        }
    }
    best
}

/// The first candidate that is smaller and fails in the same way.
fn first_good(
    candidates: &[CallTree],
    smallest: &CallTree,
    signature: &Signature,
    reducer: &mut Reducer<'_>,
    progress: &mut Progress,
) -> Option<usize> {
    let limit = weight(smallest);
    let keys: Vec<u64> = candidates.iter().map(key).collect();
    // What is not smaller is not run: so that reduction ends.
    let known = |memo: &BTreeMap<u64, bool>, at: usize| match weight(&candidates[at]) < limit {
        true => memo.get(&keys[at]).copied(),
        false => Some(false),
    };
    let unknown: Vec<usize> =
        (0..candidates.len()).filter(|&at| known(&reducer.memo, at).is_none()).collect();
    progress.tried += unknown.len();
    progress.known += candidates.len() - unknown.len();
    let replay = reducer.replay;
    let is_same =
        |at: usize| replay.run(&candidates[at]).is_some_and(|failure| failure.signature() == *signature);
    let answers: Vec<bool> = match unknown.as_slice() {
        [] => Vec::new(),
        &[one] => vec![is_same(one)],
        all => std::thread::scope(|scope| {
            let running: Vec<_> = all.iter().map(|&at| scope.spawn(move || is_same(at))).collect();
            running.into_iter().map(|thread| thread.join().unwrap_or(false)).collect()
        }),
    };
    for (at, answer) in unknown.into_iter().zip(answers) {
        reducer.memo.insert(keys[at], answer);
        (reducer.answered)(keys[at], answer);
    }
    (0..candidates.len()).find(|&at| known(&reducer.memo, at) == Some(true))
}

/// What is made smaller: statements first, then everything that is written of them, then the data, then numbers.
fn weight(tree: &CallTree) -> (usize, usize, usize, usize) {
    let written = text::write(tree);
    // Locations are not changed, and names change with the number of values: sizes of texts are comparable.
    let data: usize = written.files.iter().map(|(_, tensor)| tensor.size_bytes()).sum();
    (tree.size(), data / 64 + written.text.len(), data, literals::total(tree))
}

/// A candidate by its text.
fn key(tree: &CallTree) -> u64 {
    use std::hash::Hasher;
    let written = text::write(tree);
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(written.text.as_bytes());
    for (_, tensor) in &written.files {
        hasher.write(tensor.as_bytes());
    }
    hasher.finish()
}
