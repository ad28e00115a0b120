//! In which order reductions combine floats. It is part of the numeric contract, depends on shapes alone, and whoever
//! cuts an array into parts has to know whether they keep it.

use tracewell_array::Shape;

/// Reduced elements from which blocks are used.
const LONG: usize = 65_536;
/// Results up to which blocks are used: more of them keep threads busy without.
const FEW: usize = 64;
/// The same for columns, which are walked in tiles of many results.
const FEW_COLUMNS: usize = 512;
/// Size of the innermost axis from which it is walked as a column.
const WIDE: usize = 8;

/// How the elements of a reduction follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReduceOrder {
    /// In the lane order of the language's `reduce`.
    Rows,
    /// One after the other, for each element of the result.
    Columns,
    /// In blocks, whose partial results follow. Which elements make a block depends on the size of the whole array.
    Blocks,
}

impl ReduceOrder {
    /// That of an array of a shape, reduced along these axes.
    pub fn of(from: &Shape, axes: &[usize]) -> ReduceOrder {
        let kept = (0..from.rank()).filter(|axis| !axes.contains(axis));
        let results = kept.fold(1, |results: usize, axis| results.saturating_mul(from.size(axis)));
        let reduced = from.len() / results.max(1);
        if is_columns(from, axes) {
            let is_long = from.len() >= 4 * LONG && reduced >= LONG / FEW && results < FEW_COLUMNS;
            if is_long { ReduceOrder::Blocks } else { ReduceOrder::Columns }
        } else if reduced >= LONG && results < FEW {
            ReduceOrder::Blocks
        } else {
            ReduceOrder::Rows
        }
    }
}

/// Whether the innermost axis that is walked stays and is worth walking innermost.
pub fn is_columns(from: &Shape, axes: &[usize]) -> bool {
    let innermost = (0..from.rank()).rev().find(|&a| from.size(a) != 1);
    innermost.is_some_and(|a| !axes.contains(&a) && from.size(a) >= WIDE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_results_of_many_elements_are_made_in_blocks() {
        let order = |shape: &[usize], axes: &[usize]| ReduceOrder::of(&shape.iter().copied().collect(), axes);
        assert_eq!(order(&[63, 65_536], &[1]), ReduceOrder::Blocks);
        assert_eq!(order(&[64, 65_536], &[1]), ReduceOrder::Rows);
        assert_eq!(order(&[63, 65_535], &[1]), ReduceOrder::Rows);
        assert_eq!(order(&[1024, 511], &[0]), ReduceOrder::Blocks);
        assert_eq!(order(&[1024, 512], &[0]), ReduceOrder::Columns);
        assert_eq!(order(&[1023, 511], &[0]), ReduceOrder::Columns);
        assert_eq!(order(&[1024, 7], &[0]), ReduceOrder::Rows);
        assert_eq!(order(&[32, 32, 32, 64], &[1, 2]), ReduceOrder::Columns);
        assert_eq!(order(&[4, 32, 32, 64], &[1, 2]), ReduceOrder::Blocks);
    }
}
