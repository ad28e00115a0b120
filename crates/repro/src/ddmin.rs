//! Delta debugging: which of some parts can go, in as few questions as possible. It knows nothing of repros.

/// Takes away as many of `count` parts as possible. `first` is given up to `width` sets of indices at once and says
/// which is the first without which what matters stays; the answer is a set that can go, from which no further part
/// can.
///
/// ```
/// // Of eight numbers, 2 and 5 matter.
/// let matters = |gone: &Vec<usize>| !gone.contains(&2) && !gone.contains(&5);
/// let gone = tracewell_repro::ddmin(8, 1, &mut |sets| sets.iter().position(matters));
/// assert_eq!(gone, [0, 1, 3, 4, 6, 7]);
/// ```
pub fn ddmin(
    count: usize,
    width: usize,
    first: &mut dyn FnMut(&[Vec<usize>]) -> Option<usize>,
) -> Vec<usize> {
    let mut left: Vec<usize> = (0..count).collect();
    let mut gone: Vec<usize> = Vec::new();
    let mut size = count;
    while size > 0 && !left.is_empty() {
        let mut removed = false;
        let mut at = 0;
        while at < left.len() {
            let starts: Vec<usize> = (at..left.len()).step_by(size).take(width.max(1)).collect();
            let tried: Vec<Vec<usize>> = starts
                .iter()
                .map(|&start| {
                    let mut all = [gone.as_slice(), &left[start..(start + size).min(left.len())]].concat();
                    all.sort_unstable();
                    all
                })
                .collect();
            match first(&tried) {
                Some(found) => {
                    let start = starts[found];
                    left.drain(start..(start + size).min(left.len()));
                    gone = tried[found].clone();
                    removed = true;
                    at = start;
                }
                None => at += size * starts.len(),
            }
        }
        size = match (removed, size) {
            // What was needed before may not be needed any more.
            (true, size) => size.min(left.len()),
            (false, 1) => 0,
            (false, size) => size.div_ceil(2),
        };
    }
    gone
}

#[cfg(test)]
mod tests {
    use super::ddmin;

    #[test]
    fn what_matters_stays_and_nothing_else() {
        for width in [1, 3] {
            for needed in [vec![], vec![0], vec![7], vec![3, 4], vec![0, 9], vec![1, 5, 8]] {
                let mut questions = 0;
                let gone = ddmin(10, width, &mut |sets| {
                    questions += sets.len();
                    sets.iter().position(|gone| needed.iter().all(|part| !gone.contains(part)))
                });
                let left: Vec<usize> = (0..10).filter(|part| !gone.contains(part)).collect();
                assert_eq!(left, needed);
                assert!(questions < 80, "{questions} questions for {needed:?}");
            }
        }
    }

    #[test]
    fn what_can_go_only_after_something_else_goes() {
        // 0 can go only once 3 is gone.
        let mut ask = |sets: &[Vec<usize>]| {
            sets.iter().position(|gone| gone.len() < 4 && (!gone.contains(&0) || gone.contains(&3)))
        };
        assert_eq!(ddmin(4, 1, &mut ask).len(), 3);
    }
}
