//! Complex numbers and Fourier transforms, as users write them.

use std::f64::consts::TAU;

use tracewell::prelude::*;

fn c(re: f64, im: f64) -> Complex64 {
    Complex::new(re, im)
}

/// The elements, in `f64`.
fn elements(array: &Array) -> Vec<Complex64> {
    array.convert(C128).to_vec().unwrap()
}

#[track_caller]
fn assert_near(found: &Array, expected: &[Complex64], tolerance: f64) {
    let found = elements(found);
    assert_eq!(found.len(), expected.len(), "{found:?} against {expected:?}");
    for (x, y) in found.iter().zip(expected) {
        assert!((x - y).norm() <= tolerance * y.norm().max(1.0), "{found:?} against {expected:?}");
    }
}

#[test]
fn arrays_of_complex_numbers() {
    let z = Array::from(vec![Complex32::new(1.0, 2.0), Complex32::new(3.0, -4.0)]);
    assert_eq!((z.dtype(), z.shape()), (C64, &Shape::from([2])));
    assert_eq!(z.to_vec::<Complex32>().unwrap()[1], Complex32::new(3.0, -4.0));
    assert_eq!(z.slice(s![1]).item::<Complex32>(), Complex32::new(3.0, -4.0));
    let m = Array::from([[c(1.0, 0.0), c(0.0, 1.0)], [c(0.0, -1.0), c(1.0, 1.0)]]);
    assert_eq!((m.dtype(), m.to_string().as_str()), (C128, "[[1.+0.j 0.+1.j]\n [0.-1.j 1.+1.j]]"));
    let nd = m.to_ndarray::<Complex64>().unwrap();
    assert_eq!(nd[[1, 1]], c(1.0, 1.0));
    assert_eq!(elements(&Array::from(nd)), elements(&m));
    assert_eq!(Array::from(c(2.0, -1.0)).to_string(), "(2-1j)");
    assert_eq!(Array::eye(2, C64).to_string(), "[[1.+0.j 0.+0.j]\n [0.+0.j 1.+0.j]]");
    assert_eq!(Array::arange(3, C64).to_string(), "[0.+0.j 1.+0.j 2.+0.j]");
}

#[test]
fn npy_files() {
    let path = std::env::temp_dir().join(format!("tracewell-complex-{}.npy", std::process::id()));
    for z in [Array::from([c(1.0, -0.0), c(f64::NAN, 2.0)]), Array::from([Complex32::new(0.5, 1e-40)])] {
        z.save_npy(&path).unwrap();
        let again = Array::load_npy(&path).unwrap();
        assert_eq!(format!("{again:?}"), format!("{z:?}"));
    }
    std::fs::remove_file(path).unwrap();
}

/// What two element types meet in, as in NumPy and JAX.
#[test]
fn promotion() {
    let of = |dtype| Array::ones([2], dtype);
    let i = Complex::new(0.0, 1.0);
    for (found, expected) in [
        (of(F32) * of(C64), C64),
        (of(F64) * of(C64), C128),
        (of(I64) + of(C64), C64),
        (of(C64) + of(C128), C128),
        (of(BOOL).convert(I32) - of(C128), C128),
        (2.0 * of(C64), C64),
        (of(C64) + 1, C64),
        (i * of(F32), C64),
        (of(F64) * i, C128),
        (of(I32) * i, C64),
        (of(I64) * i, C128),
        (of(C64) / i, C64),
    ] {
        assert_eq!(found.dtype(), expected);
    }
    assert_eq!((i * of(F32)).to_string(), "[0.+1.j 0.+1.j]");
}

#[test]
fn parts_and_operators() {
    let z = Array::from([c(3.0, 4.0), c(-1.0, 0.5)]);
    assert_eq!(z.abs().to_vec::<f64>().unwrap(), [5.0, 1.25f64.sqrt()]);
    assert_near(&complex(z.re(), z.im()), &elements(&z), 0.0);
    assert_near(&(&z * z.conj()), &[c(25.0, 0.0), c(1.25, 0.0)], 1e-15);
    assert_near(&(&z / &z), &[c(1.0, 0.0); 2], 1e-15);
    assert_near(&(-&z + 1.0), &[c(-2.0, -4.0), c(2.0, -0.5)], 0.0);
    assert_near(&(z.abs() * (Complex::new(0.0, 1.0) * z.angle()).exp()), &elements(&z), 1e-14);
    assert_eq!(z.eq(c(3.0, 4.0)).to_string(), "[ true false]");
    assert_eq!(z.ne(z.conj()).to_string(), "[ true  true]");
    assert_eq!(complex(Array::from([0.0, 1.0]), f64::INFINITY).is_finite().to_string(), "[false false]");
    assert_near(&complex(2, Array::from([1, 2])), &[c(2.0, 1.0), c(2.0, 2.0)], 0.0);
    let x = Array::from([1.0f32, -2.0]);
    assert_eq!((x.re().to_string(), x.im().to_string()), ("[ 1. -2.]".into(), "[0. 0.]".into()));
    assert_eq!(x.angle().to_string(), "[0.        3.1415927]");
    assert_eq!(z.convert(BOOL).to_string(), "[ true  true]");
}

/// No square of a part is taken where it would overflow or vanish.
#[test]
fn large_and_small_numbers() {
    let z = Array::from([c(3e200, 4e200), c(3e-200, 4e-200), c(0.0, 0.0), c(1e308, 0.0)]);
    assert_near(&z.abs(), &[c(5e200, 0.0), c(5e-200, 0.0), c(0.0, 0.0), c(1e308, 0.0)], 1e-15);
    assert_eq!(z.abs().slice(s![1]).item::<f64>(), 5e-200);
    assert_near(&z.sign(), &[c(0.6, 0.8), c(0.6, 0.8), c(0.0, 0.0), c(1.0, 0.0)], 1e-15);
    assert_near(&(&z / &z).slice(s![..2]), &[c(1.0, 0.0); 2], 1e-15);
    let roots = z.sqrt();
    assert_near(&roots.slice(s![..1]), &[c(2e100, 1e100)], 1e-15);
    assert_near(&roots.slice(s![2..3]), &[c(0.0, 0.0)], 0.0);
    let log = z.log().re().to_vec::<f64>().unwrap();
    assert!((log[0] - 5e200f64.ln()).abs() < 1e-12 && log[2] == f64::NEG_INFINITY, "{log:?}");
    assert_near(&Array::from([c(1000.0, 1.0), c(-1000.0, 1.0)]).tanh(), &[c(1.0, 0.0), c(-1.0, 0.0)], 1e-15);
}

/// Both sides of the cut along the negative axis, also where the imaginary part is a zero.
#[test]
fn branch_cuts() {
    let z = Array::from([c(-4.0, 0.0), c(-4.0, -0.0)]);
    assert_near(&z.sqrt(), &[c(0.0, 2.0), c(0.0, -2.0)], 0.0);
    assert_near(&z.log().im(), &[c(TAU / 2.0, 0.0), c(-TAU / 2.0, 0.0)], 1e-15);
    assert_near(&z.angle(), &[c(TAU / 2.0, 0.0), c(-TAU / 2.0, 0.0)], 1e-15);
}

/// A gradient points where the function falls steepest, as in JAX: conjugated.
#[test]
fn gradients() {
    let z = Array::from([c(1.0, 2.0), c(-3.0, 0.5)]);
    let norm = |z: &Array| (z * z.conj()).re().sum();
    assert_near(&grad(norm)(&z), &[c(2.0, -4.0), c(-6.0, -1.0)], 1e-15);
    assert_near(&grad(|z: &Array| z.abs().sum())(&Array::from([c(0.0, 0.0)])), &[c(0.0, 0.0)], 0.0);
    let (_, tangent) = jvp(|z: &Array| z.exp(), &z, &Array::from([c(0.0, 1.0), c(1.0, 0.0)]));
    assert_near(&tangent, &[c(0.0, 1.0) * c(1.0, 2.0).exp(), c(-3.0, 0.5).exp()], 1e-14);
    // A step against the conjugate of the gradient makes the function smaller.
    let step = &z - 0.1 * grad(norm)(&z).conj();
    assert!(norm(&step).item::<f64>() < norm(&z).item::<f64>());
    let hessian = jacfwd(grad(|x: &Array| complex(x, x * x).abs().square().sum()))(&Array::from([1.0, 2.0]));
    assert_near(&hessian, &[14.0, 0.0, 0.0, 50.0].map(|x| c(x, 0.0)), 1e-14);
}

#[test]
fn batches_loops_and_branches() {
    let z = Array::from([c(0.1, 0.2), c(-0.3, 0.4), c(0.5, -0.6)]);
    assert_near(&vmap(|z: &Array| z * z + 1.0)(&z), &elements(&(&z * &z + 1.0)), 1e-15);
    let orbit = |z: &Array| fori_loop(0..5, z.clone(), |_, w| w * w + z);
    let expected: Vec<Complex64> =
        elements(&z).into_iter().map(|z| (0..5).fold(z, |w, _| w * w + z)).collect();
    assert_near(&orbit(&z), &expected, 1e-14);
    assert_near(&jit(orbit).call(&z), &expected, 1e-14);
    let escape =
        while_loop((z.slice(s![0]), Array::from(0)), |(w, _)| w.abs().lt(2.0), |(w, n)| (w * w + 1.0, n + 1));
    assert!(escape.1.item::<i32>() > 1 && escape.0.abs().item::<f64>() >= 2.0);
    let chosen = cond(&z.abs().sum().gt(1.0), || z.conj(), || z.clone());
    assert_near(&chosen, &elements(&z.conj()), 0.0);
    let (last, all) = scan(Array::from(c(1.0, 0.0)), &z, |c: &Array, x: &Array| (c * x, c + x));
    assert_near(&last, &[elements(&z).into_iter().product()], 1e-15);
    assert_eq!(all.dtype(), C128);
    let slope = grad(|z: &Array| {
        scan(Array::from(c(1.0, 0.0)), z, |c: &Array, x: &Array| (c * x, c.clone())).0.abs()
    })(&z);
    assert_near(&slope, &elements(&grad(|z: &Array| z.prod().abs())(&z)), 1e-14);
}

/// A function on buffers sees complex numbers.
#[test]
fn callbacks() {
    let z = Array::from([c(1.0, 2.0), c(3.0, -4.0)]);
    let turned = jit(|z: &Array| {
        let y = callback(z, |z: &Array| z * Complex::new(0.0, 1.0), &(z + 1.0));
        y + 1.0
    });
    assert_near(&turned.call(&z), &[c(-1.0, 2.0), c(5.0, 4.0)], 1e-15);
}

/// Nothing is computed twice, and a donated array gives its memory to the result.
#[test]
fn memory() {
    let f = jit(|z: &Array| z * z.conj() + 1.0);
    let program = f.lower(&Array::from([c(1.0, 2.0); 64])).unwrap().program().to_string();
    assert_eq!(program.matches("launch").count(), 1, "{program}");
    assert!(!program.contains("temp"), "{program}");
    assert!(!program.contains("c128"), "{program}");
}

#[test]
fn transforms_there_and_back() {
    for n in [1usize, 2, 3, 4, 5, 7, 8, 11, 12, 16, 31, 64, 100, 127] {
        let x = Array::from((0..n).map(|i| (0.3 * (i * i) as f64).sin()).collect::<Vec<f64>>());
        let z = complex(&x, x.cos());
        assert_near(&z.fft().ifft(), &elements(&z), 1e-13);
        assert_near(&Fourier::along(&[0]).lengths(&[n]).irfft(&x.rfft()), &elements(&x), 1e-13);
        // By the sum that defines it.
        let expected: Vec<Complex64> = (0..n)
            .map(|k| {
                let term = |(j, z): (usize, Complex64)| {
                    z * Complex::from_polar(1.0, -TAU * (j * k % n) as f64 / n as f64)
                };
                elements(&z).into_iter().enumerate().map(term).sum()
            })
            .collect();
        assert_near(&z.fft(), &expected, 1e-12);
        assert_near(&x.rfft(), &elements(&x.fft())[..n / 2 + 1], 1e-12);
        let narrow = z.convert(C64);
        assert_near(&narrow.fft(), &expected, 1e-4);
    }
}

#[test]
fn axes_lengths_and_norms() {
    let x = Array::from((0..24).map(|i| (i as f64).sin()).collect::<Vec<f64>>()).reshape([2, 3, 4]);
    let by_axes = Fourier::along(&[0]).fft(&Fourier::along(&[2]).fft(&x));
    assert_near(&x.fftn(&[0, 2]), &elements(&by_axes), 1e-14);
    assert_near(&x.fft2(), &elements(&x.fftn(&[1, 2])), 1e-14);
    assert_near(&x.fft2().ifft2(), &elements(&x), 1e-14);
    assert_near(&x.rfftn(&[0, 1, 2]).irfftn(&[0, 1, 2]), &elements(&x), 1e-14);
    assert_eq!(x.rfftn(&[2, 0]).shape(), &Shape::from([2, 3, 4]));
    assert_eq!(x.rfftn(&[0, 2]).shape(), &Shape::from([2, 3, 3]));
    for norm in [Norm::Backward, Norm::Ortho, Norm::Forward] {
        let fourier = Fourier::along(&[1, 2]).norm(norm);
        assert_near(&fourier.ifft(&fourier.fft(&x)), &elements(&x), 1e-14);
    }
    let energy = |x: &Array| x.abs().square().sum().item::<f64>();
    let ortho = Fourier::along(&[0, 1, 2]).norm(Norm::Ortho).fft(&x);
    assert!((energy(&ortho) - energy(&x)).abs() < 1e-12);
    let longer = Fourier::along(&[1]).lengths(&[5]).fft(&x);
    let filled = concatenate(&[x.clone(), Array::zeros([2, 2, 4], F64)], 1);
    assert_near(&longer, &elements(&filled.fftn(&[1])), 1e-14);
    let each = vmap(|x: &Array| x.rfftn(&[0, 1]))(&x);
    assert_near(&each, &elements(&x.rfftn(&[1, 2])), 1e-14);
    assert_eq!(Array::from([1, 2, 3]).fft().dtype(), C64);
    assert_eq!(Array::zeros([0, 4], F32).fft().shape(), &Shape::from([0, 4]));
}

/// A convolution is a product of transforms, and has its gradient.
#[test]
fn gradients_of_transforms() {
    let x = Array::from((0..9).map(|i| (i as f64).cos()).collect::<Vec<f64>>());
    let k = Array::from((0..9).map(|i| (-0.5 * i as f64).exp()).collect::<Vec<f64>>());
    let fourier = Fourier::along(&[0]).lengths(&[9]);
    let loss = |x: &Array| fourier.irfft(&(fourier.rfft(x) * fourier.rfft(&k))).square().sum();
    let slow = |x: &Array| {
        let rolled = |by: usize| concatenate(&[x.slice(s![9 - by..]), x.slice(s![..9 - by])], 0);
        let terms = (0..9).map(|by| rolled(by) * k.slice(s![by as isize]));
        terms.reduce(|a, b| a + b).unwrap().square().sum()
    };
    assert!((loss(&x).item::<f64>() - slow(&x).item::<f64>()).abs() < 1e-12);
    assert_near(&grad(loss)(&x), &elements(&grad(slow)(&x)), 1e-12);
    assert_near(&jit(grad(loss)).call(&x), &elements(&grad(slow)(&x)), 1e-12);
}
