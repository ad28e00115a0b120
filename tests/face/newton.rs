//! The example that minimises with staged loops inside staged loops: it arrives where Rust's own loops do.

#[path = "../../crates/tracewell/examples/newton_cg.rs"]
#[allow(dead_code, reason = "its `main` takes larger problems, and prints")]
mod newton_cg;

use newton_cg::{Loops, Problem, logistic_regression, markov, quadratic};

fn both_ways_fall(problem: &Problem, steps: usize) {
    let (staged, _) = problem.solve(steps, Loops::Staged);
    let (plain, _) = problem.solve(steps, Loops::Rust);
    let (staged, plain) = (staged.curve(), plain.curve());
    assert_eq!(staged.len(), plain.len(), "{}: {staged:?} and {plain:?}", problem.name);
    for (a, b) in staged.iter().zip(&plain) {
        assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{}: {staged:?} and {plain:?}", problem.name);
    }
    assert!(staged.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12), "{}: {staged:?}", problem.name);
    assert!(staged.len() > 2 && staged[staged.len() - 1] < staged[0] - 0.1, "{}: {staged:?}", problem.name);
}

#[test]
fn a_quadratic() {
    both_ways_fall(&quadratic(8), 20);
}

#[test]
fn a_logistic_regression() {
    both_ways_fall(&logistic_regression(30, 4), 20);
}

#[test]
fn a_hidden_markov_model() {
    both_ways_fall(&markov(2, 3, 20), 3);
}
