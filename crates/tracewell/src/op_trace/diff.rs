//! Comparing two op traces: the first op whose results differ.

use std::fmt;
use std::sync::Arc;

use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Graph, Location, Prim};
use tracewell_trace::{Error, complete};

use super::OpTrace;
use crate::executor::Compiled;
use crate::stepping::{Values, called, result_types, step};

/// From so many pairs of ops on, ops are paired by their order alone.
const MOST_PAIRS: usize = 1 << 24;

/// An op of one of two traces that are compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Side {
    /// The primitive.
    pub name: String,
    /// The calls that it is in, the outermost first.
    pub calls: Vec<String>,
    /// The user's line.
    pub location: Option<Location>,
    /// The element that differs.
    pub value: String,
}

/// The first op whose results differ.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// In the first trace.
    pub left: Side,
    /// In the second.
    pub right: Side,
    /// Which of its results, counted from 0.
    pub result: usize,
    /// Where the first element is that differs, by its row-major place.
    pub element: usize,
    /// The largest difference of all elements.
    pub largest: f64,
}

/// Two traces, compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Compared {
    /// How many ops are in both: the same primitive, with results of the same types, in the same order.
    pub matched: usize,
    /// How many are only in the first.
    pub only_left: usize,
    /// How many are only in the second.
    pub only_right: usize,
    /// The first of those in both whose results differ.
    pub first: Option<Difference>,
}

impl OpTrace {
    /// Compares two traces op by op, what is inside of `jit!` functions included, and finds the first whose results
    /// differ by more than `tolerance`, relative to 1 or to the larger of both numbers.
    ///
    /// Both are run again. Ops are paired by what they are; parameters may differ, and so may ops between.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from(2.0f32);
    /// let of = |f: &dyn Fn() -> Array| tracing_ops(TraceOptions::default(), f).1.unwrap();
    /// let left = of(&|| (x.exp() * 2.0).log());
    /// let right = of(&|| (x.exp() * 2.5).log());
    /// let first = left.diff(&right, 1e-6).unwrap().first.unwrap();
    /// assert_eq!(first.left.name, "mul");
    /// ```
    #[track_caller]
    pub fn diff(&self, other: &OpTrace, tolerance: f64) -> Result<Compared, Error> {
        let location = Location::caller();
        let compared = self.steps().and_then(|left| Ok(compare(&left, &other.steps()?, tolerance)));
        compared.map_err(|error| complete(error, &location))
    }

    /// Every primitive that ran, with its results, what is inside of `jit!` functions included.
    fn steps(&self) -> Result<Vec<Ran>, Error> {
        let arrays = self.run(&self.inputs())?;
        let mut all = Vec::new();
        for op in self.ops() {
            let calls: Vec<String> = op.calls().iter().map(|call| call.what.clone()).collect();
            match called(&op.record.prim) {
                Some(graph) if !graph.has_effect() => {
                    let operands = op.record.operands(&arrays).into_iter().map(Some).collect::<Vec<_>>();
                    inside(graph, &operands, &calls, &mut all)?;
                }
                _ => all.push(Ran {
                    prim: op.record.prim.clone(),
                    types: op.record.types.clone(),
                    results: op.outputs().map(|number| arrays[number].clone()).collect(),
                    calls,
                    location: Some(op.record.location.clone()),
                }),
            }
        }
        Ok(all)
    }
}

/// A primitive that ran.
struct Ran {
    prim: Prim,
    types: Vec<ArrayType>,
    results: Vec<Tensor>,
    calls: Vec<String>,
    location: Option<Location>,
}

fn inside(
    graph: &Arc<Graph>,
    inputs: &[Option<Tensor>],
    calls: &[String],
    all: &mut Vec<Ran>,
) -> Result<(), Error> {
    let mut values = Values::new(graph, inputs);
    for equation in &graph.equations {
        let (operands, types) = (values.operands(equation), result_types(graph, equation));
        let results = step(&equation.prim, &operands, &types, &Compiled)?;
        if let Some(inner) = called(&equation.prim) {
            let calls: Vec<String> = calls.iter().cloned().chain([format!("jit {}", inner.name)]).collect();
            inside(inner, &operands, &calls, all)?;
        } else {
            let (prim, location) = (equation.prim.clone(), equation.location.clone());
            let results = results.clone().unwrap_or_default();
            all.push(Ran { prim, types, results, calls: calls.to_vec(), location });
        }
        values.keep(equation, results);
    }
    Ok(())
}

impl Ran {
    fn is_like(&self, other: &Ran) -> bool {
        let plain =
            |types: &[ArrayType]| types.iter().map(|ty| (ty.dtype, ty.shape.clone())).collect::<Vec<_>>();
        self.prim.name() == other.prim.name() && plain(&self.types) == plain(&other.types)
    }

    fn side(&self, result: usize, element: usize) -> Side {
        Side {
            name: self.prim.name().to_string(),
            calls: self.calls.clone(),
            location: self.location.clone(),
            value: self.results[result].literal(element).to_string(),
        }
    }
}

fn compare(left: &[Ran], right: &[Ran], tolerance: f64) -> Compared {
    let pairs = pairs(left, right);
    let first = pairs.iter().find_map(|&(l, r)| differs(&left[l], &right[r], tolerance));
    let matched = pairs.len();
    Compared { matched, only_left: left.len() - matched, only_right: right.len() - matched, first }
}

/// The longest list of ops that both have in the same order.
fn pairs(left: &[Ran], right: &[Ran]) -> Vec<(usize, usize)> {
    let (n, m) = (left.len(), right.len());
    if n.saturating_mul(m) > MOST_PAIRS {
        let both = left.iter().zip(right).enumerate().filter(|(_, (l, r))| l.is_like(r));
        return both.map(|(at, _)| (at, at)).collect();
    }
    // The length of the longest list from each pair on, row by row from the end.
    let mut longest = vec![0u32; (n + 1) * (m + 1)];
    for l in (0..n).rev() {
        for r in (0..m).rev() {
            longest[l * (m + 1) + r] = if left[l].is_like(&right[r]) {
                longest[(l + 1) * (m + 1) + r + 1] + 1
            } else {
                longest[(l + 1) * (m + 1) + r].max(longest[l * (m + 1) + r + 1])
            };
        }
    }
    let (mut l, mut r, mut found) = (0, 0, Vec::new());
    while l < n && r < m {
        if left[l].is_like(&right[r]) {
            found.push((l, r));
            (l, r) = (l + 1, r + 1);
        } else if longest[(l + 1) * (m + 1) + r] >= longest[l * (m + 1) + r + 1] {
            l += 1;
        } else {
            r += 1;
        }
    }
    found
}

fn differs(left: &Ran, right: &Ran, tolerance: f64) -> Option<Difference> {
    for (result, (a, b)) in left.results.iter().zip(&right.results).enumerate() {
        let distance = |at: usize| {
            let (x, y) = (a.literal(at).as_complex(), b.literal(at).as_complex());
            let same = a.literal(at) == b.literal(at) || x == y || (x.is_nan() && y.is_nan());
            let distance = if same { 0.0 } else { (x - y).norm() };
            (distance, distance <= tolerance * x.norm().max(y.norm()).max(1.0))
        };
        // Written so that NaN beside a number is a difference.
        if let Some(element) = (0..a.len()).find(|&at| !distance(at).1) {
            let largest = (0..a.len())
                .map(|at| distance(at).0)
                .fold(0.0, |most: f64, d| if d > most || d.is_nan() { d } else { most });
            let (left, right) = (left.side(result, element), right.side(result, element));
            return Some(Difference { left, right, result, element, largest });
        }
    }
    None
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` gives {}", self.name, self.value)?;
        for call in self.calls.iter().rev() {
            write!(f, ", in {call}")?;
        }
        match &self.location {
            Some(location) => write!(f, ", at {location}"),
            None => Ok(()),
        }
    }
}

/// Both sides, and by how much they differ.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "left:  {}", self.left)?;
        writeln!(f, "right: {}", self.right)?;
        write!(f, "at element {}; the largest difference is {:e}", self.element, self.largest)
    }
}
