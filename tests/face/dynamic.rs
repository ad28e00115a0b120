//! Parts of arrays at computed places: expected values are those of `lax.dynamic_slice` and its kin.

use expect_test::{Expect, expect};
use tracewell::prelude::*;

use crate::without_lines;

fn grid() -> Array {
    Array::arange(12, I32).reshape([3, 4])
}

fn ints(x: &Array) -> Vec<i32> {
    x.ravel().to_vec().unwrap()
}

#[test]
fn windows() {
    let (x, i) = (grid(), Array::from(1));
    assert_eq!(ints(&x.dynamic_slice((&i, 2), [2, 2])), [6, 7, 10, 11]);
    assert_eq!(ints(&x.dynamic_slice([&i, &i], [1, 3])), [5, 6, 7]);
    assert_eq!(ints(&x.dynamic_slice(vec![2usize, 0], [1, 1])), [8]);
    let starts = [0i64, 3];
    assert_eq!(ints(&x.dynamic_slice(starts, [3, 1])), [3, 7, 11]);
    assert_eq!(ints(&x.dynamic_slice(starts.as_slice(), [2, 1])), [3, 7]);
    assert_eq!(x.dynamic_slice((i, 0u8), [0, 4]).shape(), &Shape::from([0, 4]));
    let number = Array::from(5).dynamic_slice([0i32; 0], Shape::scalar());
    assert_eq!(number.item::<i32>(), 5);
}

/// A start means the same as a Rust integer, as a known array and as a traced one, of every integer type.
#[test]
fn starts_beyond_the_edges() {
    let x = Array::arange(5, I32);
    let window = jit(|(x, i): &(Array, Array)| x.dynamic_slice([i], [2]));
    for (start, first) in [
        (0i64, 0),
        (3, 3),
        (4, 3),
        (i64::MAX, 3),
        (1 << 32, 3),
        (-1, 3),
        (-2, 3),
        (-4, 1),
        (-9, 0),
        (i64::MIN, 0),
    ] {
        let expected = [first, first + 1];
        assert_eq!(ints(&x.dynamic_slice([start], [2])), expected, "{start}");
        assert_eq!(ints(&x.dynamic_slice([Array::from(start)], [2])), expected, "{start}");
        assert_eq!(ints(&window.call(&(x.clone(), Array::from(start)))), expected, "{start}");
        if let Ok(start) = i32::try_from(start) {
            assert_eq!(ints(&window.call(&(x.clone(), Array::from(start)))), expected, "{start}");
        }
    }
    assert_eq!(ints(&window.call(&(x.clone(), Array::from(u32::MAX)))), [3, 4]);
    assert_eq!(ints(&window.call(&(x.clone(), Array::from(1u8)))), [1, 2]);
}

#[test]
fn elements() {
    let (x, i) = (grid(), Array::from(2));
    assert_eq!(ints(&x.dynamic_index(&i, 0)), [8, 9, 10, 11]);
    assert_eq!(ints(&x.dynamic_index(&i, -1)), [2, 6, 10]);
    assert_eq!(ints(&x.dynamic_index(-1, 1)), [3, 7, 11]);
    assert_eq!(x.dynamic_index(7, 0).dynamic_index(&i, 0).item::<i32>(), 10);
}

#[test]
fn updates() {
    let (x, i) = (grid(), Array::from(1));
    let ones = Array::full([2, 2], -1.0, I32);
    assert_eq!(ints(&x.dynamic_update_slice(&ones, (&i, 0))), [0, 1, 2, 3, -1, -1, 6, 7, -1, -1, 10, 11]);
    assert_eq!(ints(&x.dynamic_update_slice(&ones, (9, -1)))[4..], [4, 5, -1, -1, 8, 9, -1, -1]);
    assert_eq!(ints(&x.dynamic_update_index(0, &i, 0))[3..9], [3, 0, 0, 0, 0, 8]);
    let row = Array::arange(4, I32);
    assert_eq!(ints(&x.dynamic_update_index(&row, -1, 0))[8..], [0, 1, 2, 3]);
    assert_eq!(ints(&x.dynamic_update_index(Array::arange(3, I32), &i, 1))[..6], [0, 0, 2, 3, 4, 1]);
    // The array that is updated keeps its elements and its element type.
    assert_eq!(ints(&x), ints(&grid()));
    let floats = Array::zeros([3], F32).dynamic_update_index(&i, 2, 0);
    assert_eq!((floats.dtype(), floats.to_string()), (F32, "[0. 0. 1.]".to_string()));
}

#[test]
fn derivatives() {
    let x = Array::from(vec![1.0f64, 2.0, 3.0, 4.0]);
    let i = Array::from(1);
    let gradient = grad(|x: &Array| x.dynamic_slice([&i], [2]).square().sum())(&x);
    assert_eq!(gradient.to_vec::<f64>().unwrap(), [0.0, 4.0, 6.0, 0.0]);
    let by_both = |x: &Array, y: &Array| (x.dynamic_update_slice(y, [&i]) * x).sum();
    let update = Array::from(vec![10.0f64, 20.0]);
    assert_eq!(grad(|x: &Array| by_both(x, &update))(&x).to_vec::<f64>().unwrap(), [2.0, 10.0, 20.0, 8.0]);
    assert_eq!(grad(|y: &Array| by_both(&x, y))(&update).to_vec::<f64>().unwrap(), [2.0, 3.0]);
}

#[test]
fn batches() {
    let (x, places) = (grid(), Array::from(vec![3, 0, -2]));
    let both = (x.clone(), places.clone());
    let taken = vmap(|(row, i): &(Array, Array)| row.dynamic_index(i, 0))(&both);
    assert_eq!(ints(&taken), [3, 4, 10]);
    let columns = vmap(|i: &Array| x.dynamic_slice((0, i), [3, 1]).ravel())(&places);
    assert_eq!(ints(&columns), [3, 7, 11, 0, 4, 8, 2, 6, 10]);
    let updated = vmap(|(row, i): &(Array, Array)| row.dynamic_update_index(-1, i, 0))(&both);
    assert_eq!(ints(&updated), [0, 1, 2, -1, -1, 5, 6, 7, 8, 9, -1, 11]);
}

#[track_caller]
fn check(f: impl Fn(&Array) -> Result<Array>, expected: Expect) {
    let error = tracewell::jit(f).call(&Array::zeros([4, 3], F32)).err().unwrap();
    expected.assert_eq(&without_lines(&error.to_string()));
}

#[test]
fn windows_that_do_not_fit() {
    check(
        |x| Ok(x.dynamic_slice([0, 0], [5, 1])),
        expect![[r#"
        the window [5,1] does not fit axis 0 of f32[4,3]
          --> here, while tracing a closure (here) for jit
          help: along this axis it is at most 4"#]],
    );
    check(
        |x| Ok(x.dynamic_slice([0, 0], [2])),
        expect![[r#"
        the window [2] has rank 1, and f32[4,3] has 2
          --> here, while tracing a closure (here) for jit
          help: a window has a size for each axis; `reshape` to add an axis"#]],
    );
    check(
        |x| Ok(x.dynamic_slice([0], [2, 2])),
        expect![[r#"
        a window of f32[4,3] has 2 starts, found 1
          --> here, while tracing a closure (here) for jit
          help: give a start for each axis; 0 for one that is taken whole"#]],
    );
    check(
        |x| Ok(x.dynamic_index(0, 2)),
        expect![[r#"
        axis 2 is out of range for f32[4,3]
          --> here, while tracing a closure (here) for jit
          help: axes of this array are -2..2"#]],
    );
    check(
        |x| Ok(x.dynamic_update_slice(&Array::zeros([4], F32), [0, 0])),
        expect![[r#"
        the window [4] has rank 1, and f32[4,3] has 2
          --> here, while tracing a closure (here) for jit
          help: a window has a size for each axis; `reshape` to add an axis"#]],
    );
    check(
        |x| Ok(x.dynamic_update_index(Array::zeros([4], F32), 0, 0)),
        expect![[r#"
            cannot update f32[3], a part of f32[4,3], by f32[4]
              --> here, while tracing a closure (here) for jit
              help: what is put there has the shape of the part, or fewer axes"#]],
    );
    check(
        |x| Ok(x.dynamic_update_index(Array::zeros([2, 3], F32), 0, 0)),
        expect![[r#"
        cannot update f32[3], a part of f32[4,3], by f32[2,3]
          --> here, while tracing a closure (here) for jit
          help: what is put there has the shape of the part, or fewer axes"#]],
    );
}

#[test]
fn starts_that_are_no_integers() {
    check(
        |x| Ok(x.dynamic_slice((0, 1.5), [1, 1])),
        expect![[r#"
            the place along axis 1 must be an integer, found f64[]
              --> here, while tracing a closure (here) for jit
              help: `.convert(I32)` first"#]],
    );
    check(
        |x| Ok(x.dynamic_index(x.sum(), 0)),
        expect![[r#"
            the place along axis 0 must be an integer, found f32[]
              --> here, while tracing a closure (here) for jit
              help: `.convert(I32)` first"#]],
    );
    check(
        |x| Ok(x.dynamic_index(Array::from([0, 1]), 0)),
        expect![[r#"
            the place along axis 0 must be an integer, found i32[2]
              --> here, while tracing a closure (here) for jit
              help: a place is a number or an array of rank 0; `vmap` to take several"#]],
    );
}

#[test]
fn updates_of_another_type() {
    check(
        |x| Ok(x.convert(I32).dynamic_update_index(0.5, 0, 0)),
        expect![[r#"
            cannot update i32[4,3] by f64[]: dtypes are i32 and f64
              --> here, while tracing a closure (here) for jit
              help: `.convert(F32)` the array first, or convert what is put there"#]],
    );
    check(
        |x| Ok(x.dynamic_update_slice(&x.convert(F64), [0, 0])),
        expect![[r#"
            cannot update f32[4,3] by f64[4,3]: dtypes are f32 and f64
              --> here, while tracing a closure (here) for jit
              help: `.convert(F64)` the array first, or convert what is put there"#]],
    );
}
