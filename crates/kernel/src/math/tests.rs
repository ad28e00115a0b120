//! The stated error of every function in `f32` against its own expansion in `f64`, and the form of expansions.
//!
//! This is coarse and quick. The tests of tests/math measure machine code by other means, and `f64`.
//!
//! `f32.txt` holds large `f32` arguments of sine, cosine and tangent: the function, the bits of the argument, `=`,
//! the bits of the exact result rounded to `f64`. They are those nearest to multiples of π/2 of all, those with the
//! largest errors, and the borders of the reduction; the results come from arithmetic of 400 bits.

use std::fmt::Write as _;

use tracewell_array::{DType, Literal};

use super::{FUNCTIONS, Function};
use crate::build::KernelBuilder;
use crate::ir::{Index, Kernel, Stmt, Value};
use crate::op::Op;
use crate::scalar;

/// The functions with a reduction, and the same of the standard library.
fn circular() -> impl Iterator<Item = (&'static Function, fn(f64) -> f64)> {
    let library = |name: &str| -> Option<fn(f64) -> f64> {
        match name {
            "sin" => Some(f64::sin),
            "cos" => Some(f64::cos),
            "tan" => Some(f64::tan),
            _ => None,
        }
    };
    FUNCTIONS.iter().filter_map(move |function| Some((function, library(function.name)?)))
}

/// An expansion and room to run it: the statements are all operations, after the loads of the arguments.
struct Expansion {
    kernel: Kernel,
    dtype: DType,
    result: Value,
    values: Vec<Literal>,
}

impl Expansion {
    fn new(function: &Function, dtype: DType) -> Expansion {
        let mut b = KernelBuilder::new();
        let param = b.param(dtype, false);
        let x = b.load(param, Index::at(0));
        let y = b.load(param, Index::at(1));
        let result = function.build(&mut b, &[x, y][..function.arity()]);
        assert_eq!(b.dtype(result), dtype);
        let kernel = b.finish("expansion");
        let mut values: Vec<Literal> = kernel.values.iter().map(|&t| Literal::zero(t)).collect();
        for stmt in &kernel.body.stmts {
            if let Stmt::Op { out, op, args } = stmt
                && args.is_empty()
            {
                values[out.0 as usize] = scalar::eval(*op, &[], &[]);
            }
        }
        Expansion { kernel, dtype, result, values }
    }

    /// Runs on the bits of the arguments; an only argument is the first.
    fn run(&mut self, x: u64, y: u64) -> f64 {
        self.values[0] = Literal::from_bits(self.dtype, x.into());
        self.values[1] = Literal::from_bits(self.dtype, y.into());
        for stmt in &self.kernel.body.stmts {
            match stmt {
                Stmt::Op { out, op, args } if !args.is_empty() => {
                    let mut operands = [Literal::new(false); 3];
                    for (operand, arg) in operands.iter_mut().zip(args) {
                        *operand = self.values[arg.0 as usize];
                    }
                    if *op == Op::Scaled && self.dtype == DType::F32 {
                        keeps_promise(operands.map(|operand| operand.as_f64()));
                    }
                    self.values[out.0 as usize] = scalar::eval(*op, &operands[..args.len()], &[]);
                }
                Stmt::Op { .. } | Stmt::Load { .. } => {}
                other => panic!("not a straight line of operations: {other:?}"),
            }
        }
        self.values[self.result.0 as usize].as_f64()
    }
}

/// A `y` that is said to be `x * 2^k` with one rounding is that, and `k` is whole.
fn keeps_promise([y, x, k]: [f64; 3]) {
    // In `f64` the product is exact.
    let exact = (x * k.exp2()) as f32;
    let is_kept = if x.is_nan() || k.is_nan() { y.is_nan() } else { f64::from(exact) == y && k == k.trunc() };
    assert!(is_kept, "{y} is not {x} times two to the power of {k}");
}

/// The error of an `f32` in units of the exact result, or of `floor` if that is larger; infinite if one of them is
/// special and the other is not.
fn error(got: f64, exact: f64, floor: f64) -> f64 {
    // What the type can hold of the exact result.
    let nearest = f64::from(exact as f32);
    if nearest.is_nan() || got.is_nan() {
        return if nearest.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if got == nearest && (got == 0.0 || got.is_infinite()) {
        let signs = got.is_sign_negative() == nearest.is_sign_negative();
        return if signs { 0.0 } else { f64::INFINITY };
    }
    if got.is_infinite() || nearest.is_infinite() {
        // Off by one at the end of the range is an error of one ulp, anything else is wrong.
        let finite = if got.is_infinite() { nearest } else { got };
        let end = finite.abs() == f64::from(f32::MAX) && (got < 0.0) == (nearest < 0.0);
        return if end { 1.0 } else { f64::INFINITY };
    }
    let exponent = ((exact.abs().max(floor).to_bits() >> 52) as i32) - 1023;
    (got - exact).abs() / 2f64.powi(exponent.clamp(-126, 127) - 23)
}

/// The largest error met, and where.
#[derive(Default)]
struct Worst {
    error: f64,
    at: String,
}

impl Worst {
    fn see(&mut self, error: f64, at: impl FnOnce() -> String) {
        if error > self.error {
            *self = Worst { error, at: at() };
        }
    }

    /// A line of the report if the bound does not hold.
    fn report(&self, function: &Function, report: &mut String) {
        let (name, bound) = (function.name, function.ulp[0]);
        if self.error > bound {
            writeln!(report, "{name}: {:.3} ulp, stated {bound}, at {}", self.error, self.at)
                .expect("writing to a string");
        }
    }
}

const SPECIAL: [f32; 18] = [
    0.0,
    1.0,
    2.0,
    0.5,
    0.75,
    3.0,
    10.0,
    88.72284,
    89.0,
    89.41599,
    103.97208,
    127.99999,
    149.5,
    1e10,
    f32::EPSILON,
    f32::MIN_POSITIVE,
    f32::MAX,
    f32::INFINITY,
];

fn f32_arguments(stride: usize) -> impl Iterator<Item = u32> {
    let special = SPECIAL.into_iter().flat_map(|x| [x.to_bits(), (-x).to_bits()]);
    let odd = [1, 0x8000_0001, 0x007f_ffff, f32::NAN.to_bits()];
    special.chain(odd).chain((0..=u32::MAX).step_by(stride))
}

#[test]
fn f32_errors() {
    let mut report = String::new();
    for function in FUNCTIONS.iter().filter(|function| function.arity() == 1) {
        let library = circular().find(|(other, _)| other.name == function.name);
        let mut expansion = Expansion::new(function, DType::F32);
        let mut wide = Expansion::new(function, DType::F64);
        let mut worst = Worst::default();
        for bits in f32_arguments(100_003) {
            let x = f32::from_bits(bits);
            let got = expansion.run(u64::from(bits), 0);
            let exact = match library {
                Some((_, reference)) => reference(f64::from(x)),
                None => wide.run(f64::from(x).to_bits(), 0),
            };
            let floor = function.floor.map_or(0.0, |floor| floor(f64::from(x)));
            worst.see(error(got, exact, floor), || format!("{bits:#010x} = {x:e}: {got:e}, not {exact:e}"));
        }
        worst.report(function, &mut report);
    }
    assert!(report.is_empty(), "\n{report}");
}

/// No operation that code generation could not put on vectors, and none whose result is not used.
#[test]
fn expansions_are_vectors() {
    use crate::op::Op;
    let check = |name: &str, dtype: DType, expansion: &Expansion| {
        let kernel = &expansion.kernel;
        let mut used = vec![false; kernel.values.len()];
        used[expansion.result.0 as usize] = true;
        for stmt in kernel.body.stmts.iter().rev() {
            let Stmt::Op { out, op, args } = stmt else { continue };
            // Constants cost nothing.
            let wanted = used[out.0 as usize] || args.is_empty();
            assert!(wanted, "{name} of {dtype} has no use for `{} {args:?}`", op.name());
            for arg in args {
                used[arg.0 as usize] = true;
            }
        }
        for stmt in &kernel.body.stmts {
            let Stmt::Op { op, args, .. } = stmt else { continue };
            let by_constant =
                || {
                    kernel.body.stmts.iter().any(
                        |s| matches!(s, Stmt::Op { out, op: Op::Const(_), .. } if args.last() == Some(out)),
                    )
                };
            let vector = match op {
                Op::Rem | Op::Size(_) | Op::Clamp(_) | Op::PopCount | Op::LeadingZeros | Op::Convert(_) => {
                    false
                }
                Op::Mul | Op::Div => kernel.dtype(args[0]).is_float(),
                // There is no arithmetic shift of 64-bit lanes before AVX-512.
                Op::Shr => dtype == DType::F32 && by_constant(),
                Op::Shl | Op::ShrLogical => by_constant(),
                _ => true,
            };
            assert!(vector, "{name} of {dtype} uses `{}`", op.name());
        }
    };
    for dtype in [DType::F32, DType::F64] {
        for function in FUNCTIONS {
            check(function.name, dtype, &Expansion::new(function, dtype));
        }
    }
}

/// From where the short reduction ends, of either sign, every exponent.
#[test]
fn f32_large_arguments() {
    let mut report = String::new();
    for (function, reference) in circular() {
        let mut expansion = Expansion::new(function, DType::F32);
        let mut worst = Worst::default();
        for bits in (524_288f32.to_bits()..f32::INFINITY.to_bits()).step_by(15_013) {
            for bits in [bits, bits | 1 << 31] {
                let x = f32::from_bits(bits);
                let got = expansion.run(u64::from(bits), 0);
                let exact = reference(f64::from(x));
                worst.see(error(got, exact, 0.0), || format!("{bits:#010x} = {x:e}: {got:e}, not {exact:e}"));
            }
        }
        worst.report(function, &mut report);
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn f32_hard_arguments() {
    let mut report = String::new();
    for (function, _) in circular() {
        let mut expansion = Expansion::new(function, DType::F32);
        let mut worst = Worst::default();
        let mut points = 0;
        for line in include_str!("f32.txt").lines() {
            let (argument, exact) = line.split_once(" = ").expect("a result");
            let (name, x) = argument.split_once(' ').expect("an argument");
            if name != function.name {
                continue;
            }
            let bits = u32::from_str_radix(x, 16).expect("bits of an `f32`");
            let exact = f64::from_bits(u64::from_str_radix(exact, 16).expect("bits of an `f64`"));
            let odd = name != "cos";
            for (bits, exact) in [(bits, exact), (bits | 1 << 31, if odd { -exact } else { exact })] {
                let got = expansion.run(u64::from(bits), 0);
                worst.see(error(got, exact, 0.0), || format!("{line}: {got:e}"));
            }
            points += 1;
        }
        assert!(points >= 20, "{} has {points} stored points", function.name);
        worst.report(function, &mut report);
    }
    assert!(report.is_empty(), "\n{report}");
}

/// Only `f64` has an end before infinity, and says so.
#[test]
fn trigonometric_limits() {
    for (function, _) in circular() {
        let name = function.name;
        let mut wide = Expansion::new(function, DType::F64);
        for x in [super::LIMIT_F64, 1e300, f64::INFINITY, f64::NAN] {
            assert!(wide.run(x.to_bits(), 0).is_nan(), "{name} of {x:e}");
            assert!(wide.run((-x).to_bits(), 0).is_nan(), "{name} of {:e}", -x);
        }
        assert!(!wide.run(super::LIMIT_F64.next_down().to_bits(), 0).is_nan());
        let mut narrow = Expansion::new(function, DType::F32);
        let mut run = |x: f32| narrow.run(x.to_bits().into(), 0);
        for x in [f32::INFINITY, f32::NAN, f32::from_bits(0x7f80_0001)] {
            assert!(run(x).is_nan() && run(-x).is_nan(), "{name} of {x:e}");
        }
        assert!(run(f32::MAX).is_finite() && run(f32::MIN).is_finite());
        for x in [0.0, f32::from_bits(1), f32::MIN_POSITIVE] {
            for x in [x, -x] {
                let exact = if name == "cos" { 1.0 } else { f64::from(x) };
                assert_eq!(run(x).to_bits(), exact.to_bits(), "{name} of {x:e}");
            }
        }
    }
}
