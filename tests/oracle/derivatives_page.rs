//! docs/derivatives.md: values and derivatives at edges, ours beside JAX's.
//!
//! The page is made here and compared with the file; `TRACEWELL_BLESS=1` writes it.

use std::fmt::Write as _;

use super::edges::{Answer, edges};

const HEAD: &str = "\
# Derivatives at edges

Made by `cargo xtask bless` from what the functions give; do not edit.

What a function and its derivative are where the function has a kink, a pole or a tie, or is no number.
A point of several numbers is an array, or the arguments in their order; the derivative is by each of them, in reverse \
mode and in `f64`.
The last column is `same` where JAX gives the same (`tests/oracle/edges.txt`, made by `tests/oracle/edges.py`), and \
what JAX gives where we differ on purpose; the reasons stand below the table.

Three rules explain most rows:

- At a tie or a kink the derivative is the mean of the slopes that meet there: of `max`, `min` and `abs`. \
`clamp` is flat at its bounds.
- A derivative is computed by the chain rule in floats, so that `0 * inf` on the way is NaN, even where the limit exists.
- `select` takes one branch, but the other is computed and differentiated too: a NaN or an infinity in its derivative \
becomes NaN when it is multiplied by zero. The way out is to choose an argument that is harmless first, then to choose \
the result: `select(&ok, select(&ok, x, 1.0).sqrt(), 0.0)`, the *double where*.

| function | point | value | derivative | JAX |
|---|---|---|---|---|
";

/// Where we differ on purpose: the function, and why.
const DIFFERENT: &[(&str, &str)] = &[
    (
        "abs(x)",
        "the derivative is the sign, so that at 0 it is the mean of both slopes, as it is for the equal `max(x, -x)`, \
         and of NaN it is NaN; JAX takes the slope from the right, and -1 for NaN",
    ),
    ("derivative of abs(x)", "as `abs(x)`"),
    ("derivative of x * abs(x)", "as `abs(x)`"),
    (
        "softplus(x)",
        "written with `abs`: with the sign as its derivative the formula is right at 0 too, where it is 1/2",
    ),
    (
        "pow(x, y)",
        "`x^0` is 1 for every `x`, so that its derivative by `x` is 0; JAX multiplies 0 by infinity at 0",
    ),
    ("pow(x, 0)", "as `pow(x, y)`"),
    ("derivative of pow(x, 1)", "as `pow(x, y)`: the second derivative of `x^1` is 0"),
    ("digamma(x)", "the limit from the right, as in SciPy; JAX gives NaN"),
    ("lgamma(x)", "the limit from the right, by `digamma(x)`; JAX gives NaN"),
];

/// The page, and what disagrees without a reason.
fn page() -> (String, Vec<String>) {
    let (mut page, mut wrong) = (HEAD.to_owned(), Vec::new());
    let mut reasons = vec![false; DIFFERENT.len()];
    for edge in edges() {
        let function = edge.function;
        let jax = if edge.ours.agrees(&edge.jax) {
            "same".to_owned()
        } else {
            let (value, slopes) = cells(&edge.jax);
            match DIFFERENT.iter().position(|(name, _)| *name == function) {
                Some(i) => reasons[i] = true,
                None => wrong.push(format!(
                    "{function} at {:?} is {:?}, JAX has {value}; {slopes}",
                    edge.point,
                    cells(&edge.ours)
                )),
            }
            format!("{value}; {slopes}")
        };
        let (value, slopes) = cells(&edge.ours);
        let _ = writeln!(page, "| `{function}` | {} | {value} | {slopes} | {jax} |", point(&edge.point));
    }
    page.push_str("\n## Where we differ\n\n");
    for ((function, reason), used) in DIFFERENT.iter().zip(reasons) {
        let _ = writeln!(page, "- `{function}`: {reason}.");
        if !used {
            wrong.push(format!("{function} is said to differ from JAX, and does not"));
        }
    }
    (page, wrong)
}

fn cells(answer: &Answer) -> (String, String) {
    (short(answer.value), list(&answer.slopes))
}

fn list(numbers: &[f64]) -> String {
    numbers.iter().map(|x| short(*x)).collect::<Vec<_>>().join(", ")
}

/// The same for a point, where the sign of a zero may matter.
fn point(numbers: &[f64]) -> String {
    let signed = |x: &f64| if *x == 0.0 { x.to_string() } else { short(*x) };
    numbers.iter().map(signed).collect::<Vec<_>>().join(", ")
}

/// Six digits; a zero has no sign.
fn short(x: f64) -> String {
    let rounded: f64 = format!("{x:.5e}").parse().unwrap_or(x) + 0.0;
    match rounded.abs() {
        size if size != 0.0 && size.is_finite() && !(1e-4..1e7).contains(&size) => format!("{rounded:e}"),
        _ => rounded.to_string(),
    }
}

#[test]
fn edges_agree_with_jax_and_the_page() {
    let (page, wrong) = page();
    assert!(wrong.is_empty(), "{} edges:\n{}", wrong.len(), wrong.join("\n"));
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/derivatives.md");
    if std::env::var_os("TRACEWELL_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page, "docs/derivatives.md is out of date: `cargo xtask bless` writes it");
}
