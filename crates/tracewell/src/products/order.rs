//! In which order operands are multiplied: the cheapest of all for a few, the cheapest next pair for many.

use std::collections::{BTreeMap, BTreeSet};

use super::formula::Label;

/// Up to so many operands every order is tried: 18 of four.
const EXHAUSTIVE: usize = 4;

type Axes = BTreeSet<Label>;

/// Pairs to multiply one after the other: places in the list of what is there, from which both are taken, and to whose
/// end the product is added.
pub(super) fn order(operands: &[Axes], result: &Axes, sizes: &BTreeMap<Label, usize>) -> Vec<(usize, usize)> {
    if operands.len() <= EXHAUSTIVE {
        return cheapest(operands, result, sizes).1;
    }
    let mut there = operands.to_vec();
    let mut pairs = Vec::new();
    while there.len() > 1 {
        let cost = |&(i, j): &(usize, usize)| cost(&there[i], &there[j], sizes);
        let best = all_pairs(there.len()).min_by(|a, b| cost(a).total_cmp(&cost(b)));
        let pair = best.expect("two operands have a pair");
        there = after(&there, pair, result);
        pairs.push(pair);
    }
    pairs
}

/// The least cost, and the order that has it.
fn cheapest(there: &[Axes], result: &Axes, sizes: &BTreeMap<Label, usize>) -> (f64, Vec<(usize, usize)>) {
    let ways = all_pairs(there.len()).map(|(i, j)| {
        let (rest, mut pairs) = cheapest(&after(there, (i, j), result), result, sizes);
        pairs.insert(0, (i, j));
        (cost(&there[i], &there[j], sizes) + rest, pairs)
    });
    ways.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
}

fn all_pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |i| (i + 1..count).map(move |j| (i, j)))
}

/// How many products are summed.
fn cost(a: &Axes, b: &Axes, sizes: &BTreeMap<Label, usize>) -> f64 {
    a.union(b).map(|label| sizes[label] as f64).product()
}

/// What is there after a pair was multiplied: axes that nobody needs any more are summed.
fn after(there: &[Axes], (i, j): (usize, usize), result: &Axes) -> Vec<Axes> {
    let mut left: Vec<Axes> =
        (0..there.len()).filter(|k| ![i, j].contains(k)).map(|k| there[k].clone()).collect();
    let needed = |label: &&Label| result.contains(label) || left.iter().any(|axes| axes.contains(label));
    let product = there[i].union(&there[j]).filter(needed).copied().collect();
    left.push(product);
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(text: &str) -> Axes {
        text.chars().map(Label::Letter).collect()
    }

    #[test]
    fn a_chain_begins_at_its_thin_end() {
        let sizes = [('a', 100), ('b', 100), ('c', 100), ('d', 1)];
        let sizes: BTreeMap<Label, usize> = sizes.map(|(c, n)| (Label::Letter(c), n)).into();
        let chain = [axes("ab"), axes("bc"), axes("cd")];
        assert_eq!(order(&chain, &axes("ad"), &sizes), [(1, 2), (0, 1)]);
        assert_eq!(order(&chain[..1], &axes("ab"), &sizes), []);
    }

    #[test]
    fn many_are_multiplied_too() {
        let names: Vec<char> = ('a'..='h').collect();
        let sizes: BTreeMap<Label, usize> = names.iter().map(|&c| (Label::Letter(c), 2)).collect();
        let chain: Vec<Axes> =
            names.windows(2).map(|pair| pair.iter().copied().map(Label::Letter).collect()).collect();
        assert_eq!(order(&chain, &axes("ah"), &sizes).len(), chain.len() - 1);
    }
}
