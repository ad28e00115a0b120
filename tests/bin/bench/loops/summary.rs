//! What is compared of a result: few numbers, which every side makes in the same way.

use tracewell::prelude::*;

/// Arrays longer than this are summed by pieces, so many of them.
const PIECES: usize = 64;

/// Each array as it is, or the sums of its pieces.
pub(super) fn summary(results: &[Array]) -> Result<Vec<f64>> {
    let mut numbers = Vec::new();
    for array in results {
        let elements = array.convert(F64).to_vec::<f64>()?;
        if elements.len() <= PIECES {
            numbers.extend(elements);
        } else {
            let piece = elements.len().div_ceil(PIECES);
            numbers.extend(elements.chunks(piece).map(|piece| piece.iter().sum::<f64>()));
        }
    }
    Ok(numbers)
}

/// Whether two summaries are the same but for a part of the largest number. NaN never is.
pub(super) fn agree(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    let largest = b.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * largest)
}
