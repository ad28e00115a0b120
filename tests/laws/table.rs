//! All laws on all examples, counted by primitive and element type.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tracewell_array::{DType, Shape};
use tracewell_graph::{ArrayType, Example, ParamValue, Prim};

use super::rng::Rng;
use super::{LAWS, Law, Outcome};

/// Every example is checked on so many draws of inputs. All of it takes some seconds, most of them to compile.
const DRAWS: u64 = 4;

/// What is known of one law for one primitive and element type.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// On how many examples it holds.
    pub checked: usize,
    /// Why it says nothing about others.
    pub reasons: BTreeSet<&'static str>,
}

/// The laws, counted.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// For each primitive and element type, a cell for each of [`LAWS`].
    pub rows: BTreeMap<(String, DType), [Cell; LAWS.len()]>,
    /// What does not hold, each in one line.
    pub failures: Vec<String>,
}

/// Checks every law on every example of every built-in primitive.
pub fn table() -> Table {
    table_of(Prim::NAMES)
}

/// The same for some primitives.
pub fn table_of(names: &[&str]) -> Table {
    let mut table = Table::default();
    let examples = Prim::examples();
    for (i, example) in examples.iter().enumerate().filter(|(_, e)| names.contains(&e.prim.name())) {
        let row = table.rows.entry((example.prim.name().to_string(), dtype(example))).or_default();
        for (law, cell) in LAWS.iter().zip(row) {
            match draws(example, law, DRAWS * i as u64) {
                Ok(Outcome::Checked) => cell.checked += 1,
                Ok(Outcome::NotApplicable(reason)) => {
                    cell.reasons.insert(reason);
                }
                Err(why) => table.failures.push(why),
            }
        }
    }
    table.failures.extend(missing(names, &examples, &table));
    table
}

/// Checks one law on several draws; a panic is a failure that names the example like any other.
fn draws(example: &Example, law: &Law, first: u64) -> Result<Outcome, String> {
    let mut outcome = Outcome::NotApplicable("nothing was drawn");
    for seed in first..first + DRAWS {
        let example = &weakened(&reshaped(example, seed), seed);
        let checked = catch_unwind(AssertUnwindSafe(|| (law.check)(example, seed)));
        match checked.unwrap_or_else(|_| Err("panicked".to_string())) {
            Ok(drawn) if outcome != Outcome::Checked => outcome = drawn,
            Ok(_) => {}
            Err(why) => {
                let (name, prim, inputs) = (law.name, &example.prim, &example.inputs);
                return Err(format!("{name} of {prim:?} on {inputs:?}, seed {seed}: {why}"));
            }
        }
    }
    Ok(outcome)
}

/// A primitive that knows no shapes takes any: some draws are of a random one, up to rank 5, with axes of size 0
/// and 1 among them.
fn reshaped(example: &Example, seed: u64) -> Example {
    // One takes an operand for each axis of another, one needs an axis to search.
    let counts_axes = ["dynamic_update_slice", "searchsorted"].contains(&example.prim.name());
    let mut knows_shapes = example.inputs.is_empty() || counts_axes;
    example.prim.rules().each_param(&mut |_, value| {
        knows_shapes |= matches!(
            value,
            ParamValue::Ints(_)
                | ParamValue::Int(_)
                | ParamValue::Tensor(_)
                | ParamValue::Graph(_)
                | ParamValue::Graphs(_)
                | ParamValue::Types(_)
        );
    });
    let one_shape = example.inputs.iter().all(|ty| ty.shape == example.inputs[0].shape);
    if knows_shapes || !one_shape || seed.is_multiple_of(2) {
        return example.clone();
    }
    let mut rng = Rng::new(seed);
    let rank = rng.below(6);
    let shape: Shape = (0..rank).map(|_| [1, 1, 2, 2, 3, 5, 0][rng.below(7)]).collect();
    let inputs = example.inputs.iter().map(|ty| ty.with_shape(shape.clone())).collect();
    let reshaped = Example { prim: example.prim.clone(), inputs };
    // A primitive of matrices has no parameter that says so.
    let is_typed = reshaped.prim.rules().type_rule(&reshaped.inputs).is_ok();
    if is_typed { reshaped } else { example.clone() }
}

/// Rules must not mind weak operands, which come from literals in the user's program: some draws have none, some
/// one, some only such operands.
fn weakened(example: &Example, seed: u64) -> Example {
    let weak = |i: usize| match seed % DRAWS {
        0 => false,
        1 => i == 0,
        2 => i != 0,
        _ => true,
    };
    let types = example.inputs.iter().enumerate();
    let inputs = types.map(|(i, ty)| ArrayType { weak: weak(i), ..ty.clone() }).collect();
    Example { prim: example.prim.clone(), inputs }
}

/// The element type an example is about: that of its first operand that is not a mask, or of its result.
pub fn dtype(example: &Example) -> DType {
    let operands = || example.inputs.iter().map(|ty| ty.dtype);
    let results = || example.prim.rules().type_rule(&example.inputs).ok()?.first().map(|ty| ty.dtype);
    // Bools that become bools are no mask.
    if operands().next() == Some(DType::Bool) && results() == Some(DType::Bool) {
        return DType::Bool;
    }
    operands().find(|d| !d.is_bool()).or_else(|| operands().next()).or_else(results).unwrap_or(DType::Bool)
}

/// Primitives without an example, and element types that a primitive accepts but gives no example of.
fn missing(names: &[&str], examples: &[Example], table: &Table) -> Vec<String> {
    let mut missing = Vec::new();
    for &name in names {
        let mut of_name = examples.iter().filter(|example| example.prim.name() == name).peekable();
        if of_name.peek().is_none() {
            missing.push(format!("`{name}` has no example"));
        }
        let absent = DType::ALL.iter().filter(|&&d| !table.rows.contains_key(&(name.to_string(), d)));
        for &absent in absent {
            let accepted = |example: &Example| {
                let own = dtype(example);
                let swap = |ty: &ArrayType| if ty.dtype == own { ty.with_dtype(absent) } else { ty.clone() };
                let types: Vec<_> = example.inputs.iter().map(swap).collect();
                !types.is_empty() && example.prim.rules().type_rule(&types).is_ok()
            };
            if of_name.clone().any(accepted) {
                missing.push(format!("`{name}` accepts {absent} but has no example of it"));
            }
        }
    }
    missing
}

impl fmt::Display for Table {
    /// Counts of checked examples; then, for each law that was checked on none, why.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<16} {:<5}", "primitive", "dtype")?;
        for law in LAWS {
            write!(f, " {:>10}", law.name)?;
        }
        writeln!(f)?;
        let mut reasons: BTreeMap<(&str, &str), BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
        for ((name, dtype), cells) in &self.rows {
            write!(f, "{name:<16} {:<5}", dtype.name())?;
            for (law, cell) in LAWS.iter().zip(cells) {
                let count = if cell.checked == 0 { "-".to_string() } else { cell.checked.to_string() };
                write!(f, " {count:>10}")?;
                for reason in cell.reasons.iter().filter(|_| cell.checked == 0) {
                    let of_reason = reasons.entry((law.name, reason)).or_default();
                    of_reason.entry(name).or_default().push(dtype.name());
                }
            }
            writeln!(f)?;
        }
        for ((law, reason), names) in reasons {
            writeln!(f, "\nno {law}, because {reason}:")?;
            for (name, dtypes) in names {
                writeln!(f, "  {name:<16} {}", dtypes.join(" "))?;
            }
        }
        for failure in &self.failures {
            writeln!(f, "FAILED {failure}")?;
        }
        Ok(())
    }
}
