//! When two results are the same.

use tracewell_array::{Literal, Tensor};

/// Whether two arrays agree bit for bit, where one NaN is as good as another; says where they do not.
pub(super) fn same(found: &Tensor, expected: &Tensor) -> Result<(), String> {
    if found.dtype() != expected.dtype() || found.shape() != expected.shape() {
        return Err(format!(
            "found {}{}, expected {}{}",
            found.dtype(),
            found.shape(),
            expected.dtype(),
            expected.shape()
        ));
    }
    for (i, (x, y)) in found.literals().zip(expected.literals()).enumerate() {
        let agrees = |x: Literal, y: Literal| x == y || (x.as_f64().is_nan() && y.as_f64().is_nan());
        if !(agrees(x.re(), y.re()) && agrees(x.im(), y.im())) {
            return Err(format!("element {i} is {x}, expected {y}"));
        }
    }
    Ok(())
}

/// The sum of products, of complex ones their real part, and the sum of their magnitudes: what its rounding error is measured against.
pub(super) fn inner(a: &[Tensor], b: &[Tensor]) -> (f64, f64) {
    let pairs = a.iter().zip(b).flat_map(|(a, b)| a.literals().zip(b.literals()));
    pairs.fold((0.0, 0.0), |(sum, size), (x, y)| {
        let product = x.as_complex() * y.as_complex();
        (sum + product.re, size + product.norm())
    })
}
