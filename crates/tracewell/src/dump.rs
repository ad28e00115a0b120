//! `TRACEWELL_LOG` and `TRACEWELL_DUMP`: every trace and compile told of, and its stages written into a folder.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tracewell_graph::{ArrayType, Graph};
use tracewell_kernel::Step;
use tracewell_runtime::Executable;

use crate::config;
use crate::jit::{asm, clif};
use crate::pipeline::{Settings, lower};

/// The stages that can be written, with the ends of their files' names.
const STAGES: &[(&str, &str)] =
    &[("traced", "ir"), ("optimized", "ir"), ("program", "txt"), ("clif", "clif"), ("asm", "s")];

/// A jitted function was traced.
pub(crate) fn traced(function: &str, graph: &Graph, time: Duration) {
    if config::logs() {
        say(&format!(
            "traced `{function}` in {}: {} equations, {}",
            short(time),
            graph.equations.len(),
            types(graph)
        ));
    }
}

/// A graph was compiled.
pub(crate) fn compiled(graph: &Graph, settings: &Settings, made: &Executable, time: Duration) {
    if config::logs() {
        let program = made.program();
        let calls = program.steps.iter().filter(|step| matches!(step, Step::Call { .. })).count();
        let (name, kernels) = (&graph.name, program.kernels.len());
        let what = format!("{} equations, {kernels} kernels, {calls} library calls", graph.equations.len());
        say(&format!("compiled `{name}` in {}: {what}, {}", short(time), types(graph)));
    }
    let stages = config::dumped_stages();
    if stages.is_empty() {
        return;
    }
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = config::dump_folder();
    if let Err(error) = write(&folder, number, graph, settings, stages) {
        // What is watched goes on.
        say(&format!("cannot write stages into `{}`: {error}", folder.display()));
    }
}

fn write(
    folder: &Path,
    number: u64,
    graph: &Graph,
    settings: &Settings,
    stages: &[String],
) -> Result<(), Box<dyn std::error::Error>> {
    std::fs::create_dir_all(folder)?;
    // It has just been compiled, so that it can be lowered once more.
    let made = lower(graph, settings)?;
    for stage in stages {
        let Some((name, end)) = STAGES.iter().find(|(name, _)| name == stage) else {
            let known: Vec<&str> = STAGES.iter().map(|(name, _)| *name).collect();
            return Err(format!("there is no stage `{stage}`; there are {}", known.join(", ")).into());
        };
        let text = match *name {
            "traced" => tracewell_graph::text::write_with_locations(&made.graph),
            "optimized" => tracewell_graph::text::write_with_locations(&made.optimized),
            "program" => made.program.to_string(),
            "clif" => clif(&made.program),
            _ => asm(&made.program),
        };
        std::fs::write(folder.join(format!("{number:04}-{}.{name}.{end}", plain(&graph.name))), text)?;
    }
    Ok(())
}

/// A name that is one of a file everywhere.
fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    name.chars().take(60).map(plain).collect()
}

fn types(graph: &Graph) -> String {
    let list = |types: &[ArrayType]| {
        let few: Vec<String> = types.iter().take(8).map(ToString::to_string).collect();
        format!("({}{})", few.join(", "), if types.len() > 8 { ", …" } else { "" })
    };
    format!("{} -> {}", list(&graph.input_types()), list(&graph.output_types()))
}

/// In milliseconds, with three digits behind the point.
fn short(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

#[allow(clippy::print_stderr, reason = "the user asked for it by a variable")]
fn say(text: &str) {
    eprintln!("tracewell: {text}");
}
