//! docs/primitives.md: every primitive, what it computes, and how it is differentiated and compiled.
//!
//! The page is made here, from the primitives themselves, and compared with the file; `TRACEWELL_BLESS=1` writes it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tracewell_array::DType;
use tracewell_graph::text::write;
use tracewell_graph::{Example, GraphBuilder, Lowering, Prim, RuleError};
use tracewell_transform::jvp;

use crate::laws::dtype;

const HEAD: &str = "\
# Primitives

Made by `cargo xtask bless` from the primitives themselves; do not edit.

What functions are traced into.
Operands of one primitive have one element type and one shape, unless the text says otherwise; conversion and \
broadcasting are primitives of their own.
*Derivative*: `yes`; `zero`, where the result does not change with the operands, or says so; `-`, where the result \
has no tangent because it is not a float; `none`, where asking for one is an error.
*Compiled as*: `map`, `view`, `lookup`, `pieces`, `count` and `reduce` are parts of kernels; `library` is a call on whole \
arrays; `composition` is other primitives.

";

/// The page.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    page.push_str(
        "| primitive | what it computes | for example | element types | derivative | compiled as |\n",
    );
    page.push_str("|---|---|---|---|---|---|\n");
    for (name, doc) in Prim::DOCS {
        let examples: Vec<Example> =
            Prim::examples().into_iter().filter(|example| example.prim.name() == *name).collect();
        let doc: Vec<&str> = doc.lines().map(str::trim).collect();
        let doc = doc.join(" ").trim().replace('|', "\\|");
        // The largest element types are the most usual ones.
        let has_axes = |e: &&Example| e.inputs.iter().all(|ty| ty.rank() > 0);
        let Some(example) = examples.iter().rev().find(has_axes).or(examples.last()) else { continue };
        let all: BTreeSet<DType> = examples.iter().map(dtype).collect();
        let all: Vec<&str> = all.into_iter().map(DType::name).collect();
        let (derivative, lowering) = (derivative(&examples), lowering(example));
        let equation = equation(example);
        let _ = writeln!(
            page,
            "| `{name}` | {doc} | {equation} | {} | {derivative} | {lowering} |",
            all.join(" ")
        );
    }
    page
}

/// The one equation of the example's graph, if it fits in a line.
fn equation(example: &Example) -> String {
    let mut builder = GraphBuilder::new();
    let operands: Vec<_> = example.inputs.iter().map(|ty| builder.input(ty.clone()).into()).collect();
    let Ok(outputs) = builder.bind(example.prim.clone(), &operands) else { return String::new() };
    let text = write(&builder.finish("f", outputs.into_vec()));
    let inside: Vec<&str> = text.lines().filter(|line| line.starts_with("  ")).collect();
    match inside.as_slice() {
        [equation, _] => format!("`{}`", equation.trim()),
        _ => String::new(),
    }
}

/// What becomes of tangents.
pub fn derivative(examples: &[Example]) -> &'static str {
    let of = |example: &Example| {
        let mut builder = GraphBuilder::new();
        let operands: Vec<_> = example.inputs.iter().map(|ty| builder.input(ty.clone()).into()).collect();
        let outputs = builder.bind(example.prim.clone(), &operands).ok()?;
        let graph = builder.finish("f", outputs.into_vec());
        let active: Vec<bool> = graph.input_types().iter().map(|ty| ty.dtype.is_inexact()).collect();
        if !active.contains(&true) || !graph.output_types().iter().any(|ty| ty.dtype.is_inexact()) {
            return Some("-");
        }
        match jvp(&graph, &active) {
            Ok((_, tangents)) if tangents.contains(&true) => Some("yes"),
            Ok(_) => Some("zero"),
            Err(RuleError::NotDifferentiable { .. }) => Some("none"),
            Err(_) => None,
        }
    };
    let all: Vec<&str> = examples.iter().filter_map(of).collect();
    ["yes", "none", "zero"].into_iter().find(|kind| all.contains(kind)).unwrap_or("-")
}

fn lowering(example: &Example) -> &'static str {
    let rules = example.prim.rules();
    let Ok(outputs) = rules.type_rule(&example.inputs) else { return "-" };
    match rules.lower(&example.inputs, &outputs) {
        Ok(Lowering::Map(_)) => "map",
        Ok(Lowering::View(_)) => "view",
        Ok(Lowering::Reduce { .. }) => "reduce",
        Ok(Lowering::Count { .. }) => "count",
        Ok(Lowering::Lookup(_)) => "lookup",
        Ok(Lowering::Pieces(_)) => "pieces",
        Ok(Lowering::Kernel(_)) => "kernel",
        Ok(Lowering::Update(_)) => "update",
        Ok(Lowering::Control(_)) => "control flow",
        Ok(Lowering::Library(_)) => "library",
        Ok(Lowering::Constant(_)) => "constant",
        Ok(Lowering::Parts) => "parts",
        Ok(Lowering::Graph(_) | Lowering::Late(_)) => "composition",
        Err(_) => "-",
    }
}
