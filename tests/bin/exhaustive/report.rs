//! docs/math.md and the list of worst arguments.

use std::fs;
use std::path::{Path, PathBuf};

use tests::math::{Walk, f64_error, show};
use tracewell_kernel::math::{FUNCTIONS, Function};

use crate::state::State;

const HEAD: &str = "\
# Math functions

Written by `cargo xtask exhaustive`; do not edit.

Math functions are expansions into scalar operations (`crates/kernel/src/math`), so that every vector width and every rest of a loop gives the same bits.
This page says how far they are from the exact result, in units in the last place (ulp) of the exact result.
One half is what rounding alone may cost.

`f32` is measured on all 2^32 bit patterns, as machine code, against functions of `f64`.
Functions of two arguments have too many: they are measured on 2^26 pairs, every special value with every other and samples of all magnitudes.
`f64` is measured on stored results with more digits (`tests/math/f64.txt`, made by `tests/math/f64.py`): edges, neighbours of zeros and poles, borders of reductions, huge arguments, and random ones.
So the largest error of `f32` is the largest there is, and that of `f64` is the largest that was seen.

Infinity counts as the number after the largest one, subnormal results count in units of the smallest number.
NaN must meet NaN, and poles and zeros must be exact and have the right sign; the last column counts where they do not.

`stated` is the bound that the tests assert: on the worst arguments of this table, on a stride over all patterns, and on the stored results.
";

const TAIL: &str = "
`lgamma` of a negative argument crosses zero near every integer, where no digit of the result is left in the argument: its errors are in units of 1 where the result is smaller.
Those of `digamma` are in units of 1, or of `ln(2 - x)` for a negative `x`, where the result is smaller.
";

/// Writes both files from what is known; says whether all functions keep what they state.
pub(crate) fn write() -> Result<bool, String> {
    let mut rows = Vec::new();
    let mut good = true;
    for function in FUNCTIONS {
        let state = State::open(&Walk::new(function)?)?;
        if let Some((error, bits)) = state.tally.largest().filter(|(error, _)| *error > function.ulp[0]) {
            println!("FAILED {}: {error:.3} ulp at {}", function.name, show(function, bits));
            good = false;
        }
        rows.push((function, state));
    }
    put("docs/math.md", &page(&rows)?)?;
    put("tests/math/worst.txt", &worst(&rows))?;
    Ok(good)
}

/// A sentence about what is not done yet.
fn missing(rows: &[(&Function, State)]) -> String {
    let open = rows.iter().filter(|(_, state)| !state.complete());
    let open: Vec<String> =
        open.map(|(f, state)| format!("`{}` ({:.0} %)", f.name, 100.0 * state.progress())).collect();
    if open.is_empty() {
        return String::new();
    }
    format!("\nThe walk is not over; so far it has seen these parts of: {}.\n", open.join(", "))
}

fn put(path: &str, text: &str) -> Result<(), String> {
    fs::write(root().join(path), text).map_err(|error| format!("cannot write {path}: {error}"))?;
    println!("wrote {path}");
    Ok(())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page(rows: &[(&Function, State)]) -> Result<String, String> {
    let mut text = String::from(HEAD) + &missing(rows);
    text += "\n| function | `f32` largest | at | stated | `f64` largest seen | at | stated |\n|---|---|---|---|---|---|---|\n";
    for (function, state) in rows {
        let at = state.tally.largest().map_or("–".to_owned(), |(_, bits)| show(function, bits));
        let wide = f64_error(function)?;
        let [narrow_bound, wide_bound] = function.ulp;
        text += &format!(
            "| `{}` | {} | {at} | {narrow_bound} | {:.3} | {} | {wide_bound} |\n",
            function.name,
            largest(state),
            wide.error,
            wide.at,
        );
    }
    text += TAIL;
    text += "\n## How errors of `f32` are spread\n\n";
    text += "| function | arguments | at most ½ | at most 1 | at most 2 | more | special values wrong |\n|---|---|---|---|---|---|---|\n";
    for (function, state) in rows {
        let seen = state.tally.seen();
        let part = |count: u64| format!("{:.4} %", 100.0 * count as f64 / seen.max(1) as f64);
        let [half, one, two, more, wrong] = state.tally.counts;
        text += &format!(
            "| `{}` | {seen} | {} | {} | {} | {more} | {wrong} |\n",
            function.name,
            part(half),
            part(one),
            part(two),
        );
    }
    Ok(text)
}

/// The largest error, as it is printed everywhere.
fn largest(state: &State) -> String {
    state.tally.largest().map_or("–".to_owned(), |(error, _)| format!("{error:.3}"))
}

/// The largest error in the line of the function, then the bits of the worst arguments.
fn worst(rows: &[(&Function, State)]) -> String {
    let mut text = String::new();
    for (function, state) in rows {
        let so_far = if state.complete() { "" } else { " so far" };
        text += &format!("# {} {}{so_far}\n", function.name, largest(state));
        let width = 8 * function.arity();
        for (_, bits) in &state.tally.worst {
            text += &format!("{bits:0width$x}\n");
        }
    }
    text
}
