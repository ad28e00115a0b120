//! What rounding may do to the results of an equation.

use tracewell_array::{Complex64, DType, Literal, Tensor};
use tracewell_graph::{Lowering, Prim};
use tracewell_kernel::Library;

use super::rng::Rng;

/// Whether results are elements of operands, or known: nothing is rounded.
pub(super) fn is_exact(lowering: &Lowering) -> bool {
    match lowering {
        Lowering::View(_)
        | Lowering::Pieces(_)
        | Lowering::Count { .. }
        | Lowering::Constant(_)
        | Lowering::Lookup(_) => true,
        Lowering::Library(call) => matches!(call.library, Library::Sort(_)),
        _ => false,
    }
}

/// Whether results are sums of products, whose terms may cancel.
pub(super) fn is_sum(lowering: &Lowering) -> bool {
    match lowering {
        Lowering::Library(call) => !matches!(call.library, Library::Linalg(_)),
        Lowering::Late(_) => true,
        _ => false,
    }
}

/// How large the numbers are that are rounded on the way to each element: of sums of products, what the primitive makes
/// of magnitudes; of a Fourier transform the largest of that, everywhere; else the results themselves.
pub(super) fn sizes(
    prim: &Prim,
    lowering: &Lowering,
    operands: &[Tensor],
    results: &[Tensor],
) -> Vec<Tensor> {
    if !is_sum(lowering) {
        return results.to_vec();
    }
    let magnitudes: Vec<Tensor> = operands.iter().map(magnitude).collect();
    let sizes = prim.rules().eval(&magnitudes).expect("as well-typed as before");
    if !matches!(lowering, Lowering::Library(call) if matches!(call.library, Library::Fft(_))) {
        return sizes;
    }
    let largest = |size: &Tensor| size.literals().map(|x| x.as_complex().norm()).fold(0.0, f64::max);
    let fill =
        |size: &Tensor| Tensor::full(Literal::from_f64(size.dtype(), largest(size)), size.shape().clone());
    sizes.iter().map(fill).collect()
}

/// Moves each float by up to so many units in the last place of a size, which below the normal numbers are all as
/// large as the smallest. What is not finite stays, and so does what nothing was rounded for.
pub(super) fn shake(tensor: &Tensor, sizes: &Tensor, units: f64, rng: &mut Rng) -> Tensor {
    let dtype = tensor.dtype();
    if !dtype.is_inexact() {
        return tensor.clone();
    }
    let (unit, least) = unit_and_least(dtype);
    let moved = |(x, size): (Literal, Literal)| {
        let (z, size) = (x.as_complex(), size.as_complex().norm());
        let size = if size == 0.0 { 0.0 } else { size.max(least) };
        let mut step = || units * unit * size * rng.signed_unit();
        let (re, im) = (step(), step());
        if !z.is_finite() {
            x
        } else if dtype.is_complex() {
            Literal::from_complex(dtype, z + Complex64::new(re, im))
        } else {
            Literal::from_f64(dtype, z.re + re)
        }
    };
    let literals: Vec<Literal> = tensor.literals().zip(sizes.literals()).map(moved).collect();
    Tensor::from_literals(dtype, tensor.shape().clone(), &literals).expect("as many as before")
}

/// Rounds each float to a multiple of so many units in its last place, up where its rest is more than `1 - cut` of that:
/// for complex numbers, units of the larger part. What is not finite stays.
pub(super) fn coarsen(tensor: &Tensor, units: f64, cut: f64) -> Tensor {
    let dtype = tensor.dtype();
    if !dtype.is_inexact() || units == 0.0 {
        return tensor.clone();
    }
    let (unit, least) = unit_and_least(dtype);
    let coarse = |x: Literal| {
        let z = x.as_complex();
        if !z.is_finite() {
            return x;
        }
        let size = z.re.abs().max(z.im.abs()).max(least);
        let step = units * unit * size.log2().floor().exp2();
        let part = |x: f64| if x == 0.0 { x } else { (x / step + cut).floor() * step };
        let z = Complex64::new(part(z.re), part(z.im));
        if dtype.is_complex() { Literal::from_complex(dtype, z) } else { Literal::from_f64(dtype, z.re) }
    };
    let literals: Vec<Literal> = tensor.literals().map(coarse).collect();
    Tensor::from_literals(dtype, tensor.shape().clone(), &literals).expect("as many as before")
}

/// A unit in the last place of 1, and the smallest normal number.
fn unit_and_least(dtype: DType) -> (f64, f64) {
    match dtype.real() {
        DType::F32 => (f64::from(f32::EPSILON), f64::from(f32::MIN_POSITIVE)),
        _ => (f64::EPSILON, f64::MIN_POSITIVE),
    }
}

/// The magnitude of each finite number, and zero for others.
fn magnitude(tensor: &Tensor) -> Tensor {
    let dtype = tensor.dtype();
    if !dtype.is_inexact() {
        return tensor.clone();
    }
    let size = |x: Literal| if x.as_complex().is_finite() { x.as_complex().norm() } else { 0.0 };
    let literals: Vec<Literal> = tensor.literals().map(|x| Literal::from_f64(dtype, size(x))).collect();
    Tensor::from_literals(dtype, tensor.shape().clone(), &literals).expect("as many as before")
}
