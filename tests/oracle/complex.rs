//! Functions of complex numbers and Fourier transforms beside JAX's: every row of complex.txt, at once and jitted.
//!
//! A function takes one array. It stands here and in complex.py, which stores what JAX makes of it.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tracewell::prelude::*;

use super::at;

/// How many rows complex.txt has, so that none gets lost.
const ROWS: usize = 237;

type Function = (&'static str, fn() -> Array, fn(&Array) -> Array);

/// A complex number of two waves for each element, as complex.py has it.
fn waves(shape: impl Into<Shape>, phase: f64) -> Array {
    let shape = shape.into();
    complex(at(&shape, phase), at(&shape, phase + 1.4))
}

/// Waves of the element type and shape of another array.
fn like(y: &Array, phase: f64) -> Array {
    if y.dtype().is_complex() { waves(y.shape(), phase) } else { at(y.shape(), phase) }
}

fn z() -> Array {
    waves([3, 4], 0.3)
}

fn w() -> Array {
    waves([3, 4], 2.2)
}

const FUNCTIONS: &[Function] = &[
    ("exp", z, Array::exp),
    ("log", z, Array::log),
    ("sqrt", z, Array::sqrt),
    ("rsqrt", z, Array::rsqrt),
    ("sin", z, Array::sin),
    ("cos", z, Array::cos),
    ("tan", z, Array::tan),
    ("sinh", z, Array::sinh),
    ("cosh", z, Array::cosh),
    ("tanh", z, Array::tanh),
    ("tanh_of_large", || 40.0 * z(), Array::tanh),
    ("log2", z, Array::log2),
    ("log10", z, Array::log10),
    ("logistic", z, Array::logistic),
    ("abs", z, Array::abs),
    ("abs_of_zero", || 0.0 * waves([3], 0.3), Array::abs),
    ("abs_of_large", || 1e300 * z(), Array::abs),
    ("angle", z, Array::angle),
    ("re", z, Array::re),
    ("im", z, Array::im),
    ("conj", z, Array::conj),
    ("sign", z, Array::sign),
    ("square", z, Array::square),
    ("cube", z, |z| z.powi(3)),
    ("inverse_square", z, |z| z.powi(-2)),
    ("add", z, |z| z + w()),
    ("mul", z, |z| z * w()),
    ("div", z, |z| z / w()),
    ("over", z, |z| w() / z),
    ("div_of_large", || 1e200 * z(), |z| z / (1e250 * w())),
    ("pow", z, |z| z.pow(w())),
    ("power_of", z, |z| w().pow(z)),
    ("sum", z, |z| z.sum_axes(&[1])),
    ("prod", z, |z| z.prod_axes(&[0])),
    ("mean", z, Array::mean),
    ("dot", z, |z| z.dot(&waves([4, 3], 0.4))),
    ("gram", z, |z| z.conj().t().dot(z)),
    ("norm", z, |z| (z * z.conj()).re().sum().sqrt()),
    ("real_to_complex", || at([3, 4], 0.3), |x| (x * Complex::new(0.0, 1.0)).exp()),
    ("choice", z, |z| select(&z.re().gt(0.0), z * z, z.conj())),
    ("shapes", z, |z| {
        let more = concatenate(&[z.clone(), Array::zeros([1, 4], C128)], 0);
        concatenate(&[z.t().slice(s![..;-1]), more.slice(s![.., ..3])], 0)
    }),
    ("loop", || waves([3], 0.3), |z| fori_loop(0..4, z.clone(), |_, w| w * w * 0.5 + z)),
    ("scan", z, |z| {
        let first = Array::ones([4], C128);
        scan(first, z, |c: &Array, x: &Array| (c * x + 1.0, c.clone())).1
    }),
    ("fft", || waves([3, 8], 0.3), Array::fft),
    ("fft_of_real", || at([3, 7], 0.3), Array::fft),
    ("fft_of_length", || waves([3, 8], 0.3), |z| Fourier::along(&[-1]).lengths(&[5]).fft(z)),
    ("fft_filled", || waves([3, 8], 0.3), |z| Fourier::along(&[0]).lengths(&[11]).norm(Norm::Ortho).fft(z)),
    ("ifft", || waves([3, 6], 0.3), Array::ifft),
    ("ifft_forward", || waves([3, 6], 0.3), |z| Fourier::along(&[-1]).norm(Norm::Forward).ifft(z)),
    ("rfft", || at([3, 8], 0.3), Array::rfft),
    ("rfft_odd", || at([3, 7], 0.3), Array::rfft),
    ("irfft", || waves([3, 5], 0.3), Array::irfft),
    ("irfft_odd", || waves([3, 5], 0.3), |z| Fourier::along(&[-1]).lengths(&[9]).norm(Norm::Ortho).irfft(z)),
    ("fft2", || waves([2, 3, 4], 0.3), Array::fft2),
    ("ifft2", || waves([2, 3, 4], 0.3), Array::ifft2),
    ("fftn", || waves([2, 3, 4], 0.3), |z| z.fftn(&[0, 2])),
    ("rfftn", || at([2, 3, 4], 0.3), |x| x.rfftn(&[0, 1, 2])),
    ("irfftn", || waves([2, 3, 3], 0.3), |z| z.irfftn(&[0, 1, 2])),
    ("spectrum", || at([16], 0.3), |x| x.rfft().abs().square()),
    ("filtered", || at([16], 0.3), |x| (x.rfft() * waves([9], 0.7)).irfft()),
    ("shifted", || waves([3, 5], 0.3), |z| z.fftshift(&[0, 1])),
    ("unshifted", || waves([3, 5], 0.3), |z| z.ifftshift(&[0, 1])),
    ("fftfreq", || at([1], 0.3), |x| x * fftfreq(7, 0.25, F64)),
    ("rfftfreq", || at([1], 0.3), |x| x * rfftfreq(7, 0.25, F64)),
];

/// One real number: the sum of a result weighted by waves, and of that the real part.
fn probed(f: fn(&Array) -> Array) -> impl Fn(&Array) -> Array {
    move |x| {
        let y = f(x);
        (&y * like(&y, 0.9)).sum().re()
    }
}

fn asked(kind: &str, f: fn(&Array) -> Array, x: &Array) -> Array {
    match kind {
        "value" => f(x),
        "grad" => grad(probed(f))(x),
        "jvp" => jvp(f, x, &like(x, 1.1)).1,
        "vjp" => {
            let (y, pull) = vjp(f, x);
            pull(&like(&y, 0.5))
        }
        "each" => vmap(f)(x),
        "hvp" => hvp(probed(f), x, &like(x, 1.1)),
        other => panic!("there is no kind `{other}`"),
    }
}

/// The numbers of an array, a complex one as two.
fn parts(array: &Array) -> Vec<f64> {
    match array.dtype() {
        C128 => array.to_vec::<Complex64>().unwrap().into_iter().flat_map(|z| [z.re, z.im]).collect(),
        _ => array.to_vec::<f64>().unwrap(),
    }
}

/// What is wrong with a result, if anything: it may be off by a part of the largest number.
fn difference(found: &Array, ty: &str, expected: &[f64]) -> Option<String> {
    let found_ty = format!("{}{}", found.dtype(), found.shape());
    if found_ty != ty {
        return Some(format!("its type is {found_ty}, expected {ty}"));
    }
    let allowed = 1e-10 * expected.iter().fold(0.0f64, |largest, y| largest.max(y.abs()));
    let mut pairs = parts(found).into_iter().zip(expected).enumerate();
    let (i, (x, y)) = pairs.find(|(_, (x, y))| {
        let near = (x - *y).abs() <= allowed;
        !near
    })?;
    Some(format!("its number {i} is {x:?}, JAX has {y:?}, allowed are ±{allowed:.1e}"))
}

#[test]
fn complex_numbers_agree_with_jax() {
    let (mut failures, mut names, mut used) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for line in include_str!("complex.txt").lines().filter(|line| !line.starts_with('#')) {
        let (name, rest) = line.split_once(": ").unwrap();
        let (function, kind) = name.split_once('/').unwrap();
        let (ty, numbers) = rest.split_once(' ').unwrap();
        let expected: Vec<f64> = numbers.split(' ').map(|number| number.parse().unwrap()).collect();
        names.insert(name);
        used.insert(function);
        let Some((_, x, f)) = FUNCTIONS.iter().find(|(name, ..)| *name == function) else {
            failures.push(format!("{name} has no function here"));
            continue;
        };
        let (x, f) = (x(), *f);
        let ways: [(&str, &dyn Fn() -> Array); 2] = [
            ("at once", &|| asked(kind, f, &x)),
            ("jitted", &|| {
                let kind = kind.to_owned();
                jit(move |x: &Array| asked(&kind, f, x)).call(&x)
            }),
        ];
        for (way, compute) in ways {
            match catch_unwind(AssertUnwindSafe(compute)) {
                Ok(found) => {
                    let wrong = difference(&found, ty, &expected);
                    failures.extend(wrong.map(|wrong| format!("{name} {way}: {wrong}")));
                }
                Err(_) => failures.push(format!("{name} {way}: it panics, see above")),
            }
        }
    }
    let unused = FUNCTIONS.iter().filter(|(name, ..)| !used.contains(name));
    failures.extend(unused.map(|(name, ..)| format!("{name} has no row: run complex.py")));
    assert_eq!(names.len(), ROWS, "rows of complex.txt");
    assert!(failures.is_empty(), "{} disagreements with JAX:\n{}", failures.len(), failures.join("\n"));
}
