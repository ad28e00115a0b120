//! The whole compiler, top to bottom: each arrow of docs/architecture.md is a line here.
//!
//! ```text
//! Graph ──verify──▶ optimize ──verify──▶ fuse ──▶ Program ──verify, codegen──▶ Executable
//! ```

use tracewell_array::Shape;
use tracewell_fuse::{Options, fuse};
use tracewell_graph::{Graph, verify};
use tracewell_kernel::Program;
use tracewell_optimize::{PIPELINE, optimize_with};
use tracewell_runtime::Executable;
use tracewell_trace::Error;

/// What compilation is asked for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Settings {
    /// For each input, whether its memory may be given away. Missing ones are not.
    pub donated: Vec<bool>,
    /// How many of the optimisation passes run.
    pub passes: usize,
    /// Whether equations share kernels.
    pub fusion: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { donated: Vec::new(), passes: PIPELINE.len(), fusion: true }
    }
}

/// Every stage of one graph's way to a program.
#[derive(Clone, Debug)]
pub struct Stages {
    /// As traced.
    pub graph: Graph,
    /// After the passes.
    pub optimized: Graph,
    /// What is compiled.
    pub program: Program,
}

/// Graph to machine code.
pub fn compile(graph: &Graph, settings: &Settings) -> Result<Executable, Error> {
    let stages = lower(graph, settings)?;
    let shapes: Vec<Shape> = graph.output_types().into_iter().map(|t| t.shape).collect();
    Executable::new(stages.program, shapes).map_err(Error::bug)
}

/// Graph to program, keeping every stage.
pub fn lower(graph: &Graph, settings: &Settings) -> Result<Stages, Error> {
    check("the traced graph", graph)?;
    let mut broken = Ok(());
    let optimized = optimize_with(graph, settings.passes, &mut |pass, result| {
        if broken.is_ok() && cfg!(debug_assertions) {
            broken = check(&format!("the graph after `{pass}`"), result);
        }
    });
    broken?;
    let options = Options { donated: settings.donated.clone(), fusion: settings.fusion };
    let program = fuse(&optimized, &options).map_err(Error::bug)?;
    Ok(Stages { graph: graph.clone(), optimized, program })
}

/// A graph that does not verify is a bug of whoever made it.
fn check(what: &str, graph: &Graph) -> Result<(), Error> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    verify(graph).map_err(|errors| Error::bug(format!("{what} does not verify:\n{errors}")))
}
