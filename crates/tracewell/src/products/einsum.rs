//! `einsum("bij,bjk->bik", &[&a, &b])`: sums of products by the names of axes.

use std::collections::BTreeSet;

use tracewell_array::Shape;
use tracewell_graph::Location;
use tracewell_graph::prim::DotGeneral;

use super::formula::{Formula, Label};
use super::order::order;
use crate::Array;
use crate::array::{apply, common_dtype, found_by, or_raise};
use crate::linalg::diagonal;

/// Sums of products by Einstein's convention: each operand's axes are named by letters; axes of one name are walked
/// together, and those that are not in the result are summed. A name twice in one operand is its diagonal; `...` are
/// axes without names, broadcast; without `->` the result has every letter that occurs once, in the order of the
/// alphabet. Several operands are multiplied in the cheapest order.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (a, b) = (Array::ones([2, 3], F32), Array::ones([3, 4], F32));
/// assert_eq!(einsum("ij,jk->ik", &[&a, &b]).to_string(), a.dot(&b).to_string());
/// assert_eq!(einsum("ii", &[&Array::eye(3, F32)]).item::<f32>(), 3.0);
/// assert_eq!(einsum("...i->i...", &[&a]).shape().to_string(), "[3,2]");
/// ```
#[track_caller]
pub fn einsum(formula: &str, operands: &[&Array]) -> Array {
    let location = Location::caller();
    let shapes: Vec<&Shape> = operands.iter().map(|array| array.shape()).collect();
    let read = Formula::read(formula, &shapes);
    let read = read.map_err(|error| found_by(error, "einsum", operands, &[&formula]));
    let Formula { operands: names, result, sizes } = or_raise(read, &location);
    let types: Vec<_> = operands.iter().map(|array| array.ty()).collect();
    let (dtype, _) = common_dtype(&types);
    let mut terms: Vec<Term> = Vec::new();
    for (array, labels) in operands.iter().zip(names) {
        let array = if array.dtype() == dtype { (*array).clone() } else { array.convert(dtype) };
        let mut term = Term { array, labels };
        term.take_diagonals();
        // Axes of size 1 that are broadcast need not be there.
        term.drop_axes(|label, size| size != sizes[&label]);
        terms.push(term);
    }
    let wanted: BTreeSet<Label> = result.iter().copied().collect();
    let axes = |term: &Term| -> BTreeSet<Label> { term.labels.iter().copied().collect() };
    for i in 0..terms.len() {
        let needed = |label: &Label| {
            wanted.contains(label)
                || terms.iter().enumerate().any(|(j, t)| j != i && t.labels.contains(label))
        };
        let alone: Vec<Label> = terms[i].labels.iter().copied().filter(|label| !needed(label)).collect();
        terms[i].sum(&alone);
    }
    let sets: Vec<BTreeSet<Label>> = terms.iter().map(axes).collect();
    for (i, j) in order(&sets, &wanted, &sizes) {
        let b = terms.remove(j);
        let a = terms.remove(i);
        let needed = |label: &Label| wanted.contains(label) || terms.iter().any(|t| t.labels.contains(label));
        let product = a.times(b, needed, &location);
        terms.push(product);
    }
    let Some(term) = terms.pop() else {
        let error = tracewell_trace::Error::new(tracewell_trace::ErrorKind::Type, "`einsum` of no arrays");
        tracewell_trace::raise(error.help("give at least one"), &location)
    };
    let axes: Vec<isize> = result.iter().map(|label| term.place(*label) as isize).collect();
    if axes.iter().enumerate().all(|(i, &axis)| i as isize == axis) {
        term.array
    } else {
        term.array.permute(&axes)
    }
}

/// An array with names for its axes.
struct Term {
    array: Array,
    labels: Vec<Label>,
}

impl Term {
    fn place(&self, label: Label) -> usize {
        let place = self.labels.iter().position(|own| *own == label);
        place.expect("a result's axis is one of an operand, and kept")
    }

    /// Until no name stands twice.
    #[track_caller]
    fn take_diagonals(&mut self) {
        while let Some((i, j)) = twice(&self.labels) {
            let others: Vec<usize> = (0..self.labels.len()).filter(|k| ![i, j].contains(k)).collect();
            let axes: Vec<isize> = others.iter().chain(&[i, j]).map(|&axis| axis as isize).collect();
            let label = self.labels[i];
            self.array = diagonal(&self.array.permute(&axes));
            self.labels = others.iter().map(|&k| self.labels[k]).chain([label]).collect();
        }
    }

    /// Without axes of size 1 for which `which` holds.
    #[track_caller]
    fn drop_axes(&mut self, which: impl Fn(Label, usize) -> bool) {
        let kept: Vec<usize> =
            (0..self.labels.len()).filter(|&i| !which(self.labels[i], self.array.shape().size(i))).collect();
        if kept.len() < self.labels.len() {
            let shape: Shape = kept.iter().map(|&i| self.array.shape().size(i)).collect();
            self.array = self.array.reshape(shape);
            self.labels = kept.iter().map(|&i| self.labels[i]).collect();
        }
    }

    #[track_caller]
    fn sum(&mut self, labels: &[Label]) {
        if labels.is_empty() {
            return;
        }
        let axes: Vec<isize> = labels.iter().map(|label| self.place(*label) as isize).collect();
        self.array = self.array.sum_axes(&axes);
        self.labels.retain(|label| !labels.contains(label));
    }

    /// The product, summed over what both have and nobody needs.
    fn times(self, other: Term, needed: impl Fn(&Label) -> bool, location: &Location) -> Term {
        let both: Vec<Label> = self.labels.iter().copied().filter(|l| other.labels.contains(l)).collect();
        let (batch, contract): (Vec<Label>, Vec<Label>) = both.iter().partition(|label| needed(label));
        let places = |term: &Term, labels: &[Label]| labels.iter().map(|l| term.place(*l)).collect();
        let dot = DotGeneral {
            a_contract: places(&self, &contract),
            b_contract: places(&other, &contract),
            a_batch: places(&self, &batch),
            b_batch: places(&other, &batch),
        };
        let free = |term: &Term| -> Vec<Label> {
            term.labels.iter().copied().filter(|label| !both.contains(label)).collect()
        };
        let labels = [batch.clone(), free(&self), free(&other)].concat();
        let array = apply(dot, &[self.array.value().clone(), other.array.value().clone()], location);
        Term { array, labels }
    }
}

/// Two places of one name.
fn twice(labels: &[Label]) -> Option<(usize, usize)> {
    (0..labels.len()).find_map(|j| labels[..j].iter().position(|label| *label == labels[j]).map(|i| (i, j)))
}
