//! Steps of the compiler that are broken on purpose are caught, reduced and named.

use tracewell::__private::{Fault, breaking};
use tracewell::prelude::*;
use tracewell::repro::{self, Blame};

fn model(x: &Array) -> Array {
    let h = (x.sin() * 2.0 + x.cos()).tanh();
    // Two negations in a row are one too many; the difference is computed in the kernel of what is made of it.
    let d = (-(-&h) - x.exp()) * 0.5;
    d.sum_axes(&[1]) + h.max_axes(&[1])
}

/// Breaks a step, and gives whom `bisect` blames for the model and for what is left of it.
fn is_caught(fault: Fault) -> [Blame; 2] {
    is_caught_in(fault, model)
}

fn is_caught_in(fault: Fault, model: fn(&Array) -> Array) -> [Blame; 2] {
    // Rows of 23 and 115 elements: every vector loop has a rest.
    let x = Array::linspace(-1.0, 1.0, 115, F32).reshape([5, 23]);
    let blamed = breaking(fault, || {
        let found = repro::assert_reproduces(|| repro::check_compiled(|| jit(model).call(&x)));
        assert!(found.failure().unwrap().message.starts_with("compiled, result 0"), "{:?}", found.failure());
        let small = found.reduce();
        assert!(small.run().is_reproduced());
        assert!(small.tree().leaves() <= 3, "{}", small.to_text());
        [found, small].map(|repro| repro.bisect().expect("a step to blame"))
    });
    repro::check_compiled(|| jit(model).call(&x));
    blamed
}

#[test]
fn a_broken_rewrite() {
    for blame in is_caught(Fault::Rewrite) {
        assert_eq!(blame.step, "simplify", "{blame}");
        // The one rewrite is the difference of the graphs.
        assert!(blame.part.as_ref().is_some_and(|part| part.contains("= neg ")), "{blame}");
        assert_eq!(blame.before.equations.len(), blame.after.equations.len() + 1, "{blame}");
    }
}

#[test]
fn a_broken_fusion() {
    for blame in is_caught(Fault::Fusion) {
        assert_eq!(blame.step, "fusion", "{blame}");
        assert!(blame.part.as_ref().is_some_and(|part| part.starts_with("`sub` of f32[")), "{blame}");
    }
}

#[test]
fn a_broken_lowering() {
    for blame in is_caught(Fault::Lowering) {
        assert_eq!(blame.step, "lowering", "{blame}");
        assert!(blame.part.as_ref().is_some_and(|part| part.contains("= sub ")), "{blame}");
    }
}

/// Where the machine has vectors that are wider than Cranelift's.
#[test]
fn a_broken_wide_vector() {
    // Vectors of 32 bytes leave sums of rows as short as those of the model to others.
    let independent = |x: &Array| (x.sin() - x.cos()) * 0.5;
    if tracewell::__private::has_wide_vectors() {
        for blame in is_caught_in(Fault::Wide, independent) {
            assert_eq!(blame.step, "wide vectors", "{blame}");
        }
    }
}

/// Loops of independent elements and loops that reduce them are divided at two places of the compiler.
#[test]
fn a_broken_vector_tail() {
    let independent = |x: &Array| (x.sin() - x.cos()) * 0.5;
    for blame in [is_caught(Fault::Tail), is_caught_in(Fault::Tail, independent)].concat() {
        assert_eq!(blame.step, "vector tail", "{blame}");
    }
}

/// Makes a step panic, and gives what its error says and whom `bisect` blames for the model and for what is left of it.
fn panics(fault: Fault) -> (String, [Blame; 2]) {
    let x = Array::linspace(-1.0, 1.0, 92, F32).reshape([4, 23]);
    let f = jit(|x: &Array| -> Result<Array> { Ok(model(x)) });
    breaking(fault, || {
        // No panic of the user's: an error, also where the function does not return one.
        let error = f.call(&x).unwrap_err();
        assert_eq!(error.kind(), tracewell::ErrorKind::Bug, "{error}");
        let found = repro::assert_reproduces(|| jit(model).call(&x));
        let failure = found.failure().unwrap();
        assert_eq!((failure.kind.as_str(), failure.stage), ("Bug", repro::Stage::Compiling));
        assert_eq!(failure.message, error.message());
        assert!(found.is_exact(), "{}", found.to_text());
        let small = found.reduce();
        assert!(small.run().is_reproduced());
        assert!(small.tree().leaves() <= 3, "{}", small.to_text());
        let blamed = [found, small].map(|repro| repro.bisect().expect("a step to blame"));
        (error.message().to_string(), blamed)
    })
}

#[test]
fn a_rewrite_that_panics() {
    let (message, blamed) = panics(Fault::RewritePanics);
    assert_eq!(message, "pass `simplify` panicked: two negations, broken on purpose");
    for blame in blamed {
        assert_eq!(blame.step, "simplify", "{blame}");
    }
}

#[test]
fn a_fusion_that_panics() {
    let (message, blamed) = panics(Fault::FusionPanics);
    assert_eq!(message, "fusion panicked: a shared kernel, broken on purpose");
    for blame in blamed {
        assert_eq!(blame.step, "fusion", "{blame}");
        assert!(blame.part.is_some(), "{blame}");
    }
}

#[test]
fn code_generation_that_panics() {
    let (message, blamed) = panics(Fault::CodegenPanics);
    assert!(message.starts_with("code generation panicked on kernel `"), "{message}");
    assert!(message.ends_with("`: a difference, broken on purpose"), "{message}");
    for blame in blamed {
        assert_eq!(blame.step, "lowering", "{blame}");
        // What is made of differences inside is broken too.
        assert!(blame.part.is_some(), "{blame}");
    }
}
