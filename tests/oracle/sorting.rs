//! Sorting, scans along an axis and what is drawn at random, as sorting.py has it.

use std::collections::BTreeSet;

use tracewell::prelude::*;

use super::{Composition, Row, at, check_rows, numbers, of, rows_of, wave};

/// How many rows sorting.txt has, so that none gets lost.
const ROWS: usize = 170;

fn matrix() -> Array {
    at([3, 5], 0.5)
}

fn vector() -> Array {
    at([7], 0.5)
}

fn factors() -> Array {
    1.0 + 0.5 * at([6], 0.5)
}

const SORTING: &[Composition] = &[
    of("sort_last", matrix, |x| x.powi(3).sort(-1)),
    of("sort_first", matrix, |x| x.sin().sort(0).square()),
    of("sort_descending", vector, |x| x.sort_descending(0) * wave([7], 0.3, x)),
    of("sort_ties", || Array::from([2.0, 1.0, 2.0, 1.0, 1.0]), |x| x.sort(0).square()),
    of("argsort", vector, |x| x * x.argsort(0).convert(x.dtype())),
    of(
        "argsort_descending",
        || Array::from([2.0, 1.0, 2.0, 1.0]),
        |x| x * x.argsort_descending(0).convert(x.dtype()),
    ),
    of("top_k", vector, |x| x.top_k(3, -1).0.square()),
    of("top_k_places", matrix, |x| {
        let (values, places) = x.top_k(2, -1);
        values * places.convert(x.dtype())
    }),
    of(
        "sort_by_two",
        || (3.0 * at([8], 0.5)).floor(),
        |x| {
            let second = wave([8], 0.1, x).cos();
            sort_together(&[x, &second, &(x + wave([8], 0.2, x))], 2, 0).remove(2)
        },
    ),
    of("median_odd", vector, |x| x.median(0).square()),
    of("median_even", || at([4, 6], 0.5), |x| x.median(-1)),
    of("quantile", matrix, |x| x.quantile(0.3, 1)),
    of("percentile", vector, |x| x.exp().percentile(90.0, 0)),
    of("searchsorted", vector, |x| x * grid(x).searchsorted(x).convert(x.dtype())),
    of(
        "searchsorted_right",
        || Array::from([0.0, 0.25, 0.3, 1.0, 2.0]),
        |x| x + grid(x).searchsorted_right(x).convert(x.dtype()),
    ),
    of("unique", || Array::from([3.0, 1.0, 3.0, 2.0, 1.0]), |x| x.unique(4)),
    of("spacings", vector, |x| {
        let sorted = x.sort(0);
        (sorted.slice(s![1..]) - sorted.slice(s![..-1])).powi(3)
    }),
    of("cumsum", vector, |x| x.square().cumsum(0)),
    of("cumsum_first", matrix, |x| x.sin().cumsum(0).square()),
    of("cumsum_reverse", matrix, |x| x.square().cumsum_reverse(-1)),
    of("cumprod", factors, |x| x.cumprod(0)),
    of("cumprod_first", matrix, |x| x.cumprod(0)),
    of("cumprod_reverse", factors, |x| x.cumprod_reverse(0)),
    of("cumprod_zeros", || Array::from([2.0, 0.0, 3.0, 0.0, 4.0]), |x| x.cumprod(0)),
    of("cummax", vector, |x| x.cummax(0).square()),
    of("cummax_first", matrix, |x| x.cummax(0).square()),
    of("cummax_ties", || Array::from([1.0, 1.0, 0.5]), |x| x.cummax(0)),
    of("cummin_reverse", matrix, |x| x.cummin_reverse(-1).square()),
    of("cumlogsumexp", || 3.0 * vector(), |x| x.cumlogsumexp(0)),
    of("cumlogsumexp_reverse", || 3.0 * matrix(), |x| x.cumlogsumexp_reverse(0)),
    of("cumlogsumexp_of_large", || Array::from([900.0, 905.0, -800.0, 905.0]), |x| x.cumlogsumexp(0)),
    of("recurrence", vector, |x| x.cos().linear_recurrence(&x.square(), 0)),
];

const RANDOM: &[Composition] = &[
    of("normal", vector, |x| x.square() * random::normal(&key(), x.shape().clone(), x.dtype())),
    of("uniform", vector, |x| x * random::uniform(&key(), x.shape().clone(), x.dtype())),
    of("uniform_in", vector, |x| x * random::uniform_in(&key(), x.shape().clone(), -2.0, 5.0, x.dtype())),
    of("exponential", vector, |x| x * random::exponential(&key(), x.shape().clone(), x.dtype())),
    of("gumbel", vector, |x| x * random::gumbel(&key(), x.shape().clone(), x.dtype())),
    of("laplace", vector, |x| x * random::laplace(&key(), x.shape().clone(), x.dtype())),
    of("truncated_normal", vector, |x| {
        x * random::truncated_normal(&key(), x.shape().clone(), -0.5, 1.5, x.dtype())
    }),
    of("bernoulli", vector, |x| {
        x * random::bernoulli(&key(), &x.abs(), x.shape().clone()).convert(x.dtype())
    }),
    of("categorical", matrix, |x| x.slice(s![.., 0]) + random::categorical(&key(), x, 1).convert(x.dtype())),
    of(
        "choice_weighted",
        || vector().abs(),
        |x| x.sum() + random::choice_weighted(&key(), &(x / x.sum()), [9]).convert(x.dtype()),
    ),
    of("batched_keys", matrix, |x| {
        let dtype = x.dtype();
        let keys = random::split_n(&key(), 3);
        x * vmap(move |key: &random::Key| random::normal(key, [5], dtype))(&keys)
    }),
];

fn key() -> random::Key {
    random::key(7)
}

fn grid(x: &Array) -> Array {
    numbers([-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0], x)
}

#[test]
fn sorting_agrees_with_jax() {
    check_rows("sorting", SORTING, &rows_of(include_str!("sorting.txt")));
}

#[test]
fn random_functions_agree_with_jax() {
    check_rows("random", RANDOM, &rows_of(include_str!("sorting.txt")));
}

#[test]
fn no_row_is_lost() {
    let rows = rows_of(include_str!("sorting.txt"));
    assert_eq!(rows.len(), ROWS, "rows of sorting.txt");
    assert_eq!(rows.iter().map(Row::name).collect::<BTreeSet<_>>().len(), ROWS, "a row occurs twice");
}
