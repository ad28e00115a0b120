//! One element at a time: a product and a sum, functions, chains of them.

use tracewell::prelude::*;

use super::ULPS;
use crate::beside::{Program, Work, in_numpy, program};
use crate::inputs::{floats, on, scaled};

const MILLION: usize = 1_000_000;

pub(super) const PROGRAMS: &[Program] = &[
    in_numpy("multiply_add_1e4", ULPS, || multiply_add(10_000)).flops(2e4),
    in_numpy("multiply_add_1e6", ULPS, || multiply_add(MILLION)).flops(2e6),
    in_numpy("multiply_add_1e7", ULPS, || multiply_add(10 * MILLION)).flops(2e7),
    // NumPy writes into memory that it was given.
    in_numpy("multiply_add_1e4_donate", ULPS, || in_place(10_000)).flops(2e4),
    in_numpy("multiply_add_1e6_donate", ULPS, || in_place(MILLION)).flops(2e6),
    in_numpy("multiply_add_1e7_donate", ULPS, || in_place(10 * MILLION)).flops(2e7),
    in_numpy("chain_1e6", ULPS, || {
        on([floats([MILLION], 1).abs()], |[x]| (x.exp() * x.sin() + x.log1p()).tanh())
    }),
    in_numpy("exp_1e6", ULPS, || on([wide()], |[x]| x.exp())),
    in_numpy("log_1e6", ULPS, || on([wide().abs() + 0.1], |[x]| x.log())),
    in_numpy("tanh_1e6", ULPS, || on([wide()], |[x]| x.tanh())),
    in_numpy("sin_1e6", ULPS, || on([wide()], |[x]| x.sin())),
    in_numpy("sigmoid_1e6", ULPS, || on([wide()], |[x]| x.logistic())),
    program("erf_1e6", ULPS, || on([wide()], |[x]| x.erf())),
    program("gelu_1e6", ULPS, || on([wide()], |[x]| 0.5 * x * (1.0 + (x * ROOT).erf()))),
    program("black_scholes_1e6", ULPS, || on(options(), black_scholes)),
];

/// The root of one half.
const ROOT: f64 = std::f64::consts::FRAC_1_SQRT_2;

fn triple(n: usize) -> [Array; 3] {
    [floats([n], 1), floats([n], 2), floats([n], 3)]
}

/// Between -4 and 4.
fn wide() -> Array {
    scaled([MILLION], 4, 4.0)
}

fn multiply_add(n: usize) -> Work {
    on(triple(n), |[a, b, c]| a * b + c)
}

jit! {
    #[jit(donate(a))]
    fn overwritten(a: Array, b: &Array, c: &Array) -> Array {
        a * b + c
    }
}

/// The result takes the memory of the argument, and is the next argument.
fn in_place(n: usize) -> Work {
    let [a, b, c] = triple(n);
    let mut a = Some(a);
    Box::new(move || {
        let next = overwritten(a.take().unwrap_or_else(|| b.clone()), &b, &c);
        a = Some(next.clone());
        next
    })
}

/// Prices, strikes and times.
fn options() -> [Array; 3] {
    [5, 6, 7].map(|seed| floats([MILLION], seed).abs() + 0.5)
}

/// Calls and puts at a rate of 3 % and a volatility of 20 %.
fn black_scholes([price, strike, time]: &[Array; 3]) -> [Array; 2] {
    let below = |x: &Array| 0.5 * (1.0 + (x * ROOT).erf());
    let spread = 0.2 * time.sqrt();
    let d1 = ((price / strike).log() + (0.03 + 0.02) * time) / &spread;
    let d2 = &d1 - spread;
    let paid = strike * (-0.03 * time).exp();
    let call = price * below(&d1) - &paid * below(&d2);
    let put = &call - price + paid;
    [call, put]
}
