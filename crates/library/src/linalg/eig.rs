//! Eigenvalues and eigenvectors of any square matrix, by `faer`.

use faer::diag::DiagMut;
use faer::linalg::evd::{ComputeEigenvectors, evd_cplx, evd_real, evd_scratch};
use faer::{MatMut, MatRef, Par};
use tracewell_array::Complex64;
use tracewell_kernel::linalg::arrange;

use super::factor::with_scratch;
use super::number::Number;

/// Eigenvalues, and eigenvectors as the columns of a row-major matrix unless there is no room for them.
pub(super) fn eig(a: &[Complex64], n: usize, values: &mut [Complex64], vectors: &mut [Complex64]) {
    if n == 0 {
        return;
    }
    // Eigenvalues of a real matrix are real, or two are each other's conjugates to the last bit.
    let is_real = a.iter().all(|z| z.im == 0.0);
    let done = if is_real { of_real(a, n, values, vectors) } else { of_complex(a, n, values, vectors) };
    match done {
        Some(()) => arrange(values, vectors),
        None => [values, vectors].into_iter().for_each(|out| out.fill(Complex64::NAN)),
    }
}

fn wanted(vectors: &[Complex64]) -> ComputeEigenvectors {
    if vectors.is_empty() { ComputeEigenvectors::No } else { ComputeEigenvectors::Yes }
}

fn of_complex(a: &[Complex64], n: usize, values: &mut [Complex64], vectors: &mut [Complex64]) -> Option<()> {
    let wanted = wanted(vectors);
    let need = evd_scratch::<Complex64>(n, ComputeEigenvectors::No, wanted, Par::Seq, Default::default());
    let right = (!vectors.is_empty()).then(|| MatMut::from_row_major_slice_mut(vectors, n, n));
    let matrix = MatRef::from_row_major_slice(a, n, n);
    with_scratch(need, |stack| {
        let values = DiagMut::from_slice_mut(values);
        evd_cplx::<f64>(matrix, values, None, right, Par::Seq, stack, Default::default())
    })
    .ok()
}

fn of_real(a: &[Complex64], n: usize, values: &mut [Complex64], vectors: &mut [Complex64]) -> Option<()> {
    let wanted = wanted(vectors);
    let real: Vec<f64> = a.iter().map(|z| z.re).collect();
    let (mut re, mut im) = (vec![0.0; n], vec![0.0; n]);
    let mut columns = vec![0.0; vectors.len()];
    let need = evd_scratch::<f64>(n, ComputeEigenvectors::No, wanted, Par::Seq, Default::default());
    let right = (!columns.is_empty()).then(|| MatMut::from_row_major_slice_mut(&mut columns, n, n));
    with_scratch(need, |stack| {
        let matrix = MatRef::from_row_major_slice(&real, n, n);
        let (re, im) = (DiagMut::from_slice_mut(&mut re), DiagMut::from_slice_mut(&mut im));
        evd_real::<f64>(matrix, re, im, None, right, Par::Seq, stack, Default::default())
    })
    .ok()?;
    // Of a pair, one column is the real part and the next the imaginary one.
    let mut j = 0;
    while j < n {
        if im[j] == 0.0 {
            values[j] = re[j].into();
            (j..vectors.len()).step_by(n).for_each(|at| vectors[at] = columns[at].into());
            j += 1;
        } else {
            values[j] = Complex64::new(re[j], im[j]);
            values[j + 1] = values[j].conj();
            for at in (j..vectors.len()).step_by(n) {
                vectors[at] = Complex64::new(columns[at], columns[at + 1]);
                vectors[at + 1] = vectors[at].conj();
            }
            j += 2;
        }
    }
    Some(())
}
