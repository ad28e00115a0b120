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
        expect![[r#"
            the body of `fori_loop` returns f64[3] for `carry.1.velocity`, which is f32[3]
              --> here, while tracing a closure for fori_loop
              note: what is returned for it is made at here
              help: `.convert(F32)` what is returned, or start with an array of F64"#]],
    );
}

#[test]
fn what_is_carried_changes_its_shape() {
    let x = Array::zeros([2, 3], F32);
    says(
        scan(x.clone(), &Array::zeros([4], F32), |s, x| Ok((s.t() + x, ()))),
        expect![[r#"
        the body of `scan` returns f32[3,2] for `carry`, which is f32[2,3]
          --> here, while tracing a closure for scan
          note: what is returned for it is made at here
          help: `.reshape([2, 3])` what is returned, or start with f32[3,2]"#]],
    );
    says(
        while_loop(x.clone(), |s| s.sum().lt(1.0), |s| Ok(concatenate(&[s, s], 0))),
        expect![[r#"
            the body of `while_loop` returns f32[4,3] for `carry`, which is f32[2,3]
              --> here, while tracing a closure for while_loop
              note: what is returned for it is made at here
              help: one shape is carried: reduce, `slice` or `broadcast_to` what is returned, or start with f32[4,3]
              help: to collect something of every turn, let `scan` give it out"#]],
    );
    says(
        while_loop(x, |s| s.sum().lt(1.0), |s| Ok(s.clone() * 0.0 + Array::ones([2, 2, 3], F32))),
        expect![[r#"
            the body of `while_loop` returns f32[2,2,3] for `carry`, which is f32[2,3]
              --> here, while tracing a closure for while_loop
              note: what is returned for it is made at here
              help: one shape is carried: reduce, `slice` or `broadcast_to` what is returned, or start with f32[2,2,3]
              help: to collect something of every turn, let `scan` give it out"#]],
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
        expect![[r#"
            the body of `fori_loop` returns another structure than what is carried: only what it returns has `carry[1]`
              --> here, while tracing a closure for fori_loop
              help: what is carried keeps its lengths, variants and static fields; only its arrays change"#]],
    );
    says(
        fori_loop(0..3, Some(zero()), |_, _| Ok(None)),
        expect![[r#"
        the body of `fori_loop` returns another structure than what is carried: only what is carried has `carry`
          --> here, while tracing a closure for fori_loop
          help: what is carried keeps its lengths, variants and static fields; only its arrays change"#]],
    );
}

#[test]
fn a_number_to_start_with_cannot_take_the_type() {
    says(
        fori_loop(0..3, Array::weak(0.5), |i, _| Ok(i.clone())),
        expect![[r#"
        the body of `fori_loop` returns i32[] for `carry`, which is f64[]
          --> here, while tracing a closure for fori_loop
          help: `.convert(F64)` what is returned, or start with an array of I32"#]],
    );
    says(
        fori_loop(0..3, Array::weak(i64::MAX), |i, s| Ok(s.convert(I32) + i)),
        expect![[r#"
        9223372036854775807 does not fit the element type i32 of the array it meets
          --> here, while tracing a closure for fori_loop
          help: `convert` the array to a type that holds the number, such as `I64`"#]],
    );
}

fn halved(x: &Array) -> Array {
    x / 2.0
}

#[test]
fn branches_disagree() {
    let (x, p) = (Array::zeros([3], F32), Array::from(true));
    says(
        cond(&p, || Ok(x.sin()), || Ok(x.convert(F64).cos())),
        expect![[r#"
            the branches of `cond` return different types for `result`
              --> here, while tracing a closure for cond
              note: `then` returns f32[3] at here
              note: `otherwise` returns f64[3] at here
              help: `.convert(F32)` the second, or `.convert(F64)` the first"#]],
    );
    says(
        cond(&p, || Ok((x.sum(), zero())), || Ok((x.clone(), zero()))),
        expect![[r#"
            the branches of `cond` return different types for `result.0`
              --> here, while tracing a closure for cond
              note: `then` returns f32[] at here
              note: `otherwise` returns f32[3] at here
              help: all branches return one shape: `broadcast_to` or `reshape` one of them"#]],
    );
    says(
        cond(&p, || Ok(vec![x.clone()]), || Ok(vec![halved(&x), x.exp()])),
        expect![[r#"
            the branches of `cond` return different structures: only `otherwise` has `result[1]`
              --> here, while tracing a closure for cond
              note: `then` returns at here
              note: `otherwise` returns at here
              help: all branches return one structure: the same lengths, variants and static fields"#]],
    );
    let i = Array::from(0);
    says(
        switch(&i, &[&|| Ok(x.clone()), &|| Ok(x.sin()), &|| Ok(x.gt(0.0))]),
        expect![[r#"
        the branches of `switch` return different types for `result`
          --> here, while tracing a closure for switch
          note: branch 0 returns f32[3] at here
          note: branch 2 returns bool[3] at here
          help: `.convert(F32)` the second, or `.convert(BOOL)` the first"#]],
    );
}

#[test]
fn predicates_that_are_none() {
    let x = Array::zeros([3], F32);
    says(
        cond(&x.gt(0.0), || Ok(x.sin()), || Ok(x.cos())),
        expect![[r#"
        the predicate of `cond` must be a bool scalar, found bool[3]
          --> here, while tracing a closure for cond
          help: `.all()` or `.any()` makes one of many
          help: to choose for each element use `select`; to choose for each example, `vmap` the function"#]],
    );
    says(
        cond(&x.sum(), || Ok(x.sin()), || Ok(x.cos())),
        expect![[r#"
        the predicate of `cond` must be a bool scalar, found f32[]
          --> here, while tracing a closure for cond
          help: compare it, as in `.gt(0)` or `.ne(0)`"#]],
    );
    says(
        cond(&x, || Ok(x.sin()), || Ok(x.cos())),
        expect![[r#"
        the predicate of `cond` must be a bool scalar, found f32[3]
          --> here, while tracing a closure for cond
          help: compare it and make one of many, as in `.gt(0).all()` or `.ne(0).any()`"#]],
    );
    says(
        while_loop(x.clone(), |x| x.lt(1.0), |x| Ok(x + 1.0)),
        expect![[r#"
        the condition of `while_loop` must be a bool scalar, found bool[3]
          --> here, while tracing a closure for while_loop
          note: it is made at here
          help: `.all()` or `.any()` makes one of many
          help: to choose for each element use `select`; to choose for each example, `vmap` the function"#]],
    );
    says(
        while_loop(x.clone(), |x| x.sum() - 1.0, |x| Ok(x + 1.0)),
        expect![[r#"
        the condition of `while_loop` must be a bool scalar, found f32[]
          --> here, while tracing a closure for while_loop
          note: it is made at here
          help: compare it, as in `.gt(0)` or `.ne(0)`"#]],
    );
}

#[test]
fn numbers_that_choose_nothing() {
    let x = Array::zeros([3], F32);
    says(
        switch(&x.sum(), &[&|| Ok(x.clone())]),
        expect![[r#"
        the index of `switch` must be an integer scalar, found f32[]
          --> here, while tracing a closure for switch
          help: `.convert(I32)` it"#]],
    );
    says(
        switch(&x.convert(I32), &[&|| Ok(x.clone())]),
        expect![[r#"
        the index of `switch` must be an integer scalar, found i32[3]
          --> here, while tracing a closure for switch
          help: take one number of it with `slice`; to choose for each example, `vmap` the function"#]],
    );
    says(
        switch(&Array::from(true), &[&|| Ok(x.clone())]),
        expect![[r#"
        the index of `switch` must be an integer scalar, found bool[]
          --> here, while tracing a closure for switch
          help: to choose by a bool use `cond`, or `.convert(I32)`"#]],
    );
    says(
        switch::<Result<Array>>(&Array::from(1), &[]),
        expect![[r#"
        `switch` has no branches to choose from
          --> here, while tracing a closure for switch
          help: give it at least one function"#]],
    );
    says(
        fori_loop(zero()..zero(), x.clone(), |_, s| Ok(s.clone())),
        expect![[r#"
        the start of the range of `fori_loop` must be an integer scalar, found f32[]
          --> here, while tracing a closure for fori_loop
          help: `.convert(I32)` a scalar; a range of Rust integers is one too"#]],
    );
    says(
        fori_loop(0..u64::MAX, x, |_, s| Ok(s.clone())),
        expect![[r#"
            `fori_loop` cannot count over 0..18446744073709551615 in i64
              --> here, while tracing a closure for fori_loop
              help: count over fewer numbers"#]],
    );
}

#[test]
fn nothing_of_one_length_to_run_over() {
    let (a, b) = (Array::zeros([3, 2], F32), Array::zeros([4], F32));
    let five = ScanOptions { length: Some(5), ..ScanOptions::default() };
    says(
        scan(zero(), &(a.clone(), b.clone()), |s, _| Ok((s.clone(), ()))),
        expect![[r#"
        `scan` runs over leading axes of one length: `xs.0` has 3, `xs.1` has 4
          --> here, while tracing a closure for scan
          help: `slice` the longer one; capture in the closure what is used whole for every element"#]],
    );
    says(
        scan(zero(), &[zero()], |s, _| Ok((s.clone(), ()))),
        expect![[r#"
        `scan` has no axis of `xs[0]` to run over: it is f32[]
          --> here, while tracing a closure for scan
          help: capture it in the closure to use it whole for every element"#]],
    );
    says(
        scan_with(zero(), &b, five, |s, _| Ok((s.clone(), ()))),
        expect![[r#"
        `scan` was given the length 5, but `xs` has 4 elements
          --> here, while tracing a closure for scan
          help: the arrays say the length: leave it out, or `slice` them to it"#]],
    );
    says(
        scan(zero(), &(), |s, ()| Ok((s.clone(), ()))),
        expect![[r#"
        `scan` has nothing to run over: `xs` holds no arrays
          --> here, while tracing a closure for scan
          help: give the length: `scan_with(init, &(), ScanOptions { length: Some(n), ..ScanOptions::default() }, f)`"#]],
    );
    says(
        map(&(a, b.clone()), |(a, _)| Ok(a.clone())),
        expect![[r#"
        `map` runs over leading axes of one length: `xs.0` has 3, `xs.1` has 4
          --> here, while tracing a closure for map
          help: `slice` the longer one; capture in the closure what is used whole for every element"#]],
    );
    says(
        map(&(), |()| Ok(zero())),
        expect![[r#"
        `map` has nothing to run over: `xs` holds no arrays
          --> here, while tracing a closure for map
          help: give it an array to run over, such as `Array::arange(n, I32)`"#]],
    );
    says(
        associative_scan(&zero(), |a, b| Ok(a + b)),
        expect![[r#"
        `associative_scan` has no axis of `xs` to run over: it is f32[]
          --> here, while tracing a closure for associative_scan
          help: capture it in the closure to use it whole for every element"#]],
    );
    says(
        map_reduce(zero(), &(b, zero()), |(b, _)| b.clone(), |a, b| Ok(a + b)),
        expect![[r#"
        `map_reduce` has no axis of `xs.1` to run over: it is f32[]
          --> here, while tracing a closure for map_reduce
          help: capture it in the closure to use it whole for every element"#]],
    );
}

#[test]
fn functions_that_do_not_give_back_what_they_combine() {
    let x = Array::zeros([8, 2], F32);
    says(
        associative_scan(&x, |a, b| Ok((a + b).sum())),
        expect![[r#"
        the function of `associative_scan` returns f32[] for `x`, of which it is given f32[4,2]
          --> here, while tracing a closure for associative_scan
          note: what is returned for it is made at here
          help: it is given whole slices, and combines them element by element along the leading axis: `vmap` a function of single elements"#]],
    );
    says(
        associative_scan(&x, |a, b| Ok((a + b).convert(F64))),
        expect![[r#"
            the function of `associative_scan` returns f64[4,2] for `x`, of which it is given f32[4,2]
              --> here, while tracing a closure for associative_scan
              note: what is returned for it is made at here
              help: `.convert(F32)` what is returned"#]],
    );
    says(
        associative_scan(&[x.clone()][..], |a, _| Ok([a, a].concat())),
        expect![[r#"
        the function of `associative_scan` returns another structure than it is given: only what it returns has `x[1]`
          --> here, while tracing a closure for associative_scan
          help: it is given whole slices, and combines them element by element along the leading axis: `vmap` a function of single elements"#]],
    );
    says(
        map_reduce(zero(), &x, |x| x.clone(), |a, b| Ok(a + b)),
        expect![[r#"
            the map function of `map_reduce` returns f32[2] for `init`, which is f32[]
              --> here, while tracing a closure for map_reduce
              help: one shape is carried: reduce, `slice` or `broadcast_to` what is returned, or start with f32[2]
              help: to collect something of every turn, let `scan` give it out"#]],
    );
    says(
        map_reduce(zero(), &x, |x| x.sum(), |a, b| Ok((a + b).convert(F64))),
        expect![[r#"
            the combining function of `map_reduce` returns f64[] for `init`, which is f32[]
              --> here, while tracing a closure for map_reduce
              note: what is returned for it is made at here
              help: `.convert(F32)` what is returned, or start with an array of F64"#]],
    );
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
        expect![[r#"
            `item()` asked for the value of a traced f32[], which is not known while tracing for cond
              --> here, while tracing a closure (here) for cond
              note: it depends on no argument, and was made by these lines
                    here (reduce_sum)
              help: compute it before, outside of the traced function, and capture the result"#]],
    );
    says(
        grad(|x: &Array| {
            map(x, |x| Ok::<_, Error>(if x.item::<f32>() > 0.0 { x.sin() } else { x.cos() })).map(|y| y.sum())
        })(&x),
        expect![[r#"
            `item()` asked for the value of a traced f32[], which is not known while tracing for map
              --> here, while tracing a closure (here) for map, called from a closure (here) for grad
              note: it is the argument `x`
              help: to choose by value inside a traced function use `select` or `cond`; to repeat by value, `while_loop`
              help: to keep a Rust `if` or loop, move it outside of the traced function"#]],
    );
    says(
        tracewell::jit(|x: &Array| {
            fori_loop(0..3, x.clone(), |i, s| {
                Ok::<_, Error>(if i.item::<i32>() == 0 { s.sin() } else { s.cos() })
            })
        })
        .call(&x),
        expect![[r#"
            `item()` asked for the value of a traced i32[], which is not known while tracing for fori_loop
              --> here, while tracing a closure (here) for fori_loop, called from a closure (here) for jit
              note: it is the argument `i`
              help: to choose by value inside a traced function use `select` or `cond`; to repeat by value, `while_loop`
              help: to keep a Rust `if` or loop, move it outside of the traced function"#]],
    );
}
