//! What comparisons of factorizations know of matrices: a stable algorithm gives the exact factors of a neighbour of
//! its matrix, in which each element is off by some roundings of the largest one.

use tracewell_array::{Complex64, DType, Literal, Tensor};
use tracewell_graph::Lowering;
use tracewell_kernel::linalg::batch_len;
use tracewell_kernel::{Library, Linalg};

/// The call of linear algebra that a primitive is lowered to, if it is.
pub(crate) fn of_lowering(lowering: &Lowering) -> Option<Linalg> {
    match lowering {
        Lowering::Library(call) => match call.library {
            Library::Linalg(linalg) => Some(linalg),
            _ => None,
        },
        _ => None,
    }
}

/// A neighbour of each matrix, as numbers of some type: the parts of its elements are moved by up to `step` times its
/// largest one, as far as random numbers between -1 and 1 say. A matrix that is not finite stays.
pub(crate) fn neighbour(tensor: &Tensor, dtype: DType, step: f64, mut random: impl FnMut() -> f64) -> Tensor {
    let mut elements: Vec<Complex64> = tensor.literals().map(Literal::as_complex).collect();
    let len = tensor.len() / batch_len(tensor.shape()).max(1);
    for matrix in elements.chunks_mut(len.max(1)) {
        let size = matrix.iter().fold(0.0, |m: f64, x| m.max(x.norm()));
        if matrix.iter().all(|x| x.is_finite()) {
            for x in matrix {
                let (re, im) = (random(), if dtype.is_complex() { random() } else { 0.0 });
                *x += Complex64::new(re, im) * (step * size);
            }
        }
    }
    let literals: Vec<Literal> = elements.into_iter().map(|x| number(dtype, x)).collect();
    Tensor::from_literals(dtype, tensor.shape(), &literals).expect("as many as before")
}

fn number(dtype: DType, x: Complex64) -> Literal {
    if dtype.is_complex() { Literal::from_complex(dtype, x) } else { Literal::from_f64(dtype, x.re) }
}

/// Whether squares of the elements are floats of full precision, or zero: roundings are roundings of the largest one
/// only then.
pub(crate) fn squares_in_range(dtype: DType, mut elements: impl Iterator<Item = Literal>) -> bool {
    let (least, largest) = if dtype.real() == DType::F32 {
        (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX))
    } else {
        (f64::MIN_POSITIVE, f64::MAX)
    };
    let (tiny, huge) = (least.sqrt() * 1e4, largest.sqrt() * 1e-4);
    let fits = |x: f64| x == 0.0 || (tiny..huge).contains(&x.abs());
    elements.all(|x| fits(x.as_complex().re) && fits(x.as_complex().im))
}

/// The distance from 1 to the next float.
pub(crate) fn unit(dtype: DType) -> f64 {
    if dtype.real() == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON }
}
