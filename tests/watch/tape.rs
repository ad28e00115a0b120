//! What a tape records.

use tracewell::prelude::*;
use tracewell::tape::{Argument, Callee, Everything, Kind, Turns};

use crate::{bits, names};

jit! {
    fn soft(x: &Array) -> Array {
        let e = (x - x.max()).exp();
        &e / e.sum()
    }
}

jit! {
    fn outer_jit(x: &Array) -> Array { soft(x) * 2.0 }
}

#[traced]
fn scaled(x: &Array, by: f64) -> Array {
    x * by
}

#[traced]
fn clipped(x: &Array) -> Array {
    if x.sum().item::<f32>() > 1.0 { scaled(x, 0.5) } else { x.clone() }
}

fn vector() -> Array {
    Array::from([1.0f32, 2.0, 3.0])
}

#[test]
fn a_run_is_recorded_with_values() {
    let x = vector();
    let tape = Tape::record(|| x.sin().sum());
    assert_eq!(names(tape.root()), ["constant", "sin", "reduce_sum", "return"]);
    assert!(tape.nodes().all(|node| !node.is_abstract()));
    assert_eq!(bits(&tape.value().unwrap()), bits(&x.sin().sum()));
}

#[test]
fn a_trace_is_recorded_with_types() {
    let x = vector();
    let tape = Tape::record(|| {
        trace(|x: &Array| x.sin().sum(), &x).unwrap();
    });
    let sin = tape.find("sin").unwrap();
    assert!(sin.is_abstract() && sin.value().is_none());
    assert_eq!(sin.ty().unwrap().to_string(), "f32[3]");
    assert_eq!(*sin.parent().unwrap().kind(), Kind::Call(Callee::Function("")));
    assert!(sin.variable().is_some(), "the variable of the trace");
}

#[test]
fn arguments_constants_primitives_and_returns_are_nodes() {
    let (x, c) = (vector(), Array::from([0.5f32, 0.5, 0.5]));
    let tape = Tape::call(|x: &Array| x * &c, &x);
    let kinds: Vec<String> = tape.root().children().map(|n| format!("{:?}", n.kind())).collect();
    assert_eq!(kinds, ["Constant", "Argument { number: 0 }", "Primitive(Mul)", "Return"]);
}

#[test]
fn calls_of_jitted_functions_are_nested() {
    let x = vector();
    for _ in 0..2 {
        let tape = Tape::record(|| outer_jit(&x));
        let outer = tape.find("outer_jit").unwrap();
        assert_eq!(*outer.kind(), Kind::Call(Callee::Jit));
        let soft = outer.children().find(|node| node.name() == "soft").unwrap();
        assert!(soft.is_call() && names(soft).contains(&"exp".to_string()), "{tape:?}");
    }
}

#[test]
fn calls_of_traced_functions_are_nested() {
    let x = vector();
    let tape = Tape::record(|| clipped(&x));
    let clipped = tape.find("clipped").unwrap();
    assert_eq!(*clipped.kind(), Kind::Call(Callee::Traced));
    assert_eq!(names(clipped), ["x", "reduce_sum", "item()", "scaled", "return"]);
    assert_eq!(names(tape.find("scaled").unwrap()), ["x", "mul", "return"]);
}

#[test]
fn calls_of_apis_are_nested() {
    let x = vector();
    let tape = Tape::record(|| grad(|x: &Array| (x * x).sum())(&x));
    let grad = tape.find("grad").unwrap();
    assert!(matches!(grad.kind(), Kind::Call(Callee::Api(_))));
    let function = grad.children().next().unwrap();
    assert_eq!(*function.kind(), Kind::Call(Callee::Function("")));
    assert!(names(function).contains(&"mul".to_string()), "{tape:?}");
    assert_eq!(grad.value().unwrap().to_string(), "[2. 4. 6.]");
}

fn looped(x: &Array) -> Array {
    while_loop(x.clone(), |s: &Array| s.lt(100.0), |s: &Array| s * 3.0)
}

#[test]
fn turns_of_loops_are_recorded_on_request() {
    let x = Array::from(2.0f32);
    let plain = Tape::record(|| looped(&x));
    assert!(plain.find("turn 0").is_none());
    let tape = Tape::record_in(Turns(100), || looped(&x));
    let turns: Vec<_> = tape.nodes().filter(|n| matches!(n.kind(), Kind::Call(Callee::Turn(_)))).collect();
    assert_eq!(turns.len(), 5, "2, 6, 18, 54, and then 162 is too much\n{tape:?}");
    let last = turns.last().unwrap().children().last().unwrap();
    assert_eq!(*last.kind(), Kind::Branch);
    assert_eq!(tape.value().unwrap().item::<f32>(), 162.0);
}

#[test]
fn turns_of_scans_and_maps_are_recorded_on_request() {
    let xs = vector();
    let tape =
        Tape::record_in(Turns(2), || scan(Array::from(0.0f32), &xs, |c: &Array, x: &Array| (c + x, c * x)));
    assert_eq!(
        tape.nodes().filter(|n| matches!(n.kind(), Kind::Call(Callee::Turn(_)))).count(),
        2,
        "{tape:?}"
    );
}

#[test]
fn the_branch_of_a_staged_cond_is_recorded_on_request() {
    let x = vector();
    let choose = || cond(&x.sum().gt(1.0), || x.sin(), || x.cos());
    let tape = Tape::record_in(Turns(1), choose);
    assert!(tape.find("sin").is_some() && tape.find("cos").is_none(), "{tape:?}");
    let plain = Tape::record(choose);
    assert!(plain.find("sin").is_none(), "{plain:?}");
}

#[test]
fn branches_have_their_line_and_condition() {
    let x = vector();
    let tape = Tape::record(|| clipped(&x));
    let branch = tape.nodes().find(|node| *node.kind() == Kind::Branch).unwrap();
    assert_eq!(branch.location().unwrap().line, 26);
    assert_eq!(branch.value().unwrap().item::<f32>(), 6.0);
    assert_eq!(branch.referenced()[0].1.name(), "reduce_sum");
    assert_eq!(branch.expression(), "item() since @2 == 6.0");
}

#[test]
fn a_branch_under_grad_is_recorded() {
    let x = Array::from(2.0f32);
    let f = |x: &Array| if x.item::<f32>() > 1.0 { x * x } else { x.clone() };
    let tape = Tape::record(|| grad(f)(&x));
    let branch = tape.nodes().find(|node| *node.kind() == Kind::Branch).unwrap();
    assert_eq!(branch.parent().unwrap().parent().unwrap().name(), "grad");
}

#[test]
fn a_node_knows_all_about_itself() {
    let x = vector();
    let mut tape = Tape::record(|| scaled(&x, 2.0));
    let product = tape.find("mul").unwrap();
    assert_eq!(product.value().unwrap().to_string(), "[2. 4. 6.]");
    assert_eq!(product.ty().unwrap().to_string(), "f32[3]");
    assert_eq!(product.primitive().unwrap().name(), "mul");
    let [Argument::Reference(of), Argument::Constant(by)] = product.arguments() else { panic!("{product}") };
    assert_eq!(tape.node(of.node).name(), "x");
    assert_eq!(by.dtype(), F32);
    assert_eq!(product.parent().unwrap().name(), "scaled");
    assert_eq!((product.index(), product.path().as_str()), (2, "2.2"));
    assert!(product.location().unwrap().file.ends_with("tape.rs"));
    let id = product.id();
    tape.annotate(id, 0.25f64);
    assert_eq!(tape.node(id).note::<f64>(), Some(&0.25));
    assert_eq!(tape.node(id).note::<u8>(), None);
}

#[test]
fn a_node_of_a_compiled_call_knows_its_equation() {
    let x = vector();
    let tape = Tape::record(|| soft(&x));
    let exp = tape.find("exp").unwrap();
    let (graph, number, equation) = exp.equation().unwrap();
    assert_eq!(graph.name, "soft");
    assert_eq!((equation.prim.name(), &graph.equations[number]), ("exp", equation));
    assert!(exp.location().unwrap().file.ends_with("tape.rs"));
}

#[test]
fn values_inside_compiled_calls_are_run_again_and_say_so() {
    let x = vector();
    let tape = Tape::record(|| soft(&x));
    let exp = tape.find("exp").unwrap();
    assert!(exp.is_rerun());
    assert_eq!(bits(&exp.value().unwrap()), bits(&(&x - x.max()).exp()));
    assert!(!tape.find("soft").unwrap().is_rerun(), "the call itself ran once");
    assert!(exp.to_string().ends_with("(re-run)"), "{exp}");
}

#[test]
fn what_has_an_effect_is_not_run_again() {
    let x = Array::from(2.0f32);
    let f = tracewell::jit(|x: &Array| {
        debug_print!("seen {}", x);
        x * 2.0
    });
    let (tape, printed) = {
        let mut tape = None;
        let ((), printed) = capturing_prints(|| tape = Some(Tape::record(|| f.call(&x))));
        (tape.unwrap(), printed)
    };
    assert_eq!(printed.matches("seen").count(), 1, "{printed}");
    assert_eq!(tape.find("mul").unwrap().value().unwrap().item::<f32>(), 4.0);
}

#[test]
fn an_error_leaves_a_tape_that_ends_at_the_node_that_failed() {
    let x = vector();
    let tape = Tape::record(|| {
        let y = clipped(&x);
        y.dot(&Array::ones([2], F32))
    });
    let last = tape.nodes().last().unwrap();
    assert!(matches!(last.kind(), Kind::Failure { .. }), "{tape:?}");
    assert_eq!(last.name(), "dot_general");
    assert!(last.backward().iter().any(|node| node.name() == "clipped"));
    assert_eq!(tape.error().unwrap().location().unwrap(), last.location().unwrap());
}

#[test]
fn an_error_while_tracing_leaves_the_trace_so_far() {
    let x = vector();
    let f = tracewell::jit(|x: &Array| x.sin().sum_axes(&[4]));
    let tape = Tape::record(|| f.call(&x));
    let call = tape.root().children().find(|node| *node.kind() == Kind::Call(Callee::Jit)).unwrap();
    let names = names(call);
    assert_eq!(names[..2], ["x", "sin"], "{tape:?}");
    assert!(matches!(call.children().last().unwrap().kind(), Kind::Failure { .. }));
}

#[test]
fn an_error_while_running_ends_the_compiled_call_there() {
    let x = vector();
    let f = tracewell::jit(|x: &Array| -> Result<Array> {
        let y = x.sin();
        check!(y.sum().gt(100.0), "too small");
        Ok(y.cos())
    });
    let (result, tape) = Tape::run(Everything, || f.call(&x));
    assert!(result.unwrap().is_err());
    let call = tape.root().children().find(|node| *node.kind() == Kind::Call(Callee::Jit)).unwrap();
    assert!(matches!(call.children().last().unwrap().kind(), Kind::Failure { .. }), "{tape:?}");
    assert!(
        names(call).contains(&"sin".to_string()) && !names(call).contains(&"cos".to_string()),
        "{tape:?}"
    );
}

#[test]
fn recording_changes_no_bit() {
    let x = vector();
    let programs: [(&str, &dyn Fn() -> Array); 7] = [
        ("eager", &|| x.sin() * x.exp()),
        ("jit", &|| outer_jit(&x)),
        ("grad", &|| grad(|x: &Array| soft(x).log().sum())(&x)),
        ("vmap", &|| vmap(|x: &Array| soft(x))(&Array::from([[1.0f32, 2.0], [3.0, 5.0]]))),
        ("contract", &|| contract(|x: &Array| soft(x) * x + x.sin())(&x)),
        ("loop", &|| looped(&x.sum())),
        ("traced", &|| clipped(&x)),
    ];
    for (name, program) in programs {
        let plain = bits(&program());
        let (watched, tape) = Tape::run(Turns(10), program);
        assert_eq!(bits(&watched.unwrap()), plain, "{name}");
        assert_eq!(bits(&tape.value().unwrap()), plain, "{name}");
        assert_eq!(bits(&program()), plain, "{name} afterwards");
    }
}

#[test]
fn recording_disables_no_cache() {
    let x = vector();
    soft(&x);
    let misses = explain_cache_misses(|| Tape::record(|| soft(&x))).1;
    assert!(misses.is_empty(), "{misses:?}");
}

#[test]
fn the_memory_of_a_node_is_what_docs_say() {
    let x = vector();
    let tape = Tape::record(|| (0..1000).fold(x.clone(), |y, _| y.sin()));
    let each = tape.bytes() as f64 / tape.nodes().len() as f64;
    assert!((200.0..700.0).contains(&each), "docs/tape.md says how much: {each}");
}
