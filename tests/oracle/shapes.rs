//! Parts, products and reductions of arrays.

use std::f64::consts::PI;

use tracewell::prelude::*;

use super::{Composition, at, of, wave};

pub(super) const ALL: &[Composition] = &[
    of("convolution", || at([8], 0.5), convolution),
    of("convolution_of_planes", || at([5, 6], 0.5), convolution_of_planes),
    of("heat", || at([7], 0.5), heat),
    of("advection", || at([6], 0.5), advection),
    of("joined_padded_reversed", || at([2, 3], 0.5), joined_padded_reversed),
    of("products_with_zeros", with_zeros, |x| x.prod_axes(&[0])),
    of("product_of_all", || 1.0 + 0.5 * at([5], 0.5), Array::prod),
    of("max_pooling", || at([4, 6], 0.5), |x| x.reshape([2, 2, 3, 2]).max_axes(&[1, 3])),
    of("mean_pooling", || at([4, 6], 0.5), |x| x.reshape([2, 2, 3, 2]).mean_axes(&[1, 3]).powi(3)),
    of("upsampled", || at([5], 0.5), upsampled),
    of("batched_product", || at([2, 3, 4], 0.5), batched_product),
    of("product_chain", || at([2, 3], 0.5), |x| x.dot(&wave([3, 3], 0.1, x)).dot(&x.t())),
    of("outer_product", || at([3], 0.5), |x| x.expand(1) * x.exp()),
    of("contraction", || at([2, 3, 4], 0.5), |x| x.dot(&wave([4, 2], 0.1, x)).square()),
    of("permuted", || at([2, 3, 4], 0.5), permuted),
    of("running_sum", || at([5], 0.5), running_sum),
    of("broadcast_table", || at([3], 0.5), |x| x.expand(1) * x.cos() + wave([4, 1, 3], 0.1, x)),
    of("stacked", || at([4], 0.5), |x| stack(&[x, &x.square(), &x.sin()], 1)),
    of("largest_by_index", || at([3, 4], 0.5), largest_by_index),
    of("distances", || at([4, 2], 0.5), distances),
    of("power_spectrum", || at([6], 0.5), power_spectrum),
    of("total_variation", || at([4, 4], 0.5), total_variation),
    of("moments", || at([2, 3, 4], 0.5), moments),
    of("ranges", || at([3, 4], 0.5), |x| x.max_axes(&[1]) - x.min_axes(&[1]) * x.max()),
];

fn convolution(x: &Array) -> Array {
    let kernel = wave([3], 0.3, x);
    let term = |i: usize| kernel.slice(s![i]) * x.slice(s![i..i + 6]);
    term(0) + term(1) + term(2)
}

fn convolution_of_planes(x: &Array) -> Array {
    let kernel = wave([3, 3], 0.3, x);
    let places = (0..9usize).map(|i| (i / 3, i % 3));
    let terms = places.map(|(i, j)| kernel.slice(s![i, j]) * x.slice(s![i..i + 3, j..j + 4]));
    terms.reduce(|sum, term| sum + term).unwrap().square()
}

/// Three steps of the heat equation with ends held constant.
fn heat(u: &Array) -> Array {
    (0..3).fold(u.clone(), |u, _| {
        let bend = u.slice(s![2..]) - 2.0 * u.slice(s![1..-1]) + u.slice(s![..-2]);
        u + 0.1 * bend.pad(&[(1, 1)], 0.0)
    })
}

/// Three steps of Burgers' equation on a circle.
fn advection(u: &Array) -> Array {
    (0..3).fold(u.clone(), |u, _| {
        let left = concatenate(&[u.slice(s![-1..]), u.slice(s![..-1])], 0);
        &u - 0.2 * &u * (&u - left)
    })
}

fn joined_padded_reversed(x: &Array) -> Array {
    let y = concatenate(&[x, &x.flip(&[0]).square(), &x.sin()], 0);
    let y = y.pad(&[(1, 0), (2, 1)], 1.5);
    y.slice(s![.., ..;-1]) * y
}

fn with_zeros() -> Array {
    Array::from([[2.0, 0.0, 3.0], [0.5, -1.0, 0.0], [4.0, 2.0, 0.0]])
}

fn upsampled(x: &Array) -> Array {
    let y = x.pad_interior(&[(1, -1, 2)], 0.25);
    y.slice(s![..-1;2]) * y.slice(s![1..;2])
}

fn batched_product(x: &Array) -> Array {
    vmap(|(a, b): &(Array, Array)| a.dot(b))(&(x.sin(), wave([2, 4, 2], 0.1, x)))
}

fn permuted(x: &Array) -> Array {
    x.permute(&[2, 0, 1]).reshape([4, 6]).t() * wave([6, 4], 0.1, x)
}

fn running_sum(x: &Array) -> Array {
    let before = Array::iota([5, 5], 0, I32).le(Array::iota([5, 5], 1, I32));
    x.dot(&before.convert(x.dtype())).exp()
}

fn largest_by_index(x: &Array) -> Array {
    let chosen = x.argmax(1).expand(1).eq(Array::iota([3, 4], 1, I32));
    (chosen.convert(x.dtype()) * x.exp()).sum_axes(&[1])
}

fn distances(x: &Array) -> Array {
    let square = (x.expand(1) - x.expand(0)).square().sum_axes(&[-1]);
    (square + Array::eye(4, x.dtype())).sqrt()
}

/// By the matrix of the Fourier transform.
fn power_spectrum(x: &Array) -> Array {
    let index = |axis: isize| Array::iota([6, 6], axis, x.dtype());
    let angles = index(0) * index(1) * (PI / 3.0);
    x.dot(&angles.cos()).square() + x.dot(&angles.sin()).square()
}

fn total_variation(x: &Array) -> Array {
    let here = x.slice(s![..-1, ..-1]);
    let (down, right) = (x.slice(s![1.., ..-1]) - &here, x.slice(s![..-1, 1..]) - &here);
    (down.square() + right.square() + 1e-3).sqrt().sum()
}

fn moments(x: &Array) -> Array {
    let mean = x.mean_axes(&[0, 2]);
    let variance = (x - mean.reshape([1, 3, 1])).square().mean_axes(&[0, 2]);
    mean * variance + x.powi(3).sum_axes(&[1]).max()
}
