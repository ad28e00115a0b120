//! Convolutions, pooling and reductions over windows: shapes, dtypes, and that all ways to say the same agree.

use tracewell::prelude::*;

/// Small whole numbers: every sum is exact, whatever its order.
fn numbers(shape: impl Into<Shape>, dtype: DType) -> Array {
    let shape = shape.into();
    let elements: Vec<i32> = (0..shape.len()).map(|i| (i as i32 * 7919) % 11 - 4).collect();
    Array::from(elements).convert(dtype).reshape(shape)
}

fn same(a: &Array, b: &Array) {
    assert_eq!(a.shape(), b.shape());
    let numbers = |x: &Array| x.convert(F64).ravel().to_vec::<f64>().unwrap();
    assert_eq!(numbers(a), numbers(b));
}

/// `conv` by slices and sums, for channels last and one group.
fn by_hand(x: &Array, w: &Array) -> Array {
    let (h, v) = (w.shape().size(0), w.shape().size(1));
    let (rows, columns) = (x.shape().size(1) + 1 - h, x.shape().size(2) + 1 - v);
    let mut sum = None;
    for i in 0..h {
        for j in 0..v {
            let part = x.slice(s![.., i..i + rows, j..j + columns]).dot(&w.slice(s![i, j]));
            sum = Some(sum.map_or_else(|| part.clone(), |sum: Array| sum + &part));
        }
    }
    sum.unwrap()
}

#[test]
fn every_size_is_what_slices_say() {
    let sizes =
        [([2, 6, 5, 3], [3, 2, 3, 4]), ([1, 20, 20, 1], [3, 3, 1, 5]), ([3, 40, 31, 7], [5, 4, 7, 9])];
    for (x, w) in sizes {
        for dtype in [F32, F64, I32, I64, U32, U8] {
            let (x, w) = (numbers(x, dtype), numbers(w, dtype));
            same(&conv(&x, &w, &Conv::new()), &by_hand(&x, &w));
        }
        let (x, w) = (numbers(x, F32), numbers(w, F32));
        let square = |f: fn(&Array, &Array) -> Array| {
            grad(move |(x, w): &(Array, Array)| f(x, w).square().sum())(&(x.clone(), w.clone()))
        };
        let (found, expected) = (square(|x, w| conv(x, w, &Conv::new())), square(by_hand));
        let near = |a: &Array, b: &Array| {
            assert!((a - b).abs().max().item::<f32>() <= 1e-5 * b.abs().max().item::<f32>());
        };
        near(&found.0, &expected.0);
        near(&found.1, &expected.1);
    }
}

#[test]
fn layouts_agree() {
    let (x, w) = (numbers([2, 6, 5, 4], F32), numbers([3, 2, 2, 6], F32));
    let how = Conv::new().strides([2, 1]).padding([(1, 0), (0, 2)]).groups(2);
    let last = conv(&x, &w, &how);
    let first =
        conv(&x.permute(&[0, 3, 1, 2]), &w.permute(&[3, 2, 0, 1]), &how.layout(Layout::ChannelsFirst));
    same(&first.permute(&[0, 2, 3, 1]), &last);
    let window = Window::new([2, 3]).padding(Padding::Same);
    for pool in [max_pool, min_pool, avg_pool] {
        let first = pool(&x.permute(&[0, 3, 1, 2]), &window.clone().layout(Layout::ChannelsFirst));
        same(&first.permute(&[0, 2, 3, 1]), &pool(&x, &window));
    }
}

#[test]
fn groups_are_convolutions_beside_each_other() {
    let (x, w) = (numbers([2, 5, 6, 6], F32), numbers([2, 3, 2, 9], F32));
    let parts: Vec<Array> = (0..3)
        .map(|g| {
            conv(
                &x.slice(s![.., .., .., 2 * g..2 * g + 2]),
                &w.slice(s![.., .., .., 3 * g..3 * g + 3]),
                &Conv::new(),
            )
        })
        .collect();
    same(&conv(&x, &w, &Conv::new().groups(3)), &concatenate(&parts, -1));
    // A kernel for each channel.
    let w = numbers([3, 3, 1, 6], F32);
    let parts: Vec<Array> = (0..6)
        .map(|g| conv(&x.slice(s![.., .., .., g..g + 1]), &w.slice(s![.., .., .., g..g + 1]), &Conv::new()))
        .collect();
    same(&conv(&x, &w, &Conv::new().groups(6)), &concatenate(&parts, -1));
}

#[test]
fn dilations_are_zeros_between() {
    let (x, w) = (numbers([1, 5, 4, 2], F32), numbers([2, 3, 2, 3], F32));
    let spread = |x: &Array, a: usize, b: usize, first: usize| {
        let mut pads = vec![(0, 0, 0); first];
        pads.extend([(0, 0, a - 1), (0, 0, b - 1)]);
        x.pad_interior(&pads, 0)
    };
    let how = Conv::new().padding([(3, 2), (1, 4)]).strides([1, 2]);
    same(&conv(&x, &w, &how.clone().dilation([2, 3])), &conv(&x, &spread(&w, 2, 3, 0), &how));
    same(&conv(&x, &w, &how.clone().input_dilation([3, 2])), &conv(&spread(&x, 3, 2, 1), &w, &how));
}

#[test]
fn a_transposed_convolution_is_the_adjoint() {
    let (y, w) = (numbers([1, 4, 5, 3], F64), numbers([3, 2, 2, 3], F64));
    let how = Conv::new().strides([2, 1]);
    let (_, back) = vjp(|x: &Array| conv(x, &w, &how), &Array::zeros([1, 9, 6, 2], F64));
    let kernel = w.flip(&[0, 1]).permute(&[0, 1, 3, 2]);
    same(&back(&y), &conv_transpose(&y, &kernel, &how));
}

#[test]
fn windows_are_slices_combined() {
    let x = numbers([7, 6], I32);
    let parts = |step: isize| -> Vec<Array> {
        (0..6).map(|k| x.slice(s![k / 2..k / 2 + 5;step, k % 2..k % 2 + 5])).collect()
    };
    let fold = |step: isize, f: fn(&Array, &Array) -> Array| {
        let parts = parts(step);
        parts[1..].iter().fold(parts[0].clone(), |a, b| f(&a, b))
    };
    let window = Window::new([3, 2]);
    same(&x.window_max(&window), &fold(1, |a, b| a.maximum(b)));
    same(&x.window_min(&window), &fold(1, |a, b| a.minimum(b)));
    same(&x.window_sum(&window), &fold(1, |a, b| a + b));
    same(&x.window_prod(&window.clone().strides([2, 1])), &fold(2, |a, b| a * b));
    same(&reduce_window(&x, 0, &window, |a, b| a ^ b), &fold(1, |a, b| a ^ b));
    // So large that it is combined by halves.
    let x = numbers([100], I64);
    let long = Window::new(37).strides(3).dilation(2).padding([(5, 9)]);
    same(&x.window_sum(&long), &reduce_window(&x, 0, &long, |a, b| a + b));
    same(&x.window_max(&long), &reduce_window(&x, i64::MIN, &long, |a, b| a.maximum(b)));
}

#[test]
fn nan_is_the_extreme_of_its_window() {
    let x = Array::from([1.0f32, f32::NAN, 3.0, 0.0, 2.0]);
    for y in [x.window_max(&Window::new(2)), x.window_min(&Window::new(2))] {
        let y: Vec<f32> = y.to_vec().unwrap();
        assert_eq!(y.map_nan(), [true, true, false, false]);
    }
    let slope = grad(|x: &Array| x.window_max(&Window::new(3)).sum())(&x);
    assert_eq!(slope.to_string(), "[0. 2. 1. 0. 0.]");
}

trait MapNan {
    fn map_nan(&self) -> Vec<bool>;
}

impl MapNan for Vec<f32> {
    fn map_nan(&self) -> Vec<bool> {
        self.iter().map(|x| x.is_nan()).collect()
    }
}

#[test]
fn padding_is_no_part_of_a_mean() {
    let x = Array::ones([1, 4, 4, 1], F32);
    let y = avg_pool(&x, &Window::new(3).strides(1).padding(Padding::Same));
    same(&y, &Array::ones([1, 4, 4, 1], F32));
}

#[test]
fn empty_arrays() {
    let w = numbers([3, 2, 4], F32);
    assert_eq!(*conv(&Array::zeros([0, 5, 2], F32), &w, &Conv::new()).shape(), Shape::from([0, 3, 4]));
    let none = Array::zeros([1, 0, 2], F32);
    assert_eq!(*conv(&none, &w, &Conv::new()).shape(), Shape::from([1, 0, 4]));
    let slope = grad(|w: &Array| conv(&none, w, &Conv::new()).sum())(&w);
    same(&slope, &Array::zeros([3, 2, 4], F32));
    assert_eq!(*max_pool(&none, &Window::new(2)).shape(), Shape::from([1, 0, 2]));
}

/// A convolution large enough for all threads, and its derivatives, to the bit.
#[test]
fn runs_agree_to_the_bit() {
    let x = (Array::arange(8 * 30 * 30 * 8, F32) * 0.37).sin().reshape([8, 30, 30, 8]);
    let w = (Array::arange(9 * 8 * 16, F32) * 0.73).sin().reshape([3, 3, 8, 16]);
    let f = jit(|(x, w): &(Array, Array)| {
        grad(|(x, w): &(Array, Array)| conv(x, w, &Conv::new().padding(Padding::Same)).square().sum())(&(
            x.clone(),
            w.clone(),
        ))
    });
    let bits = |(x, w): (Array, Array)| {
        [x, w].map(|a| a.ravel().to_vec::<f32>().unwrap().iter().map(|v| v.to_bits()).collect::<Vec<_>>())
    };
    let first = bits(f.call(&(x.clone(), w.clone())));
    for _ in 0..4 {
        assert!(bits(f.call(&(x.clone(), w.clone()))) == first);
    }
}
