//! Changing values, and graphs of tapes.

use tracewell::prelude::*;
use tracewell::tape::{DepthLimit, Everything, Kind, NodeId, Turns};

use crate::bits;

jit! {
    fn energy(x: &Array, y: &Array) -> Array { (x.exp() + y.square()).sum() }
}

#[traced]
fn outer(x: &Array, y: &Array) -> Array {
    energy(x, y) * x.sum()
}

fn arrays() -> (Array, Array) {
    (Array::from([0.5f32, 1.5]), Array::from([2.0f32, 3.0]))
}

/// The parameter of a name, at the root.
fn parameter(tape: &Tape, name: &str) -> NodeId {
    tape.root().parameters().find(|node| node.name() == name).unwrap().id()
}

#[test]
fn a_parameter_is_changed() {
    let xy = arrays();
    let tape = Tape::call(|xy: &(Array, Array)| outer(&xy.0, &xy.1), &xy);
    let new = Array::from([1.0f32, -1.0]);
    let updated = tape.update(&[(parameter(&tape, "x.1"), &new)]).unwrap();
    assert_eq!(bits(&updated.tape.value().unwrap()), bits(&outer(&xy.0, &new)));
    assert_eq!(bits(&tape.value().unwrap()), bits(&outer(&xy.0, &xy.1)), "the old tape is as it was");
}

#[test]
fn a_constant_is_changed() {
    let (x, y) = arrays();
    let tape = Tape::record(|| outer(&x, &y));
    let is_y = |v: Array| bits(&v) == bits(&y);
    let constant =
        tape.root().children().find(|n| *n.kind() == Kind::Constant && n.value().is_some_and(is_y)).unwrap();
    let new = Array::from([7.0f32, 8.0]);
    let updated = tape.update(&[(constant.id(), &new)]).unwrap();
    assert_eq!(bits(&updated.tape.value().unwrap()), bits(&outer(&x, &new)));
}

#[test]
fn a_node_is_changed() {
    let (x, y) = arrays();
    let tape = Tape::record(|| outer(&x, &y));
    let exp = tape.find("exp").unwrap().id();
    let new = Array::from([10.0f32, 20.0]);
    let updated = tape.update(&[(exp, &new)]).unwrap();
    assert_eq!(bits(&updated.tape.value().unwrap()), bits(&((new + y.square()).sum() * x.sum())));
}

#[test]
fn only_what_depends_on_it_runs_again() {
    let (x, y) = arrays();
    let tape = Tape::record(|| (x.exp().sin().cos(), y.square()));
    let square = tape.find("mul").unwrap();
    let of = square.referenced()[0].1.id();
    let updated = tape.update(&[(of, &x)]).unwrap();
    assert_eq!(updated.runs, 1);
    let changed: Vec<&str> = updated.changed.iter().map(|&id| updated.tape.node(id).name()).collect();
    assert_eq!(changed, ["program", "constant", "mul", "return"]);
}

#[test]
fn nothing_runs_after_a_result_that_is_the_same() {
    let x = Array::from([-1.0f32, 2.0]);
    let tape = Tape::call(|x: &Array| x.abs().exp().sum(), &x);
    let updated = tape.update(&[(parameter(&tape, "x"), &Array::from([1.0f32, -2.0]))]).unwrap();
    assert_eq!(updated.runs, 1, "the absolute values are the same");
    assert_eq!(bits(&updated.tape.value().unwrap()), bits(&tape.value().unwrap()));
}

#[test]
fn an_update_is_the_tape_of_the_new_values() {
    let xy = arrays();
    let f = |xy: &(Array, Array)| grad(|x: &Array| outer(x, &xy.1).sum())(&xy.0);
    let tape = Tape::call(f, &xy);
    let new = (Array::from([0.25f32, -0.5]), xy.1.clone());
    let updated = tape.update(&[(parameter(&tape, "x.0"), &new.0)]).unwrap();
    assert_eq!(bits(&updated.tape.value().unwrap()), bits(&f(&new)));
}

#[test]
fn turns_of_loops_follow_their_operands() {
    let f = |x: &Array| while_loop(x.clone(), |s: &Array| s.lt(100.0), |s: &Array| s * 3.0);
    let tape = Tape::call_in(Turns(100), f, &Array::from(2.0f32));
    let updated = tape.update(&[(parameter(&tape, "x"), &Array::from(20.0f32))]).unwrap();
    assert_eq!(updated.tape.value().unwrap().item::<f32>(), 180.0);
    let turns = |tape: &Tape| tape.nodes().filter(|node| node.name().starts_with("turn ")).count();
    assert_eq!((turns(&tape), turns(&updated.tape)), (5, 3));
}

#[test]
fn a_value_that_the_program_looked_at_cannot_change() {
    let f = |x: &Array| if x.item::<f32>() > 0.0 { x.sin() } else { x.cos() };
    let tape = Tape::call(f, &Array::from(2.0f32));
    let error = tape.update(&[(parameter(&tape, "x"), &Array::from(3.0f32))]).unwrap_err();
    assert!(error.message().contains("may go another way now"), "{error}");
    assert_eq!(error.location().unwrap().line, 101);
    let same = tape.update(&[(parameter(&tape, "x"), &Array::from(2.0f32))]).unwrap();
    assert!(same.changed.is_empty() && same.runs == 0);
}

#[test]
fn what_cannot_be_changed_is_an_error() {
    let (x, y) = arrays();
    let tape = Tape::record(|| outer(&x, &y));
    let returned = tape.root().children().last().unwrap().id();
    let error = tape.update(&[(returned, &x)]).unwrap_err();
    assert!(error.message().contains("no node with one value"), "{error}");
    let exp = tape.find("exp").unwrap().id();
    let error = tape.update(&[(exp, &Array::from(1.0f32))]).unwrap_err();
    assert_eq!(error.message(), "`exp` is f32[2], and cannot become f32[]");
    let loops = Tape::record_in(Turns(3), || while_loop(x.sum(), |s: &Array| s.lt(9.0), |s: &Array| s * 2.0));
    let inside = loops.nodes().find(|n| n.name() == "mul").unwrap().id();
    let error = loops.update(&[(inside, &Array::from(1.0f32))]).unwrap_err();
    assert!(error.message().contains("inside of a `while`"), "{error}");
}

#[test]
fn a_tape_becomes_a_graph_that_compiles() {
    let xy = arrays();
    let tape = Tape::call(|xy: &(Array, Array)| outer(&xy.0, &xy.1), &xy);
    let extract = tape.graph().unwrap();
    assert_eq!(extract.inputs, tape.root().parameters().map(|node| node.id()).collect::<Vec<_>>());
    let lowered = Lowered::new(&extract.graph).unwrap();
    let again = lowered.run(&extract.values).unwrap();
    assert_eq!(bits(&again[0]), bits(&tape.value().unwrap()));
    let other = lowered.run(&[xy.1.clone(), xy.0.clone()]).unwrap();
    assert_eq!(bits(&other[0]), bits(&outer(&xy.1, &xy.0)));
}

#[test]
fn a_part_of_a_tape_becomes_a_graph() {
    let (x, y) = arrays();
    let tape = Tape::record(|| outer(&x, &y));
    let extract = tape.find("exp").unwrap().graph().unwrap();
    let names: Vec<&str> = extract.graph.equations.iter().map(|equation| equation.prim.name()).collect();
    assert_eq!(names, ["exp"]);
    assert_eq!(extract.values.len(), 1);
}

#[test]
fn a_tape_of_a_failure_becomes_no_graph() {
    let (x, _) = arrays();
    let (_, tape) = Tape::run(Everything, || x.dot(&Array::ones([5], F32)));
    assert!(tape.graph().unwrap_err().message().contains("has no value"));
}

#[test]
fn rules_of_ones_own_and_checkpoints_follow_their_operands() {
    let clipped = custom_vjp(|x: &Array| (x.sin(), x.cos()), |c: &Array, g: &Array| g * c.minimum(0.5));
    let f = |xy: &(Array, Array)| {
        let inner = |x: &Array| checkpoint(|x: &Array| (clipped(x) * &xy.1).exp())(x).sum();
        grad(inner)(&xy.0)
    };
    let xy = arrays();
    let tape = Tape::call(f, &xy);
    for (name, new) in [("x.0", Array::from([0.25f32, -0.5])), ("x.1", Array::from([1.0f32, -2.0]))] {
        let updated = tape.update(&[(parameter(&tape, name), &new)]).unwrap();
        let changed = if name == "x.0" { (new, xy.1.clone()) } else { (xy.0.clone(), new) };
        assert_eq!(bits(&updated.tape.value().unwrap()), bits(&f(&changed)), "{name}");
    }
}

#[test]
fn what_was_captured_is_followed_or_refused() {
    let (x, y) = arrays();
    let new = Array::from([1.0f32, -2.0]);
    let compiled = |y: &Array| {
        jit({
            let y = y.clone();
            move |x: &Array| (x * &y).exp().sum()
        })
        .call(&x)
    };
    let looped = |y: &Array| fori_loop(0..3, x.clone(), |_, x: &Array| (x * y).sin());
    let chosen = |y: &Array| cond(&x.sum().lt(1.0), || &x * y, || &x + y);
    let batched =
        |y: &Array| vmap(|x: &Array| fori_loop(0..3, x.clone(), |_, x: &Array| (x * y.sum()).sin()))(&x);
    let all: [&dyn Fn(&Array) -> Array; 4] = [&compiled, &looped, &chosen, &batched];
    for (number, f) in all.into_iter().enumerate() {
        let check = |tape: Tape| match tape.update(&[(parameter(&tape, "x"), &new)]) {
            Ok(updated) => assert_eq!(bits(&updated.tape.value().unwrap()), bits(&f(&new)), "{number}"),
            Err(error) => assert!(error.message().contains("was not recorded"), "{number}: {error}"),
        };
        check(Tape::call(|y: &Array| f(y), &y));
        check(Tape::call_in(Turns(2), |y: &Array| f(y), &y));
        check(Tape::call_in(DepthLimit(1), |y: &Array| f(y), &y));
        check(Tape::call_in(DepthLimit(2), |y: &Array| f(y), &y));
    }
}
