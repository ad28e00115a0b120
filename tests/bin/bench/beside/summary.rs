//! What is compared of a result: few numbers, which every side makes in the same way.

use tracewell::prelude::*;

/// Arrays longer than this are summed by pieces, so many of them.
const PIECES: usize = 64;

/// Each array as it is, or the sums of its pieces and its norm.
pub(super) fn summary(results: &[Array]) -> Result<Vec<f64>> {
    let mut numbers = Vec::new();
    for array in results {
        let elements = array.convert(F64).to_vec::<f64>()?;
        if elements.len() <= PIECES {
            numbers.extend(elements);
        } else {
            let piece = elements.len().div_ceil(PIECES);
            numbers.extend(elements.chunks(piece).map(|piece| piece.iter().sum::<f64>()));
            numbers.push(elements.iter().map(|x| x * x).sum::<f64>().sqrt());
        }
    }
    Ok(numbers)
}

/// When two summaries agree. NaN never does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Agreement {
    /// They are the same but for a part of the largest number.
    Within(f64),
    /// They are of long arrays that were drawn from the same distribution: their sums, and those of their
    /// squares, are as far apart as chance makes them.
    Alike,
}

impl Agreement {
    pub(super) fn holds(self, a: &[f64], b: &[f64]) -> bool {
        let largest = b.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        a.len() == b.len()
            && match self {
                Agreement::Within(part) => a.iter().zip(b).all(|(a, b)| (a - b).abs() <= part * largest),
                Agreement::Alike => {
                    a.split_last().zip(b.split_last()).is_some_and(|((norm_a, a), (norm_b, b))| {
                        let squares = [norm_a * norm_a, norm_b * norm_b];
                        // Five times what is usual where numbers are about 1.
                        let far = 5.0 * (2.0 * (squares[0] + squares[1])).sqrt();
                        let apart = a.iter().sum::<f64>() - b.iter().sum::<f64>();
                        apart.abs() <= far && (squares[0] - squares[1]).abs() <= far
                    })
                }
            }
    }
}
