//! Looking at every stage of a function's way to machine code.

use std::cell::RefCell;
use std::fmt::Write;

use tracewell_codegen::Target;
use tracewell_graph::{Graph, Location};
use tracewell_kernel::{Program, Role, Step};
use tracewell_runtime::Executable;
use tracewell_trace::{Api, Error, ErrorKind, boundary, complete, is_idle};

use crate::array::found_by;
use crate::checks::RETRACE;
use crate::pipeline::{self, Settings, Stages};

thread_local! {
    /// Set while `lower` waits for the first traced function.
    static WANTED: RefCell<Option<Option<Graph>>> = const { RefCell::new(None) };
}

/// Called with every graph traced for `jit`. The first that is not nested in another trace is wanted.
pub(crate) fn offer(graph: &Graph) {
    WANTED.with_borrow_mut(|wanted| {
        if let Some(slot @ None) = wanted
            && is_idle()
        {
            *slot = Some(graph.clone());
        }
    });
}

/// The stages of one function for one signature.
#[derive(Debug)]
pub struct Lowered {
    stages: Stages,
    executable: Executable,
}

/// Calls a function that calls a jitted one, and keeps every stage of the latter: `lower(|| predict(&l, &x))`.
///
/// The jitted function is traced anew, compiled and run. An error if none was called.
#[track_caller]
pub fn lower<R>(f: impl FnOnce() -> R) -> Result<Lowered, Error> {
    let location = Location::caller();
    WANTED.set(Some(None));
    // What is cached must be traced again for it to be seen.
    let ran = RETRACE.on(|| boundary(Api::Lower, None, &location, f));
    let graph = WANTED.take().flatten();
    ran?;
    let Some(graph) = graph else {
        let error =
            Error::new(ErrorKind::Structure, "`lower` was given a function that calls no jitted function");
        let error = error.help("mark the function with `jit!`, or use `jit(closure).lower(&x)`");
        return Err(complete(found_by(error, "lower", &[], &[]), &location));
    };
    Lowered::new(&graph).map_err(|error| complete(error, &location))
}

impl Lowered {
    /// Compiles a graph, keeping every stage.
    pub fn new(graph: &Graph) -> Result<Lowered, Error> {
        let stages = pipeline::lower(graph, &Settings::default())?;
        Ok(Lowered { executable: pipeline::compile(graph, &Settings::default())?, stages })
    }

    /// The graph as traced.
    pub fn graph(&self) -> &Graph {
        &self.stages.graph
    }

    /// The graph after the passes.
    pub fn optimized(&self) -> &Graph {
        &self.stages.optimized
    }

    /// The kernels and the memory they work on.
    pub fn program(&self) -> &Program {
        &self.stages.program
    }

    /// Cranelift's text of every kernel.
    pub fn clif(&self) -> String {
        let texts = self.stages.program.kernels.iter().map(|k| match tracewell_codegen::clif_text(k) {
            Ok(text) => text,
            Err(error) => format!("; {error}"),
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The machine code of every kernel.
    pub fn asm(&self) -> String {
        let mut text = String::new();
        for kernel in &self.stages.program.kernels {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{}:", kernel.name);
            let _ = match tracewell_codegen::compile(kernel, &Target::host().with_text()) {
                Ok(code) => writeln!(text, "{}", tracewell_codegen::disassemble(&code)),
                Err(error) => writeln!(text, "; {error}"),
            };
        }
        text
    }

    /// Estimated nanoseconds of one run on one core: what decides about threads.
    pub fn cost(&self) -> u64 {
        let program = &self.stages.program;
        let of = |step: &Step| match step {
            Step::Launch { kernel, sizes, cost, .. } => {
                let extent = program.kernels[*kernel].parallel_extent().map_or(1, |e| e.get(sizes).max(0));
                u64::from(*cost) * extent as u64
            }
            Step::Copy { .. } | Step::Call { .. } => 0,
        };
        program.steps.iter().map(of).sum()
    }

    /// Bytes that a run allocates: results and scratch.
    pub fn memory(&self) -> usize {
        let program = &self.stages.program;
        let output = |slot: &tracewell_kernel::Slot| match slot.role {
            Role::Output { .. } => slot.len * slot.dtype.size(),
            Role::Input(_) | Role::Temp { .. } | Role::Constant(_) => 0,
        };
        program.arena + program.slots.iter().map(output).sum::<usize>()
    }

    /// What runs.
    pub fn executable(&self) -> &Executable {
        &self.executable
    }
}
