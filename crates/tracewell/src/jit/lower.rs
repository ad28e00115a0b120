//! Looking at every stage of a function's way to machine code.

use std::cell::RefCell;
use std::fmt::Write;

use tracewell_array::Tensor;
use tracewell_codegen::Target;
use tracewell_graph::{ArrayType, Graph, Location};
use tracewell_kernel::{Program, Role, Step};
use tracewell_runtime::{Executable, allocated_scratch};
use tracewell_trace::{Api, Error, ErrorKind, Value, ask, boundary, complete, is_idle};

use crate::array::{Array, found_by};
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

/// Cranelift's text of every kernel of a program that it has a part in.
pub(crate) fn clif(program: &Program) -> String {
    let texts = program.kernels.iter().map(|kernel| match tracewell_codegen::clif_text(kernel) {
        Ok(text) => text,
        Err(error) => format!("; {error}"),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The machine code of every kernel of a program.
pub(crate) fn asm(program: &Program) -> String {
    let mut text = String::new();
    for kernel in &program.kernels {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}:", kernel.name);
        let _ = match tracewell_codegen::compile(kernel, &Target::host().with_text()) {
            Ok(code) => writeln!(text, "{}", tracewell_codegen::disassemble(&code)),
            Err(error) => writeln!(text, "; {error}"),
        };
    }
    text
}

/// Estimated nanoseconds of a step on one core; not known of library calls and copies.
pub(crate) fn step_cost(program: &Program, step: &Step) -> Option<u64> {
    let Step::Launch { kernel, sizes, cost, .. } = step else { return None };
    let extent = program.kernels[*kernel].parallel_extent().map_or(1, |extent| extent.get(sizes).max(0));
    Some(u64::from(*cost) * extent as u64)
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

    /// Cranelift's text of every kernel that it has a part in. `TRACEWELL_WIDTH=128` leaves all of them to Cranelift.
    pub fn clif(&self) -> String {
        clif(self.program())
    }

    /// The machine code of every kernel.
    pub fn asm(&self) -> String {
        asm(self.program())
    }

    /// Estimated nanoseconds of one run on one core: what decides about threads. Library calls count for nothing.
    pub fn cost(&self) -> u64 {
        self.program().steps.iter().map(|step| step_cost(self.program(), step).unwrap_or(0)).sum()
    }

    /// Bytes that a run allocates: results, and scratch if that is more than 8 kB, for less is on the stack.
    pub fn memory(&self) -> usize {
        let program = &self.stages.program;
        let output = |slot: &tracewell_kernel::Slot| match slot.role {
            Role::Output { .. } => slot.len * slot.dtype.size(),
            Role::Input(_) | Role::Temp { .. } | Role::Constant(_) => 0,
        };
        allocated_scratch(program) + program.slots.iter().map(output).sum::<usize>()
    }

    /// Runs it on arrays of the types of the graph's inputs.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([1.0f32, 2.0]);
    /// let lowered = jit(|x: &Array| x.square().sum()).lower(&x).unwrap();
    /// assert_eq!(lowered.run(&[x]).unwrap()[0].item::<f32>(), 5.0);
    /// ```
    #[track_caller]
    pub fn run(&self, inputs: &[Array]) -> Result<Vec<Array>, Error> {
        let location = Location::caller();
        self.run_at("run()", inputs, 1, &location).map_err(|error| complete(error, &location))
    }

    /// Runs it so many times, at least once, on the same memory, and returns what the last run left: for measuring
    /// machine code without the call around it. What has effects has them as often.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::ones([1000], F32);
    /// let lowered = jit(|x: &Array| x.exp()).lower(&x).unwrap();
    /// let start = std::time::Instant::now();
    /// lowered.repeat(&[x], 1000).unwrap();
    /// println!("{:?} each", start.elapsed() / 1000);
    /// ```
    #[track_caller]
    pub fn repeat(&self, inputs: &[Array], times: usize) -> Result<Vec<Array>, Error> {
        let location = Location::caller();
        self.run_at("repeat()", inputs, times, &location).map_err(|error| complete(error, &location))
    }

    fn run_at(
        &self,
        asked: &'static str,
        inputs: &[Array],
        times: usize,
        location: &Location,
    ) -> Result<Vec<Array>, Error> {
        let plain = |ty: &ArrayType| ArrayType { weak: false, ..ty.clone() };
        let wanted: Vec<ArrayType> = self.graph().input_types().iter().map(plain).collect();
        let found: Vec<ArrayType> = inputs.iter().map(|array| plain(&array.ty())).collect();
        if wanted != found {
            let list =
                |types: &[ArrayType]| types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let message = format!(
                "`{}` takes ({}), and was given ({})",
                self.graph().name,
                list(&wanted),
                list(&found)
            );
            return Err(Error::new(ErrorKind::Type, message));
        }
        let data: Vec<Tensor> =
            inputs.iter().map(|array| ask(array.value(), asked, location)).collect::<Result<_, _>>()?;
        let results = crate::executable::repeat(&self.executable, &data, times)?;
        let types = self.graph().output_types();
        let array = |(tensor, ty): (Tensor, ArrayType)| Array::from_value(Value::Known(tensor, ty.weak));
        Ok(results.into_iter().zip(types).map(array).collect())
    }

    /// What runs.
    pub fn executable(&self) -> &Executable {
        &self.executable
    }
}
