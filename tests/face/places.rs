//! Elements where arrays of integers say, read and changed: expected values are NumPy's.

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
fn taken_along_an_axis() {
    let x = grid();
    let places = Array::from([[2, 0], [-1, -3]]);
    let rows = x.take(&places, 0);
    assert_eq!(rows.shape(), &Shape::from([2, 2, 4]));
    assert_eq!(ints(&rows), [8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11, 0, 1, 2, 3]);
    let columns = x.take(&places, 1);
    assert_eq!(columns.shape(), &Shape::from([3, 2, 2]));
    assert_eq!(ints(&columns), [2, 0, 3, 1, 6, 4, 7, 5, 10, 8, 11, 9]);
    assert_eq!(ints(&x.take(1, 0)), [4, 5, 6, 7]);
    assert_eq!(ints(&x.take(-1, -1)), [3, 7, 11]);
    assert_eq!(x.take(Array::zeros([0], I64), 0).shape(), &Shape::from([0, 4]));
    assert_eq!(Array::zeros([0, 3], F32).take(Array::zeros([2, 0], I32), 0).shape(), &Shape::from([2, 0, 3]));
}

/// An index means the same in every integer type, known or traced.
#[test]
fn every_type_of_index() {
    let x = Array::arange(5, I32);
    let at = jit(|(x, i): &(Array, Array)| x.at(i).clip().get());
    for dtype in [I32, I64] {
        let i = Array::from([0, 4, 5, -1, -5, -6, 1 << 30]).convert(dtype);
        assert_eq!(ints(&at.call(&(x.clone(), i.clone()))), [0, 4, 4, 4, 0, 0, 4]);
        assert_eq!(ints(&x.at(&i).clip().get()), [0, 4, 4, 4, 0, 0, 4]);
    }
    for dtype in [U8, U32] {
        let i = Array::from([0, 4, 5, 200]).convert(dtype);
        assert_eq!(ints(&at.call(&(x.clone(), i))), [0, 4, 4, 4]);
    }
    let ends = Array::from([i64::MIN, i64::MAX, -1]);
    assert_eq!(ints(&x.at(&ends).clip().get()), [0, 4, 4]);
    assert_eq!(ints(&x.at(&ends).fill(9).get()), [9, 9, 4]);
    assert_eq!(ints(&x.at(&Array::from([u32::MAX, 1])).fill(9).get()), [9, 1]);
    assert_eq!(ints(&x.at(&ends).add(10)), [0, 1, 2, 3, 14]);
}

/// What is read where there is nothing, by element type.
#[test]
fn marks() {
    let places = Array::from([0, 3]);
    let of = |dtype: DType| Array::ones([2], dtype).take(&places, 0);
    assert_eq!(of(F32).to_string(), "[ 1. nan]");
    assert_eq!(of(F64).to_string(), "[ 1. nan]");
    assert_eq!(of(I32).to_vec::<i32>().unwrap(), [1, i32::MIN]);
    assert_eq!(of(I64).to_vec::<i64>().unwrap(), [1, i64::MIN]);
    assert_eq!(of(U8).to_vec::<u8>().unwrap(), [1, u8::MAX]);
    assert_eq!(of(U32).to_vec::<u32>().unwrap(), [1, u32::MAX]);
    assert_eq!(Array::zeros([2], BOOL).take(&places, 0).to_vec::<bool>().unwrap(), [false, true]);
}

#[test]
fn several_arrays_are_used_together() {
    let x = Array::arange(24, I32).reshape([2, 3, 4]);
    let (i, j) = (Array::from([0, 1, 1]), Array::from([2, 0, -1]));
    assert_eq!(ints(&x.slice((&i, &j)))[..4], [8, 9, 10, 11]);
    assert_eq!(ints(&x.slice(s![&i, 1, &j])), [6, 16, 19]);
    // Side by side their axes stay there; apart they come first.
    assert_eq!(x.slice(s![.., &i, &j]).shape(), &Shape::from([2, 3]));
    assert_eq!(x.slice(s![&i, .., &j]).shape(), &Shape::from([3, 3]));
    assert_eq!(ints(&x.slice(s![&i, .., &j])), [2, 6, 10, 12, 16, 20, 15, 19, 23]);
    let outer = x.slice(s![i.expand(1), &j, 1..3]);
    assert_eq!(outer.shape(), &Shape::from([3, 3, 2]));
    assert_eq!(ints(&outer)[..6], [9, 10, 1, 2, 9, 10]);
    assert_eq!(ints(&grid().slice(s![.., Array::from(2)])), [2, 6, 10]);
}

#[test]
fn static_updates() {
    let x = grid();
    assert_eq!(ints(&x.at(s![1]).set(0)), [0, 1, 2, 3, 0, 0, 0, 0, 8, 9, 10, 11]);
    assert_eq!(ints(&x.at(s![.., 1..3]).mul(10))[..4], [0, 10, 20, 3]);
    assert_eq!(ints(&x.at(s![..;2, ..;-3]).add(Array::from([100, 200])))[..4], [200, 1, 2, 103]);
    assert_eq!(ints(&x.at(s![..;-1, 0]).set(Array::from([7, 8, 9]))), [9, 1, 2, 3, 8, 5, 6, 7, 7, 9, 10, 11]);
    assert_eq!(ints(&x.at(s![1..1]).set(5)), ints(&x));
    assert_eq!(ints(&x.at(s![-1, -1]).max(50))[8..], [8, 9, 10, 50]);
    assert_eq!(ints(&x.at(s![]).min(1))[..3], [0, 1, 1]);
    assert_eq!(Array::from(3).at(s![]).add(1).item::<i32>(), 4);
    assert_eq!(x.at(s![0]).get().to_string(), "[0 1 2 3]");
}

/// Updates of one element come in the order of the updates, in every layout.
#[test]
fn the_last_one_stays() {
    let x = Array::zeros([3], I32);
    let update = Array::arange(6, I32) + 1;
    assert_eq!(ints(&x.at(&Array::from([0, 1, 0, 1, 0, 5])).set(&update)), [5, 4, 0]);
    let grid = Array::zeros([2, 3], I32);
    let places = Array::from([[1, 1], [0, 1]]);
    assert_eq!(ints(&grid.at_along(&places, 1).set(Array::from([[1, 2], [3, 4]]))), [0, 2, 0, 3, 4, 0]);
    let columns = grid.at(s![.., &places]).set(&(Array::arange(8, I32).reshape([2, 2, 2]) + 1));
    assert_eq!(ints(&columns), [3, 4, 0, 7, 8, 0]);
}

#[test]
fn masks() {
    let x = grid();
    assert_eq!(ints(&x.at(&x.gt(9)).set(0))[8..], [8, 9, 0, 0]);
    let rows = Array::from([0, 1, 0]).eq(1);
    assert_eq!(ints(&x.at(&rows).add(Array::from([10, 20, 30, 40])))[3..9], [3, 14, 25, 36, 47, 8]);
    let there = Array::from([0.0f32, 2.0, 0.0, -1.0]).nonzero(3);
    assert_eq!(ints(&there[0]), [1, 3, 4]);
    let pairs = x.rem(5).eq(0).nonzero(2);
    assert_eq!((ints(&pairs[0]), ints(&pairs[1])), (vec![0, 1], vec![0, 1]));
    assert_eq!(x.nonzero(0)[1].len(), 0);
    assert_eq!(ints(&Array::zeros([0], I32).nonzero(2)[0]), [0, 0]);
}

#[test]
fn segments_and_rows_with_a_one() {
    let data = Array::arange(8, F32).reshape([4, 2]);
    let sums = segment_sum(&data, &Array::from([1, -1, 1, 9]), 2);
    assert_eq!(sums.to_string(), "[[0. 0.]\n [4. 6.]]");
    let both = segment_sum(&data, &Array::from([[0, 1], [1, 1], [0, 0], [2, 0]]), 2);
    assert_eq!(both.to_string(), "[16.  6.]");
    assert_eq!(segment_sum(&data, &Array::from([0, 0, 0, 0]), 0).shape(), &Shape::from([0, 2]));
    let rows = one_hot(&Array::from([[2u8], [0]]), 3, F32);
    assert_eq!(rows.shape(), &Shape::from([2, 1, 3]));
    assert_eq!(rows.ravel().to_vec::<f32>().unwrap(), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
}

/// Batching of indexing, of places, of both and of batching is one equation and no loop.
#[test]
fn batched_places_are_one_equation() {
    let (x, i) = (Array::arange(12, F32).reshape([3, 4]), Array::from([[0, 3], [1, 1], [2, 0]]));
    let f = |(x, i): &(Array, Array)| vmap(|(x, i): &(Array, Array)| x.take(i, 0))(&(x.clone(), i.clone()));
    assert_eq!(f(&(x.clone(), i.clone())).ravel().to_vec::<f32>().unwrap(), [0.0, 3.0, 5.0, 5.0, 10.0, 8.0]);
    let graph = trace(f, &(x.clone(), i.clone())).unwrap().to_string();
    assert!(graph.contains("gather") && !graph.contains("each["), "{graph}");
    let g = |(x, i): &(Array, Array)| {
        vmap(|i: &Array| vmap(|(x, k): &(Array, Array)| x.at(k).add(1.0))(&(x.clone(), i.clone())))(&stack(
            &[i, &(i + 1)],
            0,
        ))
    };
    let sums = g(&(Array::zeros([3, 4], F32), i.clone()));
    assert_eq!(sums.shape(), &Shape::from([2, 3, 4]));
    assert_eq!(
        sums.slice(s![1]).ravel().to_vec::<f32>().unwrap(),
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 1.0, 0.0, 1.0]
    );
    let graph = trace(g, &(x, i)).unwrap().to_string();
    assert!(graph.contains("scatter") && !graph.contains("each["), "{graph}");
}

/// An update whose array nobody needs any more makes no copy of it.
#[test]
fn updates_are_in_place() {
    let f = |(x, i): &(Array, Array)| {
        let y = x * 2.0;
        y.at(i).add(1.0).at(i).set(7.0)
    };
    let args = (Array::zeros([1000], F32), Array::from([1, 5]));
    let program = jit(f).lower(&args).unwrap().program().to_string();
    assert!(!program.contains("copy"), "{program}");
}

/// Axes of arrays that stand apart come first, wherever the arrays stand.
#[test]
fn arrays_that_stand_apart() {
    let x = Array::arange(120, I32).reshape([2, 3, 4, 5]);
    let (i, j) = (Array::from([2, 0, 1]), Array::from([4, 0, 2]));
    let found = x.slice(s![.., &i, .., &j]);
    assert_eq!(found.shape(), &Shape::from([3, 2, 4]));
    let at = |k: usize, a: i32, b: i32| a * 60 + [2, 0, 1][k] * 20 + b * 5 + [4, 0, 2][k];
    let each = (0..3).flat_map(|k| (0..8).map(move |n| at(k, n / 4, n % 4)));
    assert_eq!(ints(&found), each.collect::<Vec<i32>>());
}

/// An array that is read at any place and at each place in turn is whole before the first is read.
#[test]
fn what_is_read_anywhere_is_made_before() {
    let f = jit(|[x, at]: &[Array; 2]| {
        let y = x * 2 + 1;
        y.take(at, 0) + &y
    });
    let x = Array::from(vec![1, 2, 3, 4]);
    assert_eq!(ints(&f.call(&[x, Array::from(vec![3, 2, 1, 0])])), [12; 4]);
}

/// What is read is computed on in the same loop, and so are the places.
#[test]
fn reading_is_part_of_a_kernel() {
    let f = |(x, i): &(Array, Array)| (x.take(&(i * 2 + 1), 0) * 3.0).sum();
    let args = (Array::arange(100, F64), Array::from([0, 7, -1, 49, 50]));
    let lowered = jit(f).lower(&args).unwrap();
    assert_eq!(lowered.program().kernels.len(), 1, "{}", lowered.program());
    assert!(jit(f).call(&args).item::<f64>().is_nan());
    let inside = (args.0.clone(), Array::from([0, 7, -1, 49]));
    assert_eq!(jit(f).call(&inside).item::<f64>(), 3.0 * (1.0 + 15.0 + 99.0 + 99.0));
    // An array that is computed for it, and one that the same loop reads too, have memory.
    let g = |(x, i): &(Array, Array)| {
        let y = x.sin();
        (&y + y.take(i, 0)) * y.sum()
    };
    let args = (Array::arange(4, F64), Array::from([3, 0, 2, 2]));
    let y: Vec<f64> = args.0.to_vec::<f64>().unwrap().iter().map(|x| x.sin()).collect();
    let sum: f64 = y.iter().sum();
    let found: Vec<f64> = jit(g).call(&args).to_vec().unwrap();
    for (found, (a, b)) in found.iter().zip([(0, 3), (1, 0), (2, 2), (3, 2)]) {
        assert!((found - (y[a] + y[b]) * sum).abs() < 1e-12, "{found}");
    }
}

/// The derivative of a product that meets another zero.
#[test]
fn products_with_zeros() {
    let places = Array::from([0, 0, 1]);
    let f = |u: &Array| Array::from([5.0f64, 3.0]).at(&places).mul(u).sum();
    let at = |u: [f64; 3]| grad(f)(&Array::from(u)).to_vec::<f64>().unwrap();
    assert_eq!(at([0.0, 2.0, 4.0]), [10.0, 0.0, 3.0]);
    assert_eq!(at([0.0, 0.0, 0.0]), [0.0, 0.0, 3.0]);
    assert_eq!(at([4.0, 2.0, 1.0]), [10.0, 20.0, 3.0]);
}

/// Large enough for threads: what each computes does not depend on them.
#[test]
fn large_arrays() {
    let n = 300_000usize;
    let x = Array::arange(n, F64);
    let i = (Array::arange(n, I64) * 7919).rem(n as i64);
    let taken = x.take(&i, 0);
    assert_eq!(taken.to_vec::<f64>().unwrap()[..4], [0.0, 7919.0, 15838.0, 23757.0]);
    assert_eq!(taken.sum().item::<f64>(), (n as f64 - 1.0) * n as f64 / 2.0);
    let back = Array::zeros([n], F64).at(&i).add(&taken);
    assert_eq!(back.to_vec::<f64>().unwrap(), x.to_vec::<f64>().unwrap());
    let rows = x.reshape([3000, 100]).take(i.slice(s![..3000]).rem(3000), 0);
    assert_eq!(rows.slice(s![1]).to_vec::<f64>().unwrap()[..2], [191_900.0, 191_901.0]);
}

/// A check is made wherever the function runs, and says which index it was.
/// Those of one place are added one after the other, however many there are.
#[test]
fn many_updates_are_added_in_order() {
    let n = 20_000;
    let y: Vec<f32> = (0..n).map(|i| ((i * 7919 % 1000) as f32).sqrt() - 11.0).collect();
    // Some count from the back, and some are outside.
    let at: Vec<i32> = (0..n).map(|i| (i * 104_729 % 2500) - 1250).collect();
    let add = jit(|(x, at, y): &(Array, Array, Array)| (x.at(at).add(y), x.at(at).clip().add(y)));
    for (size, width) in [(1000, 1), (999, 1), (1009, 1), (1000, 40), (999, 40), (1009, 40)] {
        let mut dropped = vec![0.5f32; size * width];
        let mut clipped = dropped.clone();
        for (i, &at) in at.iter().enumerate() {
            let place = i64::from(at) + if at < 0 { size as i64 } else { 0 };
            let nearest = place.clamp(0, size as i64 - 1);
            for column in 0..width {
                let y = y[i] + column as f32;
                clipped[nearest as usize * width + column] += y;
                if place == nearest {
                    dropped[nearest as usize * width + column] += y;
                }
            }
        }
        let x = Array::full([size, width], 0.5, F32);
        let rows = Array::from(y.clone()).expand(1) + Array::arange(width, F32);
        let (x, rows) = if width == 1 { (x.ravel(), rows.ravel()) } else { (x, rows) };
        let (found, moved) = add.call(&(x, Array::from(at.clone()), rows));
        assert!(found.ravel().to_vec::<f32>().unwrap() == dropped, "{size} × {width}");
        assert!(moved.ravel().to_vec::<f32>().unwrap() == clipped, "{size} × {width} moved");
    }
}

#[test]
fn checked_places() {
    let x = Array::arange(3, F32);
    let read = jit(|(x, i): &(Array, Array)| -> Result<Array> { Ok(x.at(i).checked().get()) });
    let add = jit(|(x, i): &(Array, Array)| -> Result<Array> { Ok(x.at(s![i]).checked().add(1.0)) });
    let with = |i: [i32; 2]| (x.clone(), Array::from(i));
    assert_eq!(read.call(&with([2, -3])).unwrap().to_string(), "[2. 0.]");
    assert_eq!(add.call(&with([2, 2])).unwrap().to_string(), "[0. 1. 4.]");
    for wrong in [[0, 3], [-4, 0]] {
        let error = read.call(&with(wrong)).unwrap_err().to_string();
        assert!(error.contains("out of range for an axis of size 3"), "{error}");
        assert!(error.contains("tests/face/places.rs"), "{error}");
        assert!(add.call(&with(wrong)).is_err());
    }
    let bytes = Array::arange(300, I32).at(&Array::from([255u8])).checked().get();
    assert_eq!(ints(&bytes), [255]);
}

/// What a mistake with an array of 4×3 floats says.
fn check(f: fn(&Array) -> Array, expected: Expect) {
    let outcome = jit(move |x: &Array| -> Result<Array> { Ok(f(x)) }).call(&Array::zeros([4, 3], F32));
    expected.assert_eq(&without_lines(&outcome.unwrap_err().to_string()));
}

#[test]
fn places_that_are_no_integers() {
    check(
        |x| x.take(Array::from([0.5f32]), 0),
        expect![[r#"
        the places along axis 0 of f32[4,3] must be integers, found f32[1]
          --> here, while tracing a closure (here) for jit
          help: `.convert(I32)` first"#]],
    );
    check(
        |x| x.slice(s![.., x.slice(s![0]).gt(3)]),
        expect![[r#"
        the places along axis 1 of f32[4,3] are a mask, bool[3]
          --> here, while tracing a closure (here) for jit
          help: how many elements it takes is not known while tracing: `select(&mask, &x, 0.0)` keeps the shape, `mask.nonzero(n)` gives the places of the first `n`"#]],
    );
    check(
        |_| one_hot(&Array::from([0.5f32]), 2, F32),
        expect![[r#"
        `one_hot` takes integers, found f32[1]
          --> here, while tracing a closure (here) for jit
          help: `.convert(I32)` first"#]],
    );
}

#[test]
fn places_of_another_shape() {
    check(
        |x| x.slice(s![Array::from([0, 1]), Array::from([0, 1, 2])]),
        expect![[r#"
        cannot index by i32[2] and i32[3]: axis 0 is 2 and 3
          --> here, while tracing a closure (here) for jit
          help: axes are aligned from the last; sizes must be equal, or 1; `reshape` to add an axis"#]],
    );
    check(
        |x| x.slice(s![.., .., Array::from([0, 1])]),
        expect![[r#"
        3 axes are sliced of f32[4,3], which has 2
          --> here, while tracing a closure (here) for jit
          help: name at most one place or range for each axis"#]],
    );
    check(
        |x| x.take_along_axis(&Array::from([0, 1]), 0),
        expect![[r#"
        places along an axis of f32[4,3] have rank 2, found i32[2]
          --> here, while tracing a closure (here) for jit
          help: there is a place for each element of the result; `take` takes the same places everywhere"#]],
    );
    check(
        |x| x.take_along_axis(&Array::from([[0, 1]]), 0),
        expect![[r#"
        places i32[1,2] along axis 0 of f32[4,3]: axis 1 is 2 and 3
          --> here, while tracing a closure (here) for jit
          help: the other axes are those of the array, or 1; `take` takes the same places everywhere"#]],
    );
    check(
        |x| x.slice(s![1..1]).take(Array::from([0]), 0),
        expect![[r#"
        there are no places along axis 0 of f32[0,3], found i32[1]
          --> here, while tracing a closure (here) for jit
          help: the axis is empty"#]],
    );
    check(
        |x| segment_sum(x, &Array::from([0, 1]), 2),
        expect![[r#"
        cannot number the first axes of f32[4,3] by i32[2]
          --> here, while tracing a closure (here) for jit
          help: there is the number of a segment for each element of the first axes"#]],
    );
}

#[test]
fn updates_that_do_not_fit() {
    check(
        |x| x.at(&Array::from([0, 1])).add(Array::zeros([2], F32)),
        expect![[r#"
        cannot update f32[2,3], a part of f32[4,3], by f32[2]
          --> here, while tracing a closure (here) for jit
          help: what is put there has the shape of the part, or fewer axes"#]],
    );
    check(
        |x| x.at(s![1..]).add(Array::zeros([4, 3], F32)),
        expect![[r#"
        cannot update f32[3,3], a part of f32[4,3], by f32[4,3]
          --> here, while tracing a closure (here) for jit
          help: what is put there has the shape of the part, or fewer axes"#]],
    );
    check(
        |x| x.convert(I32).at(&Array::from([0])).set(0.5),
        expect![[r#"
        cannot update i32[4,3] by f64[]: dtypes are i32 and f64
          --> here, while tracing a closure (here) for jit
          help: `.convert(F32)` the array first, or convert what is put there"#]],
    );
    check(
        |x| x.at(&x.slice(s![0]).gt(0)).set(1),
        expect![[r#"
        a mask of f32[4,3] has its first axes, found bool[3]
          --> here, while tracing a closure (here) for jit
          help: compare the array itself: `x.gt(0.0)`"#]],
    );
    check(
        |x| x.gt(0).at(&Array::from([0])).add(x.slice(s![0]).gt(0)),
        expect![[r#"
        `scatter` by `add` expects numbers, found bool[4,3]
          --> here, while tracing a closure (here) for jit
          help: `.convert(I32)` first"#]],
    );
    check(
        |x| x.at(&Array::from([0])).fill(x).get(),
        expect![[r#"
        what is read outside must be a number known while tracing, found f32[4,3]
          --> here, while tracing a closure (here) for jit
          help: `select` what is read from another array"#]],
    );
}

/// Many numbers are added to a large array by all threads, in their order; the array itself stays what it was.
#[test]
fn many_are_added_to_a_large_array() {
    let (len, count) = (300_001, 100_000);
    let places: Vec<i32> = (0..count).map(|i| (i * 7919) % 700_000 - 350_000).collect();
    let updates: Vec<f32> = (0..count).map(|i| 1.0 / (1 + i % 1013) as f32).collect();
    let x: Vec<f32> = (0..len).map(|i| (i % 7) as f32).collect();
    let (mut dropped, mut clipped) = (x.clone(), x.clone());
    for (&place, update) in places.iter().zip(&updates) {
        let place = if place < 0 { place + len } else { place };
        if (0..len).contains(&place) {
            dropped[place as usize] += update;
        }
        clipped[place.clamp(0, len - 1) as usize] += update;
    }
    let args = (Array::from(x.clone()), Array::from(places), Array::from(updates));
    let add = jit(|(x, at, u): &(Array, Array, Array)| (x.at(at).add(u), x.at(at).clip().add(u), x.sum()));
    let (first, second, _) = add.call(&args);
    assert!(first.to_vec::<f32>().unwrap() == dropped);
    assert!(second.to_vec::<f32>().unwrap() == clipped);
    assert!(args.0.to_vec::<f32>().unwrap() == x);

    // The gradient of taking adds, and that of adding takes.
    let (at, u) = (args.1.clone(), args.2.clone());
    let zeros = Array::zeros([len as usize], F32);
    let taken = grad(|x: &Array| (x.at(&at).clip().get() * &u).sum())(&zeros);
    let added = add.call(&(zeros, at.clone(), u.clone())).1;
    assert!(taken.to_vec::<f32>().unwrap() == added.to_vec::<f32>().unwrap());
}
