//! Steps of the compiler that are broken on purpose are caught, reduced and named.

use tracewell::__private::{Broken, breaking};
use tracewell::prelude::*;
use tracewell::repro;

fn model(x: &Array) -> Array {
    let h = (x.sin() * 2.0 + x.cos()).tanh();
    let d = (&h - x.exp()) * 0.5;
    d.sum_axes(&[1]) + h.max_axes(&[1])
}

fn is_caught_and_named(step: Broken, name: &str) {
    let x = Array::linspace(-1.0, 1.0, 12, F32).reshape([4, 3]);
    breaking(step, || {
        let found = repro::assert_reproduces(|| repro::check_compiled(|| jit(model).call(&x)));
        assert!(found.failure().unwrap().message.starts_with("compiled, result 0"), "{:?}", found.failure());
        let blame = found.bisect().expect("a step to blame");
        assert_eq!(blame.step, name, "{blame}");
        let small = found.reduce();
        assert!(small.run().is_reproduced());
        assert!(small.tree().leaves() <= 3, "{}", small.to_text());
        assert_eq!(small.bisect().expect("a step to blame").step, name);
    });
    repro::check_compiled(|| jit(model).call(&x));
}

#[test]
fn a_broken_rewrite() {
    is_caught_and_named(Broken::Pass("simplify"), "simplify");
}

#[test]
fn another_broken_rewrite() {
    is_caught_and_named(Broken::Pass("common_subexpressions"), "common_subexpressions");
}

#[test]
fn a_broken_fusion() {
    is_caught_and_named(Broken::Fusion, "fusion");
}

#[test]
fn a_broken_lowering() {
    is_caught_and_named(Broken::Lowering, "lowering");
}
