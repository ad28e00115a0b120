//! Scans along an axis: every layout and length gives the same, and long sums stay exact.

use tracewell::prelude::*;

fn wave(n: usize) -> Array {
    Array::from((0..n).map(|i| (i as f32 * 0.37).sin()).collect::<Vec<f32>>())
}

fn bits(x: &Array) -> Vec<u32> {
    x.bitcast(U32).to_vec().unwrap()
}

/// The order of additions is the same along rows and columns, alone and in a batch, forwards and backwards.
#[test]
fn every_layout_gives_the_same_bits() {
    // From 32,768 on a row is shared between threads.
    for n in [1, 7, 255, 256, 257, 2047, 2048, 2049, 5000, 40_000] {
        same_bits(n, |x, axis| x.cumsum(axis), |x, axis| x.cumsum_reverse(axis));
        // Of this one blocks are walked side by side.
        same_bits(n, |x, axis| x.cumlogsumexp(axis), |x, axis| x.cumlogsumexp_reverse(axis));
    }
}

fn same_bits(n: usize, scan: fn(&Array, isize) -> Array, reverse: fn(&Array, isize) -> Array) {
    let row = wave(n);
    let alone = scan(&row, 0);
    let repeated = row.expand(0).broadcast_to([3, n]);
    assert_eq!(bits(&scan(&repeated, 1).slice(s![2])), bits(&alone), "rows of {n}");
    let widths: &[usize] = if n < 10_000 { &[2, 5, 600] } else { &[2, 65] };
    for &width in widths {
        let columns = row.expand(1).broadcast_to([n, width]);
        let found = scan(&columns, 0);
        for column in [0, width - 1] {
            assert_eq!(bits(&found.slice(s![.., column])), bits(&alone), "columns of {n}");
        }
    }
    let backwards = reverse(&row.flip(&[0]), 0).flip(&[0]);
    assert_eq!(bits(&backwards), bits(&alone), "{n} backwards");
    let jitted = jit(move |x: &Array| scan(x, 0));
    assert_eq!(bits(&jitted.call(&row)), bits(&alone), "{n} jitted");
}

/// What one block has come to is where the next one starts: a sum of positive numbers never falls.
#[test]
fn sums_of_positive_numbers_grow() {
    let x = wave(100_000).abs();
    let sums: Vec<f32> = x.cumsum(0).to_vec().unwrap();
    assert!(sums.windows(2).all(|w| w[0] <= w[1]));
    let exact: f64 = x.to_vec::<f32>().unwrap().iter().map(|&x| f64::from(x)).sum();
    assert!((f64::from(sums[99_999]) - exact).abs() < 1e-6 * exact, "{} {exact}", sums[99_999]);
}

#[test]
fn integers_wrap_and_bools_are_counted() {
    assert_eq!(Array::from([200u8, 100, 1]).cumsum(0).to_string(), "[200  44  45]");
    assert_eq!(Array::from([true, false, true]).cumsum(0).to_string(), "[1 1 2]");
    assert_eq!(Array::from([i32::MIN, 5]).cummax(0).to_string(), "[-2147483648           5]");
    let n = 3000;
    let long = Array::ones([n], I64).cumsum(0);
    assert!(long.eq(Array::arange(n, I64) + 1).all().item::<bool>());
}

#[test]
fn zeros_nan_and_infinities() {
    let x = Array::from([-0.0f32, -0.0]);
    assert_eq!(bits(&x.cumsum(0)), [0x8000_0000, 0x8000_0000]);
    let x = Array::from([1.0f32, f32::NAN, 3.0]);
    assert_eq!(x.cummax(0).to_string(), "[ 1. nan nan]");
    assert_eq!(x.cummin_reverse(0).to_string(), "[nan nan  3.]");
    let x = Array::from([f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0, f64::INFINITY]);
    assert_eq!(x.cumlogsumexp(0).to_string(), "[-inf -inf   0.  inf]");
}

#[test]
fn derivatives_in_linear_time_stay_so() {
    let n = 20_000;
    let x = 1.0 + 1e-5 * wave(n);
    let gradient = grad(|x: &Array| x.cumprod(0).slice(s![-1]))(&x);
    let product = f64::from(x.prod().item::<f32>());
    let error = (gradient - product / &x).abs().max().item::<f32>();
    assert!(error < 1e-2, "{error}");
}

#[test]
fn a_recurrence_is_differentiated_by_both_operands() {
    let (a, b) = (Array::from([5.0f64, 0.5, 2.0]), Array::from([1.0f64, 1.0, 1.0]));
    let last = |(a, b): &(Array, Array)| a.linear_recurrence(b, 0).slice(s![-1]);
    let (by_a, by_b) = grad(last)(&(a, b));
    assert_eq!(by_a.to_string(), "[0.  2.  1.5]");
    assert_eq!(by_b.to_string(), "[1. 2. 1.]");
}
