//! Values and derivatives beside JAX's: every row of values.txt and its kin, computed at once and jitted, and in `f32`.
//!
//! A composition is a function of one array. It stands here and in a script, which stores what JAX makes of it.

mod calculus;
mod complex;
mod densities;
mod derivatives_page;
mod draws;
mod edges;
mod indexing;
mod kinds;
mod linalg;
mod nested;
mod networks;
mod shapes;
mod sorting;
mod windows;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use kinds::Kind;
use tracewell::prelude::*;

/// The files of rows with how many each has, so that none gets lost.
const FILES: [(&str, usize); 4] = [
    (include_str!("values.txt"), 339),
    (include_str!("indexing.txt"), 168),
    (include_str!("linalg.txt"), 292),
    (include_str!("windows.txt"), 185),
];

/// A function of one array, and where.
#[derive(Clone, Copy)]
struct Composition {
    name: &'static str,
    x: fn() -> Array,
    f: fn(&Array) -> Array,
}

const fn of(name: &'static str, x: fn() -> Array, f: fn(&Array) -> Array) -> Composition {
    Composition { name, x, f }
}

const GROUPS: [(&str, &[Composition]); 8] = [
    ("networks", networks::ALL),
    ("densities", densities::ALL),
    ("calculus", calculus::ALL),
    ("shapes", shapes::ALL),
    ("nested", nested::ALL),
    ("linalg", linalg::ALL),
    ("indexing", indexing::ALL),
    ("windows", windows::ALL),
];

/// `sin(0.7 i + phase)` for the `i`-th element, as make.py has it; of the element type of another array.
fn wave(shape: impl Into<Shape>, phase: f64, like: &Array) -> Array {
    at(shape, phase).convert(like.dtype())
}

/// The same as an input.
fn at(shape: impl Into<Shape>, phase: f64) -> Array {
    let shape = shape.into();
    let elements: Vec<f64> = (0..shape.len()).map(|i| (0.7 * i as f64 + phase).sin()).collect();
    Array::from(elements).reshape(shape)
}

/// A constant of the element type of another array.
fn numbers<const N: usize>(elements: [f64; N], like: &Array) -> Array {
    Array::from(elements).convert(like.dtype())
}

/// A line of such a file.
struct Row {
    group: &'static str,
    composition: &'static str,
    kind: &'static str,
    shape: Shape,
    elements: Vec<f64>,
}

impl Row {
    fn name(&self) -> String {
        format!("{}/{}/{}", self.group, self.composition, self.kind)
    }
}

fn rows() -> Vec<Row> {
    FILES.into_iter().flat_map(|(text, _)| rows_of(text)).collect()
}

fn rows_of(text: &'static str) -> Vec<Row> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| row(line).unwrap_or_else(|| panic!("not a row: {line}"))).collect()
}

fn row(line: &'static str) -> Option<Row> {
    let (name, rest) = line.split_once(": [")?;
    let (shape, elements) = rest.split_once(']')?;
    let mut parts = name.split('/');
    Some(Row {
        group: parts.next()?,
        composition: parts.next()?,
        kind: parts.next()?,
        shape: shape.split(',').filter(|n| !n.is_empty()).map(|n| n.parse::<usize>().unwrap()).collect(),
        elements: elements.split_whitespace().map(|n| n.parse().unwrap()).collect(),
    })
}

/// In what way a result differs from a row by more than a part of the row's largest number; NaN equals only NaN.
fn difference(found: &Array, row: &Row, tolerance: f64) -> Option<String> {
    if *found.shape() != row.shape {
        return Some(format!("its shape is {}, expected {}", found.shape(), row.shape));
    }
    let finite = row.elements.iter().filter(|y| y.is_finite());
    let allowed = tolerance * finite.fold(0.0f64, |largest, y| largest.max(y.abs()));
    let mut pairs = crate::numbers(found).into_iter().zip(&row.elements).enumerate();
    let differs = |(x, y): (f64, f64)| !((x - y).abs() <= allowed || x == y || x.is_nan() && y.is_nan());
    let (i, (x, y)) = pairs.find(|(_, (x, y))| differs((*x, **y)))?;
    Some(format!("its element {i} is {x:?}, JAX has {y:?}, allowed are ±{allowed:.1e}"))
}

/// Checks one row in one way; what is wrong says which row it is about.
fn check(row: &Row, way: &str, tolerance: f64, compute: impl Fn() -> Array) -> Option<String> {
    let found = catch_unwind(AssertUnwindSafe(compute));
    let wrong = match found {
        Ok(found) => difference(&found, row, tolerance)?,
        Err(_) => "it panics, see above".to_string(),
    };
    Some(format!("{} {way}: {wrong}", row.name()))
}

/// Where numbers are too far apart for a comparison in `f32`.
const NOT_IN_F32: &[&str] = &["log_sum_exp_of_large", "cumlogsumexp_of_large"];

fn check_group(group: &str) {
    let (_, compositions) = GROUPS.iter().find(|(name, _)| *name == group).unwrap();
    check_rows(group, compositions, &rows());
}

fn check_rows(group: &str, compositions: &[Composition], rows: &[Row]) {
    let mut failures = Vec::new();
    let mut used = BTreeSet::new();
    for row in rows.iter().filter(|row| row.group == group) {
        let composition = compositions.iter().find(|c| c.name == row.composition);
        let (Some(Composition { x, f, .. }), Some(kind)) = (composition, Kind::named(row.kind)) else {
            failures.push(format!("{} has no function here", row.name()));
            continue;
        };
        used.insert(row.composition);
        let (x, f) = (x(), *f);
        failures.extend(check(row, "at once", 1e-10, || kind.of(f, &x)));
        failures.extend(check(row, "jitted", 1e-10, || jit(move |x: &Array| kind.of(f, x)).call(&x)));
        // Another type draws other bits.
        let in_f32 = group != "random" && matches!(kind, Kind::Value | Kind::Grad);
        if in_f32 && !NOT_IN_F32.contains(&row.composition) {
            failures.extend(check(row, "in f32", 1e-5, || {
                jit(move |x: &Array| kind.of(f, x)).call(&x.convert(F32))
            }));
        }
    }
    let unused = compositions.iter().filter(|c| !used.contains(c.name));
    failures.extend(unused.map(|c| format!("{group}/{} has no row: run its script", c.name)));
    assert!(failures.is_empty(), "{} disagreements with JAX:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn networks_agree_with_jax() {
    check_group("networks");
}

#[test]
fn densities_agree_with_jax() {
    check_group("densities");
}

#[test]
fn calculus_agrees_with_jax() {
    check_group("calculus");
}

#[test]
fn shapes_agree_with_jax() {
    check_group("shapes");
}

#[test]
fn nested_transforms_agree_with_jax() {
    check_group("nested");
}

#[test]
fn linear_algebra_agrees_with_jax() {
    check_group("linalg");
}

#[test]
fn indexing_agrees_with_jax() {
    check_group("indexing");
}

#[test]
fn windows_agree_with_jax() {
    check_group("windows");
}

#[test]
fn no_row_is_lost() {
    for (text, count) in FILES {
        assert_eq!(rows_of(text).len(), count, "rows of {:?}", text.lines().next());
    }
    let rows = rows();
    let names: BTreeSet<String> = rows.iter().map(Row::name).collect();
    assert_eq!(names.len(), rows.len(), "a row occurs twice");
    for row in &rows {
        assert!(GROUPS.iter().any(|(group, _)| *group == row.group), "{} is in no group", row.name());
        assert_eq!(row.elements.len(), row.shape.len(), "elements of {}", row.name());
    }
}

/// A wrong row is noticed and named.
#[test]
fn a_wrong_row_names_itself() {
    let mut row = row("calculus/norm/value: [2] 1.0 nan").unwrap();
    let compute = |elements: [f64; 2]| move || Array::from(elements);
    assert_eq!(check(&row, "at once", 1e-10, compute([1.0, f64::NAN])), None);
    let wrong = check(&row, "at once", 1e-10, compute([1.0 + 1e-9, f64::NAN])).unwrap();
    assert!(wrong.starts_with("calculus/norm/value at once: its element 0 is 1.000000001"), "{wrong}");
    assert!(check(&row, "at once", 1e-10, compute([1.0, 1.0])).is_some());
    assert!(check(&row, "at once", 1e-10, compute([f64::NAN, f64::NAN])).is_some());
    row.shape = Shape::from([1, 2]);
    assert!(check(&row, "at once", 1e-10, compute([1.0, f64::NAN])).is_some());
}
