//! The stated error of every function: `f32` over all magnitudes against `f64`, `f64` against stored values.
//!
//! `f64.txt` holds one point a line: the function, the bits of its arguments, `=`, the bits of the exact
//! result rounded to `f64` and, in thousandths of its last place, what the exact result is above that.
//! Arguments are special values, random ones, and the worst of some hundred thousand; the results come from
//! arithmetic of 160 bits.
//!
//! `f32.txt` holds large `f32` arguments of sine, cosine and tangent in the same form, without the last number:
//! those nearest to multiples of π/2 of all, those with the largest errors, and the borders of the reduction,
//! from arithmetic of 400 bits.

use std::fmt::Write as _;

use tracewell_array::{DType, Element, Literal};

use crate::build::KernelBuilder;
use crate::ir::{Index, Kernel, Stmt, Value};
use crate::scalar;

type Unary = fn(&mut KernelBuilder, Value) -> Value;
type Binary = fn(&mut KernelBuilder, Value, Value) -> Value;

/// A function of one argument.
struct Function {
    name: &'static str,
    build: Unary,
    /// The stated bound in ulp.
    bound: f64,
    /// The function in `f64` by another way; where there is none, the expansion, which the stored values
    /// check.
    reference: Option<fn(f64) -> f64>,
    /// The magnitude whose ulp counts where the result is smaller, at an argument.
    floor: fn(f64) -> f64,
}

impl Function {
    fn own(name: &'static str, build: Unary, bound: f64) -> Function {
        Function { name, build, bound, reference: None, floor: |_| 0.0 }
    }

    fn new(name: &'static str, build: Unary, bound: f64, reference: fn(f64) -> f64) -> Function {
        Function { reference: Some(reference), ..Function::own(name, build, bound) }
    }
}

fn functions() -> Vec<Function> {
    let (f, own) = (Function::new, Function::own);
    vec![
        f("exp", super::exp, 1.0, f64::exp),
        f("exp2", super::exp2, 1.0, f64::exp2),
        f("expm1", super::expm1, 1.5, f64::exp_m1),
        own("logistic", super::logistic, 2.0),
        f("log", super::log, 1.0, f64::ln),
        f("log2", super::log2, 1.0, f64::log2),
        f("log10", super::log10, 1.0, f64::log10),
        f("log1p", super::log1p, 1.0, f64::ln_1p),
        f("sin", super::sin, 2.0, f64::sin),
        f("cos", super::cos, 2.0, f64::cos),
        f("tan", super::tan, 1.5, f64::tan),
        f("asin", super::asin, 1.5, f64::asin),
        f("acos", super::acos, 1.5, f64::acos),
        f("atan", super::atan, 2.0, f64::atan),
        f("sinh", super::sinh, 1.0, f64::sinh),
        f("cosh", super::cosh, 1.0, f64::cosh),
        f("tanh", super::tanh, 1.0, f64::tanh),
        // Those of the standard library lose digits.
        own("asinh", super::asinh, 1.5),
        own("acosh", super::acosh, 1.5),
        own("atanh", super::atanh, 1.0),
        f("cbrt", super::cbrt, 1.0, f64::cbrt),
        f("rsqrt", super::rsqrt, 1.5, |x| 1.0 / x.sqrt()),
        own("erf", super::erf, 1.5),
        own("erfc", super::erfc, 2.0),
        own("erf_inv", super::erf_inv, 4.0),
        Function { floor: |x| if x < 0.0 { 1.0 } else { 0.0 }, ..own("lgamma", super::lgamma, 6.0) },
        Function { floor: |x| (2.0 - x).ln().max(1.0), ..own("digamma", super::digamma, 10.0) },
        own("trigamma", super::trigamma, 8.0),
    ]
}

/// A function of two arguments with its bound and reference.
type Function2 = (&'static str, Binary, f64, fn(f64, f64) -> f64);

fn functions2() -> Vec<Function2> {
    vec![("pow", super::pow, 1.0, f64::powf), ("atan2", super::atan2, 2.0, f64::atan2)]
}

/// An expansion and room to run it: the statements are all operations, after the loads of the arguments.
struct Expansion {
    kernel: Kernel,
    dtype: DType,
    result: Value,
    values: Vec<Literal>,
}

impl Expansion {
    fn new(dtype: DType, build: impl FnOnce(&mut KernelBuilder, Value, Value) -> Value) -> Expansion {
        let mut b = KernelBuilder::new();
        let param = b.param(dtype, false);
        let x = b.load(param, Index::at(0));
        let y = b.load(param, Index::at(1));
        let result = build(&mut b, x, y);
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

    fn unary(dtype: DType, build: Unary) -> Expansion {
        Expansion::new(dtype, |b, x, _| build(b, x))
    }

    /// Runs on the bits of the arguments; an only argument is the first.
    fn run(&mut self, x: u64, y: u64) -> f64 {
        self.values[0] = Literal::from_bits(self.dtype, x);
        self.values[1] = Literal::from_bits(self.dtype, y);
        for stmt in &self.kernel.body.stmts {
            match stmt {
                Stmt::Op { out, op, args } if !args.is_empty() => {
                    let mut operands = [Literal::new(false); 3];
                    for (operand, arg) in operands.iter_mut().zip(args) {
                        *operand = self.values[arg.0 as usize];
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

/// The distance between a number and the next of a type with this precision and smallest exponent.
fn ulp(x: f64, dtype: DType) -> f64 {
    let (digits, smallest, largest) = if dtype == DType::F32 { (23, -126, 127) } else { (52, -1022, 1023) };
    let exponent = ((x.to_bits() >> 52) as i32 & 0x7ff) - 1023;
    let last = exponent.clamp(smallest, largest) - digits;
    // A power of two that may be subnormal.
    if last >= -1022 { 2f64.powi(last) } else { f64::from_bits(1 << (last + 1074)) }
}

/// The error of a result, where the exact one is `exact + rest` ulp: in ulp of the exact one, or of `floor`
/// if that is larger; infinite if one of them is special.
fn error(got: f64, exact: f64, rest: f64, floor: f64, dtype: DType) -> f64 {
    // What the type can hold of the exact result.
    let nearest = if dtype == DType::F32 { f64::from(exact as f32) } else { exact };
    if nearest.is_nan() || got.is_nan() {
        return if nearest.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if got == nearest && (got == 0.0 || got.is_infinite()) {
        let signs = got.is_sign_negative() == nearest.is_sign_negative();
        return if signs { 0.0 } else { f64::INFINITY };
    }
    if got.is_infinite() || nearest.is_infinite() {
        // Off by one at the end of the range is an error of one ulp, anything else is wrong.
        let top = if dtype == DType::F32 { f64::from(f32::MAX) } else { f64::MAX };
        let finite = if got.is_infinite() { nearest } else { got };
        return if finite.abs() == top && (got < 0.0) == (nearest < 0.0) { 1.0 } else { f64::INFINITY };
    }
    let unit = ulp(exact, dtype);
    ((got - exact) / unit - rest).abs() * (unit / ulp(exact.abs().max(floor), dtype))
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
    fn report(&self, name: &str, dtype: DType, bound: f64, report: &mut String) {
        if self.error > bound {
            writeln!(report, "{name} {dtype}: {:.3} ulp, stated {bound}, at {}", self.error, self.at)
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
    for function in functions() {
        let mut expansion = Expansion::unary(DType::F32, function.build);
        let mut wide = Expansion::unary(DType::F64, function.build);
        let mut worst = Worst::default();
        for bits in f32_arguments(100_003) {
            let x = f32::from_bits(bits);
            let got = expansion.run(u64::from(bits), 0);
            let exact = if let Some(reference) = function.reference {
                reference(f64::from(x))
            } else {
                wide.run(f64::from(x).to_bits(), 0)
            };
            let floor = (function.floor)(f64::from(x));
            worst.see(error(got, exact, 0.0, floor, DType::F32), || {
                format!("{bits:#010x} = {x:e}: {got:e}, not {exact:e}")
            });
        }
        worst.report(function.name, DType::F32, function.bound, &mut report);
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn f32_errors_of_two_arguments() {
    let mut report = String::new();
    for (name, build, bound, reference) in functions2() {
        let mut expansion = Expansion::new(DType::F32, build);
        let mut worst = Worst::default();
        let mut see = |x: f32, y: f32| {
            let got = expansion.run(Element::to_bits(x), Element::to_bits(y));
            let exact = reference(f64::from(x), f64::from(y));
            worst.see(error(got, exact, 0.0, 0.0, DType::F32), || {
                format!(
                    "{:#010x} = {x:e}, {:#010x} = {y:e}: {got:e}, not {exact:e}",
                    x.to_bits(),
                    y.to_bits()
                )
            });
        };
        let values: Vec<f32> =
            SPECIAL.into_iter().chain([f32::NAN, 5.0, 16_777_216.0]).flat_map(|x| [x, -x]).collect();
        for &x in &values {
            for &y in &values {
                see(x, y);
            }
        }
        // A linear congruence walks all bit patterns; the second point of each pair is of moderate size,
        // where powers are finite.
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state
        };
        for _ in 0..20_000 {
            let (a, b) = (next(), next());
            see(f32::from_bits(a), f32::from_bits(b));
            let unit = |bits: u32| (bits >> 8) as f32 / 16_777_216.0;
            see(10.0 * unit(a), 40.0 * (unit(b) - 0.5));
        }
        worst.report(name, DType::F32, bound, &mut report);
    }
    assert!(report.is_empty(), "\n{report}");
}

/// What `f64_errors` knows about one function.
struct Row {
    name: &'static str,
    expansion: Expansion,
    bound: f64,
    floor: fn(f64) -> f64,
    worst: Worst,
    points: usize,
}

#[test]
fn f64_errors() {
    let row = |name, expansion, bound, floor| Row {
        name,
        expansion,
        bound,
        floor,
        worst: Worst::default(),
        points: 0,
    };
    let mut rows: Vec<Row> = functions()
        .into_iter()
        .map(|f| row(f.name, Expansion::unary(DType::F64, f.build), f.bound, f.floor))
        .collect();
    for (name, build, bound, _) in functions2() {
        let expansion = Expansion::new(DType::F64, build);
        rows.push(row(name, expansion, bound, |_| 0.0));
    }
    for line in include_str!("f64.txt").lines() {
        let (arguments, result) = line.split_once(" = ").expect("a result");
        let mut words = arguments.split(' ');
        let name = words.next().expect("a function");
        let bits = |word: &str| u64::from_str_radix(word, 16).expect("bits");
        let x = words.next().map(bits).expect("an argument");
        let y = words.next().map_or(0, bits);
        let (exact, rest) = result.split_once(' ').expect("a remainder");
        let exact = f64::from_bits(bits(exact));
        let rest = rest.parse::<f64>().expect("thousandths") / 1000.0;
        let row = rows.iter_mut().find(|row| row.name == name).expect("a known function");
        let got = row.expansion.run(x, y);
        row.points += 1;
        let error = error(got, exact, rest, (row.floor)(f64::from_bits(x)), DType::F64);
        row.worst.see(error, || format!("{line}: {got:e}, not {exact:e}"));
    }
    let mut report = String::new();
    for Row { name, bound, worst, points, .. } in &rows {
        assert!(*points >= 40, "{name} has {points} stored points");
        worst.report(name, DType::F64, *bound, &mut report);
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
        for f in functions() {
            check(f.name, dtype, &Expansion::unary(dtype, f.build));
        }
        for (name, build, ..) in functions2() {
            check(name, dtype, &Expansion::new(dtype, build));
        }
    }
}

/// The functions with a reduction.
fn circular() -> Vec<Function> {
    functions().into_iter().filter(|f| ["sin", "cos", "tan"].contains(&f.name)).collect()
}

/// From where the short reduction ends, of either sign, every exponent.
#[test]
fn f32_large_arguments() {
    let mut report = String::new();
    for function in circular() {
        let mut expansion = Expansion::unary(DType::F32, function.build);
        let reference = function.reference.expect("a reference");
        let mut worst = Worst::default();
        for bits in (2_097_152f32.to_bits()..f32::INFINITY.to_bits()).step_by(15_013) {
            for bits in [bits, bits | 1 << 31] {
                let x = f32::from_bits(bits);
                let got = expansion.run(u64::from(bits), 0);
                let exact = reference(f64::from(x));
                worst.see(error(got, exact, 0.0, 0.0, DType::F32), || {
                    format!("{bits:#010x} = {x:e}: {got:e}, not {exact:e}")
                });
            }
        }
        worst.report(function.name, DType::F32, function.bound, &mut report);
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn f32_hard_arguments() {
    let mut report = String::new();
    for function in circular() {
        let mut expansion = Expansion::unary(DType::F32, function.build);
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
                worst.see(error(got, exact, 0.0, 0.0, DType::F32), || format!("{line}: {got:e}"));
            }
            points += 1;
        }
        assert!(points >= 20, "{} has {points} stored points", function.name);
        worst.report(function.name, DType::F32, function.bound, &mut report);
    }
    assert!(report.is_empty(), "\n{report}");
}

/// Only `f64` has an end before infinity, and says so.
#[test]
fn trigonometric_limits() {
    for Function { name, build, .. } in circular() {
        let mut wide = Expansion::unary(DType::F64, build);
        for x in [super::LIMIT_F64, 1e300, f64::INFINITY, f64::NAN] {
            assert!(wide.run(x.to_bits(), 0).is_nan(), "{name} of {x:e}");
            assert!(wide.run((-x).to_bits(), 0).is_nan(), "{name} of {:e}", -x);
        }
        assert!(!wide.run(super::LIMIT_F64.next_down().to_bits(), 0).is_nan());
        let mut narrow = Expansion::unary(DType::F32, build);
        let mut run = |x: f32| narrow.run(Element::to_bits(x), 0);
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
