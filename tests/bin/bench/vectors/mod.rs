//! Kernels over vectors beside C with the same polynomials, in the caches and in memory: see peer.c beside this. Products
//! and sums are contracted, as the C compiler does it; `_strict` are not.

use std::hint::black_box;

use tracewell::prelude::*;
use tracewell::{Jit, Lowered};

use crate::beside::{Calls, Peer, Program, Work, program};
use crate::inputs::floats;

/// How far sums may be apart that were added in another order: there are 5e7 numbers around zero.
const ROUNDING: f64 = 1e-3;
const ULPS: f64 = 1e-5;

/// Three vectors fit into a cache of 48 KiB, into one of 2 MiB, and into none.
const L1: usize = 2048;
const L2: usize = 98_304;
const DRAM: usize = 50_331_648;

const ROW: usize = 256;

pub(crate) const PROGRAMS: &[Program] = &[
    in_c("axpy_l1", ULPS, || axpy(L1)),
    in_c("axpy_l2", ULPS, || axpy(L2)),
    in_c("axpy_dram", ULPS, || axpy(DRAM)),
    in_c("axpy_strict_l1", ULPS, || axpy_strict(L1)),
    in_c("axpy_strict_l2", ULPS, || axpy_strict(L2)),
    in_c("axpy_strict_dram", ULPS, || axpy_strict(DRAM)),
    in_c("chain_l1", ULPS, || chain(L1)),
    in_c("chain_l2", ULPS, || chain(L2)),
    in_c("chain_dram", ULPS, || chain(DRAM)),
    in_c("chain_strict_l1", ULPS, || chain_strict(L1)),
    in_c("chain_strict_l2", ULPS, || chain_strict(L2)),
    in_c("chain_strict_dram", ULPS, || chain_strict(DRAM)),
    in_c("exp_l1", ULPS, || exp(L1)),
    in_c("exp_l2", ULPS, || exp(L2)),
    in_c("exp_dram", ULPS, || exp(DRAM)),
    in_c("tanh_l1", ULPS, || tanh(L1)),
    in_c("tanh_l2", ULPS, || tanh(L2)),
    in_c("tanh_dram", ULPS, || tanh(DRAM)),
    in_c("sum_l1", ROUNDING, || sum(L1)),
    in_c("sum_l2", ROUNDING, || sum(L2)),
    in_c("sum_dram", ROUNDING, || sum(DRAM)),
    in_c("max_l1", 0.0, || max(L1)),
    in_c("max_l2", 0.0, || max(L2)),
    in_c("max_dram", 0.0, || max(DRAM)),
    in_c("dot_l1", ROUNDING, || dot(L1)),
    in_c("dot_l2", ROUNDING, || dot(L2)),
    in_c("dot_dram", ROUNDING, || dot(DRAM)),
    in_c("rows_l1", ROUNDING, || rows(L1)),
    in_c("rows_l2", ROUNDING, || rows(L2)),
    in_c("rows_dram", ROUNDING, || rows(DRAM)),
];

const fn in_c(name: &'static str, tolerance: f64, make: fn() -> Work) -> Program {
    Program { peers: &[Peer::C], ..program(name, tolerance, make) }
}

/// Machine code alone, as of C there is nothing else: a call around it takes as long as all of the smallest.
struct Bare<const N: usize, F> {
    f: Jit<[Array; N], F>,
    args: [Array; N],
    lowered: Option<Lowered>,
}

fn on<const N: usize>(args: [Array; N], f: impl Fn(&[Array; N]) -> Array + 'static) -> Work {
    Box::new(Bare { f: tracewell::jit(f), args, lowered: None })
}

impl<const N: usize, F: Fn(&[Array; N]) -> Array> Calls for Bare<N, F> {
    fn arrays(&mut self) -> Vec<Array> {
        vec![self.f.call(&self.args)]
    }

    fn calls(&mut self, count: usize) {
        let f = || self.f.lower(&self.args).expect("a function that runs");
        let lowered = self.lowered.get_or_insert_with(f);
        black_box(lowered.repeat(&self.args, count).expect("arguments that it was lowered for"));
    }
}

fn one(n: usize) -> [Array; 1] {
    [floats([n], 1)]
}

fn two(n: usize) -> [Array; 2] {
    [floats([n], 1), floats([n], 2)]
}

fn axpy(n: usize) -> Work {
    on(two(n), contract(|[x, y]: &[Array; 2]| 0.75 * x + y))
}

/// Rounded after the product, as it is written.
fn axpy_strict(n: usize) -> Work {
    on(two(n), |[x, y]: &[Array; 2]| 0.75 * x + y)
}

fn chained([x, y]: &[Array; 2]) -> Array {
    let a = x * y + 0.5;
    let b = &a * x - y;
    (&a * &b + x).maximum(&a - b) * 0.25
}

fn chain(n: usize) -> Work {
    on(two(n), contract(chained))
}

/// The same of `chain`.
fn chain_strict(n: usize) -> Work {
    on(two(n), chained)
}

fn exp(n: usize) -> Work {
    on(one(n), |[x]| x.exp())
}

fn tanh(n: usize) -> Work {
    on(one(n), |[x]| x.tanh())
}

fn sum(n: usize) -> Work {
    on(one(n), |[x]| x.sum())
}

fn max(n: usize) -> Work {
    on(one(n), |[x]| x.max())
}

fn dot(n: usize) -> Work {
    on(two(n), |[x, y]| x.dot(y))
}

fn rows(n: usize) -> Work {
    on([floats([n / ROW, ROW], 1)], |[x]| x.sum_axes(&[1]))
}
