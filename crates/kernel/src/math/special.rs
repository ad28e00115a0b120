//! Special functions: the error functions.

use super::float::Math;
use crate::build::KernelBuilder;
use crate::ir::Value;

/// `erf x = x + x p(x²)` below 1, for `f32`: relative error 2^-29.
const ERF_F32: [f64; 7] = [
    0.12837916612625122,
    -0.3761262595653534,
    0.11283578723669052,
    -0.026853347197175026,
    0.005187163595110178,
    -0.0007997893844731152,
    7.807194924680516e-05,
];

/// `erf x = x + x p(x²)` below 1, for `f64`: relative error 2^-56.
const ERF_F64: [f64; 13] = [
    0.1283791670955126,
    -0.376126389031841,
    0.11283791670971091,
    -0.02686617064802952,
    0.005223977652758273,
    -0.0008548328547755963,
    0.00012055386991727093,
    -1.492690987271162e-05,
    1.648166172006833e-06,
    -1.656502152916825e-07,
    1.6075853334965863e-08,
    -1.674133780661016e-09,
    1.4865837562009587e-10,
];

/// `erf x = 1 - e^-p(x)` from 1 up to where it rounds to 1, for `f32`: error 2^-30.
const ERF_TAIL_F32: [f64; 7] = [
    0.00035427819238975644,
    1.127037763595581,
    0.6382294297218323,
    0.10303415358066559,
    -0.02180381305515766,
    0.002939242636784911,
    -0.00018553830159362406,
];

/// `erf x = 1 - e^-p(x)` from 1 up to where it rounds to 1, for `f64`: error 2^-60.
const ERF_TAIL_F64: [f64; 20] = [
    2.9406026413419772e-08,
    1.1283788964640453,
    0.6366208407346553,
    0.10277045370906783,
    -0.01912719657584101,
    -0.0002037624108728373,
    0.0016768725461415795,
    -0.0005543060510542213,
    -2.0437699037550905e-05,
    0.0001097708519533372,
    -6.423680505582027e-05,
    2.4062323155531995e-05,
    -6.711697697341554e-06,
    1.4506064053250626e-06,
    -2.442038968281524e-07,
    3.157531970459545e-08,
    -3.0363444085662337e-09,
    2.0474729422511267e-10,
    -8.641092709089971e-12,
    1.7171595828662632e-13,
];

/// The error function, at most 1 ulp: an odd polynomial below 1, above it `1 - e^-p(|x|)`, which needs fewer digits
/// of `p` the larger `|x|` is.
pub fn erf(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let square = m.mul(x, x);
    let p = m.poly_of(square, &ERF_F32, &ERF_F64);
    let small = m.fma(x, p, x);
    let magnitude = m.abs(x);
    // Beyond this the result rounds to 1; before it, keep the other polynomial out of its cancellation.
    let limit = m.pick(3.95, 5.95);
    let clamped = m.at_most(magnitude, limit);
    let p = m.poly_of(clamped, &ERF_TAIL_F32, &ERF_TAIL_F64);
    let p = m.neg(p);
    let reduced = m.exp_reduce(p);
    let power = m.exp2_int(reduced.k.0);
    let e = m.add(reduced.r.hi, reduced.tail);
    let e = m.fma(power, e, power);
    let one = m.c(1.0);
    let large = m.sub(one, e);
    let sign = m.sign(x);
    let large = m.flip(large, sign);
    let is_small = m.below(magnitude, 1.0);
    m.select(is_small, small, large)
}
