//! Parts of arrays, arrays beside each other, and where the extreme is: expected values are NumPy's.

use tracewell::prelude::*;

fn grid() -> Array {
    Array::arange(12, I32).reshape([3, 4])
}

fn ints(x: &Array) -> Vec<i32> {
    x.ravel().to_vec().unwrap()
}

#[test]
fn places_and_ranges() {
    let x = grid();
    assert_eq!(ints(&x.slice(s![1])), [4, 5, 6, 7]);
    assert_eq!(ints(&x.slice(s![.., 1])), [1, 5, 9]);
    assert_eq!(ints(&x.slice(s![-1, -2])), [10]);
    assert_eq!(x.slice(s![-1, -2]).rank(), 0);
    assert_eq!(ints(&x.slice(s![1.., ..2])), [4, 5, 8, 9]);
    assert_eq!(ints(&x.slice(s![..=1, 2..=3])), [2, 3, 6, 7]);
    assert_eq!(ints(&x.slice(s![.., -2..])), [2, 3, 6, 7, 10, 11]);
    assert_eq!(ints(&x.slice(s![..=-1, ..=-2])), [0, 1, 2, 4, 5, 6, 8, 9, 10]);
    assert_eq!(x.slice(s![1..1]).shape(), &Shape::from([0, 4]));
    let i = 2usize;
    assert_eq!(ints(&x.slice(s![i, ..i])), [8, 9]);
}

#[test]
fn steps() {
    let x = Array::arange(7, I32);
    assert_eq!(ints(&x.slice(s![..;2])), [0, 2, 4, 6]);
    assert_eq!(ints(&x.slice(s![1..;3])), [1, 4]);
    assert_eq!(ints(&x.slice(s![..;-1])), [6, 5, 4, 3, 2, 1, 0]);
    assert_eq!(ints(&x.slice(s![..;-2])), [6, 4, 2, 0]);
    // As in ndarray: the range, walked from its last element.
    assert_eq!(ints(&x.slice(s![0..4;-3])), [3, 0]);
    assert_eq!(ints(&x.slice(s![2..2;-3])), [] as [i32; 0]);
    assert_eq!(ints(&grid().slice(s![..;-1, ..;3])), [8, 11, 4, 7, 0, 3]);
}

#[test]
fn slices_are_compiled_and_differentiated() {
    let x = Array::from(vec![1.0f64, 2.0, 3.0, 4.0, 5.0]);
    let differences = |x: &Array| (x.slice(s![1..]) - x.slice(s![..-1])).square().sum();
    let gradient = grad(differences)(&x);
    assert_eq!(gradient.to_vec::<f64>().unwrap(), [-2.0, 0.0, 0.0, 0.0, 2.0]);
    let jitted = jit(move |x: &Array| grad(differences)(x));
    assert_eq!(jitted.call(&x).to_vec::<f64>().unwrap(), [-2.0, 0.0, 0.0, 0.0, 2.0]);
    let rows = Array::arange(6, F64).reshape([2, 3]);
    let last = vmap(|row: &Array| row.slice(s![-1]))(&rows);
    assert_eq!(last.to_vec::<f64>().unwrap(), [2.0, 5.0]);
}

#[test]
fn joined_arrays() {
    let (x, y) = (grid(), 100 + grid().slice(s![..1]));
    assert_eq!(ints(&concatenate(&[&x, &y], 0))[10..], [10, 11, 100, 101, 102, 103]);
    assert_eq!(concatenate(&[&x, &x], -1).shape(), &Shape::from([3, 8]));
    assert_eq!(ints(&stack(&[&x, &x], 1))[..8], [0, 1, 2, 3, 0, 1, 2, 3]);
    assert_eq!(stack(&[&x, &x], -1).shape(), &Shape::from([3, 4, 2]));
    let mixed = concatenate(&[Array::from([1i32]), Array::from([0.5f32])], 0);
    assert_eq!((mixed.dtype(), mixed.to_string()), (F32, "[1.  0.5]".to_string()));
}

#[test]
fn padded_arrays() {
    let x = grid().slice(s![..2, ..2]);
    assert_eq!(ints(&x.pad(&[(1, 0), (0, 1)], -1)), [-1, -1, -1, 0, 1, -1, 4, 5, -1]);
    assert_eq!(ints(&x.pad(&[(0, -1)], 0)), [0, 1]);
    assert_eq!(ints(&x.pad_interior(&[(0, 0, 1), (-1, 1, 1)], 7)), [7, 1, 7, 7, 7, 7, 7, 5, 7]);
    // The value may be an array and has a gradient: one for each place where it was put.
    let value = Array::from(0.5f32);
    let gradient = grad(|v: &Array| Array::ones([2, 2], F32).pad(&[(1, 1), (0, 3)], v).sum())(&value);
    assert_eq!(gradient.item::<f32>(), 16.0);
}

#[test]
fn places_of_extremes() {
    let x = Array::from(vec![2.0f32, 5.0, 1.0, 5.0, 0.0, f32::NAN, 3.0, 0.0]).reshape([2, 4]);
    assert_eq!(ints(&x.argmax(1)), [1, 1]);
    assert_eq!(ints(&x.argmin(1)), [2, 1]);
    assert_eq!(ints(&x.argmax(0)), [0, 1, 1, 0]);
    let jitted = jit(|x: &Array| x.argmax(-1));
    assert_eq!(ints(&jitted.call(&x)), [1, 1]);
    let long = Array::arange(100_000, F32);
    assert_eq!(long.argmax(0).item::<i32>(), 99_999);
    assert_eq!((-&long).argmax(0).item::<i32>(), 0);
}

#[test]
fn all_and_any() {
    let x = Array::from(vec![true, false, true, true]).reshape([2, 2]);
    assert_eq!(x.all_axes(&[1]).to_vec::<bool>().unwrap(), [false, true]);
    assert_eq!(x.any_axes(&[0]).to_vec::<bool>().unwrap(), [true, true]);
    assert!(!x.all().item::<bool>() && x.any().item::<bool>());
}

#[test]
fn a_product_with_zeros_has_a_gradient() {
    let gradient = |x: Vec<f64>| grad(|x: &Array| x.prod())(&Array::from(x)).to_vec::<f64>().unwrap();
    assert_eq!(gradient(vec![2.0, 3.0, 5.0]), [15.0, 10.0, 6.0]);
    assert_eq!(gradient(vec![2.0, 0.0, 5.0]), [0.0, 10.0, 0.0]);
    assert_eq!(gradient(vec![0.0, 0.0, 5.0]), [0.0, 0.0, 0.0]);
    let second = hessian(|x: &Array| x.prod())(&Array::from(vec![2.0f64, 0.0, 5.0]));
    assert_eq!(second.to_vec::<f64>().unwrap(), [0.0, 5.0, 0.0, 5.0, 0.0, 2.0, 0.0, 2.0, 0.0]);
}

#[test]
fn counting_is_an_equation_inside_a_trace() {
    let graph = trace(|x: &Array| x + Array::arange(1000, F32), &Array::zeros([1000], F32)).unwrap();
    assert!(graph.to_string().contains("iota[dtype=f32, shape=[1000], axis=0]"), "{graph}");
}
