//! The whole compiler, top to bottom: each arrow of docs/architecture.md is a line here.
//!
//! ```text
//! Graph ──verify──▶ optimize ──verify──▶ fuse ──▶ Program ──verify, codegen──▶ Executable
//! ```

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use tracewell_codegen::{Loops, Target};
use tracewell_fuse::{Options, fuse};
use tracewell_graph::{Graph, Prim, verify};
use tracewell_kernel::Program;
use tracewell_kernel::steps::{Fault, broken};
use tracewell_optimize::{PIPELINE, optimize_with};
use tracewell_runtime::Executable;
use tracewell_trace::{Error, ErrorKind};

/// What compilation is asked for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Settings {
    /// For each input, whether its memory may be given away. Missing ones are not.
    pub donated: Vec<bool>,
    /// How many of the optimisation passes run.
    pub passes: usize,
    /// Whether equations share kernels.
    pub fusion: bool,
    /// How loops are written.
    pub loops: Loops,
    /// A step that is broken on purpose.
    #[doc(hidden)]
    pub broken: Option<Fault>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            donated: Vec::new(),
            passes: PIPELINE.len(),
            fusion: true,
            loops: Loops::default(),
            broken: broken(),
        }
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
    let types = graph.output_types().into_iter().map(|ty| (ty.dtype, ty.shape)).collect();
    let made = match (settings.loops, settings.broken) {
        (Loops::Vectors, None) => Executable::new(stages.program, types),
        (loops, _) => Executable::on(stages.program, types, &Target::host().with_loops(loops)),
    };
    made.map_err(|error| blame(&stages.optimized, &error))
}

/// Graph to program, keeping every stage.
pub fn lower(graph: &Graph, settings: &Settings) -> Result<Stages, Error> {
    check("the traced graph", graph)?;
    let optimized = optimized(graph, settings)?;
    let options =
        Options { donated: settings.donated.clone(), fusion: settings.fusion, ..Options::default() };
    let program = guarded(|| fuse(&optimized, &options))
        .map_err(|text| blame(&optimized, &Panicked { step: "fusion".to_string(), text }))?
        .map_err(|error| blame(&optimized, &error))?;
    Ok(Stages { graph: graph.clone(), optimized, program })
}

/// The graph after as many passes as are asked for.
pub(crate) fn optimized(graph: &Graph, settings: &Settings) -> Result<Graph, Error> {
    let (mut wrong, mut done) = (Ok(()), 0);
    let mut watch = |pass: &str, result: &Graph| {
        done += 1;
        if wrong.is_ok() && cfg!(debug_assertions) {
            wrong = check(&format!("the graph after `{pass}`"), result);
        }
    };
    let after = guarded(|| optimize_with(graph, settings.passes, &mut watch));
    let panicked = |text| {
        let step =
            PIPELINE.get(done).map_or("optimisation".to_string(), |pass| format!("pass `{}`", pass.name));
        blame(graph, &Panicked { step, text })
    };
    // What does not verify is what the next pass panics of.
    wrong.and_then(|()| after.map_err(panicked))
}

/// A step of the compiler panicked, which is no panic of the user's.
#[derive(Debug)]
struct Panicked {
    step: String,
    text: String,
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} panicked: {}", self.step, self.text)
    }
}

impl std::error::Error for Panicked {}

/// Runs a step of the compiler. A panic in it becomes its text, as code generation does with its own; whatever else
/// unwinds, such as an error in a rule of the user's, goes on.
pub(crate) fn guarded<T>(step: impl FnOnce() -> T) -> Result<T, String> {
    // What the step was building is dropped when it panics: nothing half-made is seen again.
    catch_unwind(AssertUnwindSafe(step)).map_err(|payload| match text_of(&*payload) {
        Some(text) => text,
        None => resume_unwind(payload),
    })
}

fn text_of(payload: &(dyn Any + Send)) -> Option<String> {
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|text| text.to_string()))
}

/// A failure below the graph: a bug of ours, unless the rules of a user's primitive do not fit together.
fn blame(graph: &Graph, why: &dyn std::error::Error) -> Error {
    let mut own = graph.equations.iter().filter(|equation| matches!(equation.prim, Prim::Custom(_)));
    let Some(first) = own.next() else { return Error::bug(why) };
    let message = format!(
        "cannot compile `{}`, a primitive of your own: its rules do not fit together",
        first.prim.name()
    );
    let error = Error::new(ErrorKind::Library, message).note(why.to_string());
    let error = error.help("`lower` gives what computes the results that `type_rule` promises");
    match &first.location {
        Some(location) => error.at(location.clone()),
        None => error,
    }
}

/// A graph that does not verify is a bug of whoever made it.
fn check(what: &str, graph: &Graph) -> Result<(), Error> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    verify(graph).map_err(|errors| Error::bug(format!("{what} does not verify:\n{errors}")))
}
