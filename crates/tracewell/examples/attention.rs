//! An attention block learns to look things up: a memory holds pairs of a name and a value in any order, it is asked for
//! one of the names, and must answer with its value. Only the content of the memory says where to look.
//!
//! `cargo run --release --example attention`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Instant;

use random::Key;
use tracewell::prelude::*;

/// Different names, different values, and pairs in one memory.
const NAMES: usize = 32;
const VALUES: usize = 10;
const PAIRS: usize = 16;
/// Numbers that a name or a value is shown as, heads of the block, and numbers that each looks for.
const CHANNELS: usize = 64;
const HEADS: usize = 4;
const SIZE: usize = 16;

#[derive(Clone, Tree)]
struct Block {
    names: Array,
    values: Array,
    query: Array,
    key: Array,
    value: Array,
    out: Array,
    answer: Array,
}

/// Memories `[n, PAIRS]` of names and of values, the name that each is asked for, and the value that is right.
#[derive(Clone, Tree)]
struct Questions {
    names: Array,
    values: Array,
    asked: Array,
    right: Array,
}

/// The parameters, and the means of slopes and of their squares that Adam keeps.
#[derive(Clone, Tree)]
struct State {
    block: Block,
    mean: Block,
    square: Block,
}

/// How far the training is.
pub(crate) struct Progress {
    /// Steps done.
    pub(crate) step: usize,
    /// The mean cross-entropy before this step.
    pub(crate) loss: f32,
    /// The part of questions it was not trained on that are answered right.
    pub(crate) accuracy: f32,
}

impl Block {
    fn new() -> Block {
        let keys: [Key; 7] = random::split(&random::key(1));
        let normal = |key: &Key, shape: &[usize], inputs: usize| {
            random::normal(key, Shape::from(shape), F32) / (inputs as f64).sqrt()
        };
        let [names, values, query, key, value, out, answer] = &keys;
        Block {
            names: normal(names, &[NAMES, CHANNELS], 1),
            values: normal(values, &[VALUES, CHANNELS], 1),
            query: normal(query, &[CHANNELS, HEADS, SIZE], CHANNELS),
            key: normal(key, &[CHANNELS, HEADS, SIZE], CHANNELS),
            value: normal(value, &[CHANNELS, HEADS, SIZE], CHANNELS),
            out: normal(out, &[HEADS, SIZE, CHANNELS], HEADS * SIZE),
            answer: normal(answer, &[CHANNELS, VALUES], CHANNELS),
        }
    }
}

/// Random memories in which no name is twice, and questions about them.
fn questions(key: &Key, n: usize) -> Questions {
    let [of_names, of_values, of_places] = random::split(key);
    let names = random::uniform(&of_names, [n, NAMES], F32).argsort(1).slice((.., ..PAIRS));
    let values = random::randint(&of_values, [n, PAIRS], 0, VALUES as i64, I32);
    let places = random::randint(&of_places, [n, 1], 0, PAIRS as i64, I32);
    let asked = names.take_along_axis(&places, 1).squeeze(1);
    let right = values.take_along_axis(&places, 1).squeeze(1);
    Questions { names, values, asked, right }
}

/// Scores of each value as an answer. A head looks where what a pair is called fits what it is looking for.
fn answers(block: &Block, q: &Questions) -> Array {
    let memory = block.names.take(&q.names, 0) + block.values.take(&q.values, 0);
    let question = block.names.take(&q.asked, 0);
    let sought = einsum("bc,chd->bhd", &[&question, &block.query]);
    let called = einsum("btc,chd->bthd", &[&memory, &block.key]);
    let held = einsum("btc,chd->bthd", &[&memory, &block.value]);
    let fit = einsum("bhd,bthd->bht", &[&sought, &called]) / (SIZE as f64).sqrt();
    let weights = (&fit - fit.max_axes(&[-1]).stop_gradient().expand(-1)).exp();
    let weights = &weights / weights.sum_axes(&[-1]).expand(-1);
    let found = einsum("bht,bthd,hdc->bc", &[&weights, &held, &block.out]);
    (question + found).dot(&block.answer)
}

jit! {
    /// The part of new questions that are answered right.
    fn accuracy(block: &Block, key: &Key, #[static_arg] n: usize) -> Array {
        let q = questions(key, n);
        answers(block, &q).argmax(1).eq(&q.right).convert(F32).mean()
    }
}

jit! {
    /// One step of Adam on new questions. The new state takes over the memory of the old.
    #[jit(donate(state))]
    fn step(state: State, key: &Key, turn: Scalar, #[static_arg] n: usize) -> (Array, State) {
        let q = questions(&random::fold_in(key, turn.convert(U32)), n);
        let cross_entropy = |block: &Block| {
            let scores = answers(block, &q);
            let scores = &scores - scores.max_axes(&[1]).stop_gradient().expand(1);
            let own = one_hot(&q.right, VALUES, F32);
            (scores.exp().sum_axes(&[1]).log() - (scores * own).sum_axes(&[1])).mean()
        };
        let (loss, slope) = value_and_grad(cross_entropy)(&state.block);
        let mean = tree::map2(&state.mean, &slope, |m, g| 0.9 * m + 0.1 * g);
        let square = tree::map2(&state.square, &slope, |s, g| 0.99 * s + 0.01 * g.square());
        // Both means began at zero and are too small at first.
        let turns = turn.convert(F32) + 1.0;
        let (grown, grown_square) = (1.0 - (0.9f64.ln() * &turns).exp(), 1.0 - (0.99f64.ln() * &turns).exp());
        let way = tree::map2(&mean, &square, |m, s| (m / &grown) / ((s / &grown_square).sqrt() + 1e-8));
        let block = tree::map2(&state.block, &way, |p, d| p - 3e-3 * d);
        (loss, State { block, mean, square })
    }
}

/// Trains on so many new questions in each step, and reports after every so many steps.
pub(crate) fn train(batch: usize, steps: usize, every: usize, mut report: impl FnMut(&Progress)) {
    let [training, unseen] = random::split(&random::key(2));
    let block = Block::new();
    let zeros = tree::map(&block, |p| Array::zeros(p.shape(), F32));
    let mut state = State { block, mean: zeros.clone(), square: zeros };
    for turn in 1..=steps {
        let loss;
        (loss, state) = step(state, &training, turn as f64, batch);
        if turn % every == 0 {
            let accuracy = accuracy(&state.block, &unseen, 1024).item();
            report(&Progress { step: turn, loss: loss.item(), accuracy });
        }
    }
}

/// Trains on 76,800 questions; fails if fewer than 95 % of 1,024 others are answered right in the end.
fn main() -> Result<(), String> {
    let (mut start, mut last) = (Instant::now(), 0.0);
    println!("step   loss      accuracy   time per step");
    train(128, 600, 50, |now| {
        let each = start.elapsed() / 50;
        println!("{:4}   {:.5}   {:5.1} %    {each:.1?}", now.step, now.loss, 100.0 * now.accuracy);
        (start, last) = (Instant::now(), now.accuracy);
    });
    if last < 0.95 { Err(format!("only {:.1} % are answered right", 100.0 * last)) } else { Ok(()) }
}
