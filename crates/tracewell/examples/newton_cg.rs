//! Truncated Newton: steps by conjugate gradients on products with the Hessian, the whole optimiser one program.
//!
//! Three losses are minimised: a quadratic, logistic regression and the likelihood of a hidden Markov model. Each
//! is minimised twice by the same code: jitted, with staged loops; and operation by operation, with Rust's loops.
//!
//! `cargo run --release --example newton_cg`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::{Duration, Instant};

use tracewell::prelude::*;

/// Who runs a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Loops {
    /// The program: loops are operations like others, which can be jitted and differentiated.
    Staged,
    /// Rust, one operation after the other.
    Rust,
}

impl Loops {
    fn repeat<S: Tree + Clone>(self, start: S, go_on: impl Fn(&S) -> Array, step: impl Fn(&S) -> S) -> S {
        match self {
            Loops::Staged => while_loop(start, go_on, step),
            Loops::Rust => {
                let mut state = start;
                while go_on(&state).item() {
                    state = step(&state);
                }
                state
            }
        }
    }

    /// Along the rows of `xs`.
    fn fold(self, start: Array, xs: &Array, step: impl Fn(&Array, &Array) -> Array) -> Array {
        match self {
            Loops::Staged => scan(start, xs, |state: &Array, x: &Array| (step(state, x), ())).0,
            Loops::Rust => (0..xs.shape().size(0)).fold(start, |state, row| step(&state, &xs.slice(s![row]))),
        }
    }
}

/// What is minimised; loops in it are run as told.
type Loss = Box<dyn Fn(Loops, &Array) -> Array>;

/// A function to be minimised, and where to start.
pub(crate) struct Problem {
    pub(crate) name: &'static str,
    loss: Loss,
    start: Array,
}

/// How far the optimiser is.
#[derive(Clone, Tree)]
pub(crate) struct Progress {
    x: Array,
    gradient: Array,
    /// The loss before each step, and NaN for those that were not needed.
    pub(crate) losses: Array,
    /// Steps done.
    pub(crate) step: Array,
}

/// Newton's method until the gradient is small. `losses` has room for one more than the steps.
pub(crate) fn minimise(loss: &dyn Fn(&Array) -> Array, x: &Array, steps: usize, loops: Loops) -> Progress {
    let progress = |x: Array, losses: &Array, step: Array| {
        let (value, gradient) = value_and_grad(loss)(&x);
        let losses = select(&Array::arange(steps + 1, I32).eq(&step), value, losses);
        Progress { x, gradient, losses, step }
    };
    let start = progress(x.clone(), &Array::full([steps + 1], f64::NAN, F64), Array::from(0i32));
    loops.repeat(
        start,
        |now| norm(&now.gradient).gt(1e-8) & now.step.lt(steps as i64),
        |now| {
            let direction = conjugate_gradients(loss, &now.x, &now.gradient, loops);
            let x = line_search(loss, &now.x, &direction, &now.gradient, loops);
            progress(x, &now.losses, &now.step + 1)
        },
    )
}

/// A search for the direction that solves `H direction = -gradient`.
#[derive(Clone, Tree)]
struct Search {
    direction: Array,
    residual: Array,
    /// Where to go next, and the size of the residual squared.
    next: Array,
    size: Array,
    turn: Array,
}

/// Solves until the residual is small enough for this step, or the curvature is not that of a valley.
fn conjugate_gradients(loss: &dyn Fn(&Array) -> Array, x: &Array, gradient: &Array, loops: Loops) -> Array {
    let length = norm(gradient);
    let enough = (&length * length.sqrt().minimum(0.5)).square();
    let start = Search {
        direction: 0.0 * gradient,
        residual: -gradient,
        next: -gradient,
        size: length.square(),
        turn: Array::from(0i32),
    };
    let found = loops.repeat(
        start,
        |s| s.size.gt(&enough) & s.turn.lt(2 * x.len() as i64),
        |s| {
            let bent = hvp(loss, x, &s.next);
            let curvature = s.next.dot(&bent);
            let valley = curvature.gt(0.0);
            let by = select(&valley, &s.size / curvature, 0.0);
            let residual = &s.residual - &by * bent;
            let size = residual.dot(&residual);
            Search {
                direction: &s.direction + by * &s.next,
                next: &residual + &size / &s.size * &s.next,
                // Nothing is left to do on a ridge.
                size: select(&valley, size, 0.0),
                residual,
                turn: &s.turn + 1,
            }
        },
    );
    // A ridge at once: downhill.
    select(&found.direction.dot(gradient).lt(0.0), &found.direction, -gradient)
}

/// Along the direction, half as far until the loss falls as it should.
fn line_search(
    loss: &dyn Fn(&Array) -> Array,
    x: &Array,
    direction: &Array,
    gradient: &Array,
    loops: Loops,
) -> Array {
    let (here, slope) = (loss(x), direction.dot(gradient));
    let too_far = |by: &Array| loss(&(x + by * direction)).gt(&here + 1e-4 * by * &slope) & by.gt(1e-9);
    let by = loops.repeat(Array::from(1.0), too_far, |by| 0.5 * by);
    x + by * direction
}

fn norm(x: &Array) -> Array {
    x.dot(x).sqrt()
}

/// The logarithm of the sum of exponentials along an axis.
fn logsumexp(x: &Array, axis: isize) -> Array {
    let top = x.max_axes(&[axis]).stop_gradient();
    (x - top.expand(axis)).exp().sum_axes(&[axis]).log() + top
}

/// Numbers between 0 and 1 that look random, and are the same each time.
fn noise(shape: impl Into<Shape>, seed: f64) -> Array {
    let shape = shape.into();
    let hash = |i: usize| ((i as f64 * 12.9898 + seed).sin() * 43758.5453).rem_euclid(1.0);
    Array::from((0..shape.len()).map(hash).collect::<Vec<f64>>()).reshape(shape)
}

/// `x·Ax / 2 - b·x` with a positive definite matrix.
pub(crate) fn quadratic(n: usize) -> Problem {
    let root = noise([n, n], 1.0) - 0.5;
    let (a, b) = (root.t().dot(&root) + 0.1 * Array::eye(n, F64), noise([n], 2.0));
    let loss = move |_: Loops, x: &Array| 0.5 * x.dot(&a.dot(x)) - b.dot(x);
    Problem { name: "quadratic", loss: Box::new(loss), start: Array::zeros([n], F64) }
}

/// The cross-entropy of labels that a plane with noise gives, and a little of the weights squared.
pub(crate) fn logistic_regression(points: usize, n: usize) -> Problem {
    let x = noise([points, n], 3.0) - 0.5;
    let labels = (x.dot(&(4.0 * noise([n], 4.0) - 2.0)) + 0.5 * noise([points], 5.0)).gt(0.25).convert(F64);
    let loss = move |_: Loops, w: &Array| {
        let z = x.dot(w);
        ((-z.abs()).exp().log1p() + z.maximum(0.0) - &labels * &z).mean() + 1e-3 * w.dot(w)
    };
    Problem { name: "logistic regression", loss: Box::new(loss), start: Array::zeros([n], F64) }
}

/// Logarithms of probabilities, up to a constant each row.
#[derive(Clone, Tree)]
struct Markov {
    start: Array,
    moves: Array,
    symbols: Array,
}

/// Minus the log-likelihood of a text by the forward algorithm, a symbol, and a little of the parameters squared.
pub(crate) fn markov(states: usize, symbols: usize, length: usize) -> Problem {
    // A text in which one of a few symbols comes more often for some time.
    let text: Vec<usize> = (noise([length], 6.0).to_vec::<f64>().unwrap_or_default().iter().enumerate())
        .map(|(t, x)| if *x < 0.7 { t / 9 % states } else { (x * 1e4) as usize % symbols })
        .collect();
    let text = Array::from(text.iter().map(|&s| s as i32).collect::<Vec<_>>());
    let seen = text.expand(1).eq(Array::arange(symbols, I32)).convert(F64);
    let (start, unravel) = tree::ravel(&Markov {
        start: noise([states], 7.0),
        moves: noise([states, states], 8.0),
        symbols: noise([states, symbols], 9.0),
    });
    let loss = move |loops: Loops, x: &Array| {
        let model = tree::map(&unravel(x), |logits| logits - logsumexp(logits, -1).expand(-1));
        let likely = seen.dot(&model.symbols.t());
        let first = &model.start + likely.slice(s![0]);
        let last = loops.fold(first, &likely.slice(s![1..]), |state, likely| {
            logsumexp(&(state.expand(1) + &model.moves), 0) + likely
        });
        -logsumexp(&last, 0) / length as f64 + 1e-3 * x.dot(x)
    };
    Problem { name: "hidden Markov model", loss: Box::new(loss), start }
}

impl Problem {
    /// Minimises it in at most so many steps, and says how long that took when everything was compiled.
    pub(crate) fn solve(&self, steps: usize, loops: Loops) -> (Progress, Duration) {
        let optimise = |x: &Array| minimise(&|x| (self.loss)(loops, x), x, steps, loops);
        let jitted = jit(optimise);
        let run = || match loops {
            Loops::Staged => jitted.call(&self.start),
            Loops::Rust => optimise(&self.start),
        };
        run();
        let start = Instant::now();
        let progress = run();
        (progress, start.elapsed())
    }
}

impl Progress {
    /// The loss before each step, and at last.
    pub(crate) fn curve(&self) -> Vec<f64> {
        let losses = self.losses.to_vec::<f64>().unwrap_or_default();
        losses.into_iter().take_while(|loss| !loss.is_nan()).collect()
    }
}

fn main() {
    for problem in [quadratic(50), logistic_regression(300, 20), markov(3, 6, 90)] {
        let (progress, jitted) = problem.solve(40, Loops::Staged);
        let (_, eager) = problem.solve(40, Loops::Rust);
        let curve: Vec<String> = progress.curve().iter().map(|loss| format!("{loss:.6}")).collect();
        let gradient = norm(&progress.gradient).item::<f64>();
        let ratio = eager.as_secs_f64() / jitted.as_secs_f64();
        println!("{}: {} steps, gradient {gradient:.0e}", problem.name, progress.step);
        println!("  loss {}", curve.join(" "));
        println!("  {jitted:.1?} jitted, {eager:.1?} operation by operation: {ratio:.0} times\n");
    }
}
