//! Sorting and what is read off a sorted axis: order, stability, NaN, sizes at which the work is done in other ways.

use tracewell::prelude::*;

fn bits(x: &Array) -> Vec<u32> {
    x.bitcast(U32).to_vec().unwrap()
}

/// Numbers that repeat, with both zeros and NaN among them.
fn rough(n: usize) -> Vec<f32> {
    let number = |i: usize| match i * 7919 % 101 {
        0 => f32::NAN,
        1 => -0.0,
        2 => 0.0,
        3 => f32::NEG_INFINITY,
        k => (k as f32 - 50.0) * if i.is_multiple_of(3) { 1e-3 } else { 1.5 },
    };
    (0..n).map(number).collect()
}

/// Where the elements come from in order, by the standard library.
fn order(x: &[f32], descending: bool) -> Vec<i32> {
    let mut places: Vec<usize> = (0..x.len()).collect();
    places.sort_by(|&a, &b| {
        let order = x[a].partial_cmp(&x[b]).unwrap_or(x[a].is_nan().cmp(&x[b].is_nan()));
        if descending { order.reverse() } else { order }
    });
    places.into_iter().map(|place| place as i32).collect()
}

/// Every size at which the work changes its way; equal elements keep their order, so that signs of zeros show it.
#[test]
fn all_sizes_are_stable() {
    for n in [1, 2, 41, 1000, 70_000, 140_000] {
        let x = rough(n);
        let array = Array::from(x.clone());
        for descending in [false, true] {
            let places = order(&x, descending);
            let (sorted, argsort) = match descending {
                false => (array.sort(0), array.argsort(0)),
                true => (array.sort_descending(0), array.argsort_descending(0)),
            };
            let expected: Vec<u32> = places.iter().map(|&i| x[i as usize].to_bits()).collect();
            assert!(bits(&sorted) == expected, "{n} {descending}");
            assert!(argsort.to_vec::<i32>().unwrap() == places, "{n} {descending}");
        }
        let (values, places) = array.top_k(n / 10 + 1, 0);
        let expected = &order(&x, true)[..n / 10 + 1];
        assert!(places.to_vec::<i32>().unwrap() == expected, "{n}");
        let expected: Vec<u32> = expected.iter().map(|&i| x[i as usize].to_bits()).collect();
        assert!(bits(&values) == expected, "{n}");
    }
}

/// Without NaN and with one kind of zero, keys alone are sorted.
#[test]
fn plain_numbers_of_every_type_are_sorted() {
    let n = 100_000i64;
    let numbers: Vec<i64> = (0..n).map(|i| (i * 1_000_003 - 7_777_777_777) * (i % 7 - 3)).collect();
    let mut expected = numbers.clone();
    expected.sort_unstable();
    assert!(Array::from(numbers.clone()).sort(0).to_vec::<i64>().unwrap() == expected);
    let floats: Vec<f64> = numbers.iter().map(|&i| i as f64 * 0.25).collect();
    let expected: Vec<f64> = expected.iter().map(|&i| i as f64 * 0.25).collect();
    assert!(Array::from(floats).sort(0).to_vec::<f64>().unwrap() == expected);
    let bytes: Vec<u8> = numbers.iter().map(|&i| i as u8).collect();
    let mut expected = bytes.clone();
    expected.sort_unstable();
    assert!(Array::from(bytes).sort(0).to_vec::<u8>().unwrap() == expected);
}

#[test]
fn rows_and_columns_of_a_large_matrix() {
    let x = Array::from(rough(300 * 200)).reshape([300, 200]);
    let by_rows = x.sort(1);
    let by_columns = x.t().sort(0).t();
    assert_eq!(bits(&by_rows), bits(&by_columns));
    let row: Vec<f32> = x.slice(s![17]).to_vec().unwrap();
    let expected: Vec<u32> = order(&row, false).iter().map(|&i| row[i as usize].to_bits()).collect();
    assert_eq!(bits(&by_rows.slice(s![17])), expected);
    let each = vmap(|row: &Array| row.sort(0))(&x);
    assert_eq!(bits(&each), bits(&by_rows));
}

#[test]
fn the_gradient_goes_back_where_elements_came_from() {
    let x = Array::from([3.0f32, 1.0, 2.0]);
    let weights = Array::from([1.0f32, 10.0, 100.0]);
    let gradient = grad(|x: &Array| (x.sort(0) * &weights).sum())(&x);
    assert_eq!(gradient.to_string(), "[100.   1.  10.]");
    let gradient = grad(|x: &Array| (x.top_k(2, 0).0 * Array::from([1.0f32, 10.0])).sum())(&x);
    assert_eq!(gradient.to_string(), "[ 1.  0. 10.]");
    let jitted = jit(|x: &Array| grad(|x: &Array| x.sort(0).slice(s![0]))(x));
    assert_eq!(jitted.call(&x).to_string(), "[0. 1. 0.]");
}

#[test]
fn several_keys_decide_in_order() {
    let year = Array::from([[2, 1, 2, 1], [1, 1, 1, 1]]);
    let name = Array::from([[0.5f32, 2.0, f32::NAN, -1.0], [0.0, -0.0, f32::NAN, -5.0]]);
    let what = Array::iota([2, 4], 1, I32);
    let sorted = sort_together(&[&year, &name, &what], 2, 1);
    assert_eq!(sorted[2].to_string(), "[[3 1 0 2]\n [3 0 1 2]]");
}

#[test]
fn nan_is_beyond_every_number() {
    let x = Array::from([1.0f64, 2.0, f64::INFINITY, f64::NAN]);
    let queries = Array::from([f64::NAN, f64::INFINITY, -0.0, 2.0]);
    assert_eq!(x.searchsorted(&queries).to_string(), "[3 2 0 1]");
    assert_eq!(x.searchsorted_right(&queries).to_string(), "[4 3 0 2]");
    assert!(x.median(0).item::<f64>().is_nan());
    assert_eq!(x.unique(5).to_string(), "[ 1.  2. inf nan  1.]");
}

#[test]
fn rows_are_searched_by_vmap() {
    let rows = Array::from([[1, 3, 5], [2, 4, 6]]);
    let queries = Array::from([[3, 6], [3, 6]]);
    let found = vmap(|(row, queries): &(Array, Array)| row.searchsorted(queries))(&(rows, queries));
    assert_eq!(found.to_string(), "[[1 3]\n [1 2]]");
}

#[test]
fn inside_loops() {
    let x = Array::from([[3.0f32, 1.0, 2.0], [0.0, 5.0, 4.0]]);
    let (_, sorted) = scan(Array::from(0.0f32), &x, |carry, row| (carry + row.sum(), row.sort(0)));
    assert_eq!(sorted.to_string(), "[[1. 2. 3.]\n [0. 4. 5.]]");
}

#[test]
fn mistakes_are_named() {
    let message = |f: fn() -> Array| {
        let wrapped = jit(move |_: &Array| -> Result<Array> { Ok(f()) });
        wrapped.call(&Array::from(0)).unwrap_err().message().to_owned()
    };
    assert_eq!(message(|| Array::from(1.0f32).sort(0)), "axis 0 is out of range for f32[]");
    assert_eq!(
        message(|| Array::ones([3], F32).top_k(4, 0).0),
        "cannot take the 4 largest along axis 0 of f32[3]"
    );
    assert_eq!(
        message(|| Array::ones([3], F32).quantile(2.0, 0)),
        "there is no quantile 2 along axis 0 of f32[3]"
    );
    assert_eq!(
        message(|| sort_together(&[Array::ones([3], F32), Array::ones([4], F32)], 1, 0).remove(0)),
        "cannot sort f32[3] and f32[4] together: axis 0 is 3 and 4"
    );
    assert_eq!(
        message(|| Array::ones([2, 3], F32).searchsorted(&Array::ones([1], F32))),
        "`searchsorted` searches an array of rank 1, found f32[2,3]"
    );
}
