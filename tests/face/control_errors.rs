//! Mistakes in branches and loops, and their texts. Lines are those of this file, so texts are compared without them.

use expect_test::{Expect, expect};
use tracewell::prelude::*;

use crate::without_lines;

/// The text of a failure.
#[track_caller]
fn says<T>(result: Result<T>, expected: Expect) {
    expected.assert_eq(&without_lines(&result.err().unwrap().to_string()));
}

#[derive(Clone, Tree)]
struct Body {
    place: Array,
    velocity: Array,
}

fn zero() -> Array {
    Array::from(0.0f32)
}

#[test]
fn what_is_carried_changes_its_type() {
    let carry = (zero(), Body { place: Array::zeros([3], F32), velocity: Array::zeros([3], F32) });
    let wind = Array::ones([3], F64);
    says(
        fori_loop(0..3, carry, |_, (t, body)| {
            let velocity = &body.velocity + &wind;
            Ok((t + 1.0, Body { place: &body.place + 1.0, velocity }))
        }),
        expect![[""]],
    );
}

#[test]
fn what_is_carried_changes_its_shape() {
    let x = Array::zeros([2, 3], F32);
    says(scan(x.clone(), &Array::zeros([4], F32), |s, x| Ok((s.t() + x, ()))), expect![[""]]);
    says(while_loop(x.clone(), |s| s.sum().lt(1.0), |s| Ok(concatenate(&[s, s], 0))), expect![[""]]);
    says(
        while_loop(x, |s| s.sum().lt(1.0), |s| Ok(s.clone() * 0.0 + Array::ones([2, 2, 3], F32))),
        expect![[""]],
    );
}

#[test]
fn what_is_carried_changes_its_structure() {
    says(
        fori_loop(0..3, vec![zero()], |_, s| {
            let mut s = s.clone();
            s.push(zero());
            Ok(s)
        }),
        expect![[""]],
    );
    says(fori_loop(0..3, Some(zero()), |_, _| Ok(None)), expect![[""]]);
}

#[test]
fn a_number_to_start_with_cannot_take_the_type() {
    says(fori_loop(0..3, Array::weak(0.5), |i, _| Ok(i.clone())), expect![[""]]);
    says(fori_loop(0..3, Array::weak(i64::MAX), |i, s| Ok(s.convert(I32) + i)), expect![[""]]);
}

fn halved(x: &Array) -> Array {
    x / 2.0
}

#[test]
fn branches_disagree() {
    let (x, p) = (Array::zeros([3], F32), Array::from(true));
    says(cond(&p, || Ok(x.sin()), || Ok(x.convert(F64).cos())), expect![[""]]);
    says(cond(&p, || Ok((x.sum(), zero())), || Ok((x.clone(), zero()))), expect![[""]]);
    says(cond(&p, || Ok(vec![x.clone()]), || Ok(vec![halved(&x), x.exp()])), expect![[""]]);
    let i = Array::from(0);
    says(switch(&i, &[&|| Ok(x.clone()), &|| Ok(x.sin()), &|| Ok(x.gt(0.0))]), expect![[""]]);
}

#[test]
fn predicates_that_are_none() {
    let x = Array::zeros([3], F32);
    says(cond(&x.gt(0.0), || Ok(x.sin()), || Ok(x.cos())), expect![[""]]);
    says(cond(&x.sum(), || Ok(x.sin()), || Ok(x.cos())), expect![[""]]);
    says(cond(&x, || Ok(x.sin()), || Ok(x.cos())), expect![[""]]);
    says(while_loop(x.clone(), |x| x.lt(1.0), |x| Ok(x + 1.0)), expect![[""]]);
    says(while_loop(x.clone(), |x| x.sum() - 1.0, |x| Ok(x + 1.0)), expect![[""]]);
}

#[test]
fn numbers_that_choose_nothing() {
    let x = Array::zeros([3], F32);
    says(switch(&x.sum(), &[&|| Ok(x.clone())]), expect![[""]]);
    says(switch(&x.convert(I32), &[&|| Ok(x.clone())]), expect![[""]]);
    says(switch(&Array::from(true), &[&|| Ok(x.clone())]), expect![[""]]);
    says(switch::<Result<Array>>(&Array::from(1), &[]), expect![[""]]);
    says(fori_loop(zero()..zero(), x.clone(), |_, s| Ok(s.clone())), expect![[""]]);
    says(fori_loop(0..u64::MAX, x, |_, s| Ok(s.clone())), expect![[""]]);
}

#[test]
fn nothing_of_one_length_to_run_over() {
    let (a, b) = (Array::zeros([3, 2], F32), Array::zeros([4], F32));
    let five = ScanOptions { length: Some(5), ..ScanOptions::default() };
    says(scan(zero(), &(a.clone(), b.clone()), |s, _| Ok((s.clone(), ()))), expect![[""]]);
    says(scan(zero(), &[zero()], |s, _| Ok((s.clone(), ()))), expect![[""]]);
    says(scan_with(zero(), &b, five, |s, _| Ok((s.clone(), ()))), expect![[""]]);
    says(scan(zero(), &(), |s, ()| Ok((s.clone(), ()))), expect![[""]]);
    says(map(&(a, b.clone()), |(a, _)| Ok(a.clone())), expect![[""]]);
    says(map(&(), |()| Ok(zero())), expect![[""]]);
    says(associative_scan(&zero(), |a, b| Ok(a + b)), expect![[""]]);
    says(map_reduce(zero(), &(b, zero()), |(b, _)| b.clone(), |a, b| Ok(a + b)), expect![[""]]);
}

#[test]
fn functions_that_do_not_give_back_what_they_combine() {
    let x = Array::zeros([8, 2], F32);
    says(associative_scan(&x, |a, b| Ok((a + b).sum())), expect![[""]]);
    says(associative_scan(&x, |a, b| Ok((a + b).convert(F64))), expect![[""]]);
    says(associative_scan(&[x.clone()][..], |a, _| Ok([a, a].concat())), expect![[""]]);
    says(map_reduce(zero(), &x, |x| x.clone(), |a, b| Ok(a + b)), expect![[""]]);
    says(map_reduce(zero(), &x, |x| x.sum(), |a, b| Ok((a + b).convert(F64))), expect![[""]]);
}

#[test]
fn values_in_branches_and_loops() {
    let x = Array::from([1.0f32, 2.0]);
    says(
        cond(
            &Array::from(true),
            || Ok(if x.sum().item::<f32>() > 0.0 { x.sin() } else { x.cos() }),
            || Ok(x.clone()),
        ),
        expect![[""]],
    );
    says(
        grad(|x: &Array| {
            map(x, |x| Ok::<_, Error>(if x.item::<f32>() > 0.0 { x.sin() } else { x.cos() })).map(|y| y.sum())
        })(&x),
        expect![[""]],
    );
    says(
        tracewell::jit(|x: &Array| {
            fori_loop(0..3, x.clone(), |i, s| {
                Ok::<_, Error>(if i.item::<i32>() == 0 { s.sin() } else { s.cos() })
            })
        })
        .call(&x),
        expect![[""]],
    );
}
