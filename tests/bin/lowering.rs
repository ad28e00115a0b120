//! `cargo xtask lowering`: what becomes of every primitive, by compiling its examples and running them.
//!
//! There is no engine but the compiler: a primitive that does not compile fails here, and so does one whose machine
//! code disagrees with the evaluator.

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use tests::differential::{Compiled, WAYS};
use tests::laws::{LAWS, dtype};
use tracewell_array::DType;
use tracewell_graph::{Atom, Example, Graph, GraphBuilder, Lowering, Prim};
use tracewell_kernel::Step;

/// What is known of one primitive and element type.
#[derive(Default)]
struct Row {
    examples: usize,
    /// What its examples become.
    becomes: BTreeSet<&'static str>,
    /// Kernels launched and library functions called, in all examples together.
    launches: usize,
    calls: usize,
}

fn main() -> ExitCode {
    if std::env::args().len() > 1 {
        println!("lowering: compiles every example of every primitive. It takes no arguments.");
        return ExitCode::SUCCESS;
    }
    let mut rows: BTreeMap<(String, DType), Row> = BTreeMap::new();
    let mut failures = Vec::new();
    for (seed, example) in Prim::examples().iter().enumerate() {
        let row = rows.entry((example.prim.name().to_owned(), dtype(example))).or_default();
        row.examples += 1;
        if let Err(why) = try_example(example, seed as u64, row) {
            failures.push(format!("{:?} on {:?}: {why}", example.prim, example.inputs));
        }
    }
    println!(
        "{:<16} {:<5} {:<24} {:>8} {:>8} {:>6}",
        "primitive", "dtype", "becomes", "examples", "launches", "calls"
    );
    for ((name, dtype), Row { examples, becomes, launches, calls }) in &rows {
        let becomes = becomes.iter().copied().collect::<Vec<_>>().join(", ");
        println!("{name:<16} {:<5} {becomes:<24} {examples:>8} {launches:>8} {calls:>6}", dtype.name());
    }
    for failure in &failures {
        println!("FAILED {failure}");
    }
    let examples: usize = rows.values().map(|row| row.examples).sum();
    println!("\n{examples} examples of {} primitives, {} failures", Prim::NAMES.len(), failures.len());
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Compiles an example, then compares its machine code with the evaluator as the law does.
fn try_example(example: &Example, seed: u64, row: &mut Row) -> Result<(), String> {
    let graph = single(example)?;
    row.becomes.insert(becomes(example, &graph)?);
    let compiled = Compiled::new(&graph, WAYS[0])?;
    for step in &compiled.program().steps {
        match step {
            Step::Launch { .. } => row.launches += 1,
            Step::Copy { .. } => {}
            Step::Call { .. } => row.calls += 1,
        }
    }
    let law = LAWS.iter().find(|law| law.name == "compiled").ok_or("there is no law of compilation")?;
    (law.check)(example, seed).map(drop)
}

fn single(example: &Example) -> Result<Graph, String> {
    let mut builder = GraphBuilder::new();
    let operands: Vec<Atom> = example.inputs.iter().map(|ty| builder.input(ty.clone()).into()).collect();
    let outputs = builder.bind(example.prim.clone(), &operands).map_err(|error| error.to_string())?;
    Ok(builder.finish(example.prim.name(), outputs.into_vec()))
}

/// Where the work is done, by what the primitive says of itself.
fn becomes(example: &Example, graph: &Graph) -> Result<&'static str, String> {
    let lowering = example.prim.rules().lower(&graph.input_types(), &graph.output_types());
    Ok(match lowering.map_err(|error| error.to_string())? {
        Lowering::Map(_)
        | Lowering::View(_)
        | Lowering::Reduce { .. }
        | Lowering::Count { .. }
        | Lowering::Lookup(_)
        | Lowering::Pieces(_) => "kernel",
        Lowering::Kernel(_) => "kernel",
        Lowering::Update(_) => "update",
        Lowering::Control(_) => "control flow",
        Lowering::Library(_) => "library",
        Lowering::Graph(_) | Lowering::Late(_) => "composition",
        Lowering::Constant(_) => "constant",
        Lowering::Parts => "parts",
    })
}
