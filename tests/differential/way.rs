//! The ways in which one graph can be compiled and run. All give the same results.

use std::fmt;

use tracewell::pipeline::{Settings, lower};
use tracewell_array::{Literal, Shape, Tensor};
use tracewell_graph::Graph;
use tracewell_kernel::{Program, eval_program};
use tracewell_runtime::{Executable, Input};

/// How a graph is compiled and run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// Whether the optimisation passes run, all or none.
    pub passes: bool,
    /// Whether equations share kernels.
    pub fusion: bool,
    /// Whether the inputs are given away, so that results may take over their memory.
    pub donate: bool,
}

/// All that there are, the usual one first.
pub const WAYS: [Way; 5] = [
    Way { passes: true, fusion: true, donate: false },
    Way { passes: true, fusion: true, donate: true },
    Way { passes: true, fusion: false, donate: false },
    Way { passes: false, fusion: true, donate: false },
    Way { passes: false, fusion: false, donate: false },
];

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |on: bool| if on { "with" } else { "without" };
        write!(f, "{} passes, {} fusion", word(self.passes), word(self.fusion))?;
        f.write_str(if self.donate { ", inputs given away" } else { "" })
    }
}

/// A graph as machine code.
#[derive(Debug)]
pub struct Compiled {
    executable: Executable,
    donate: bool,
    shapes: Vec<Shape>,
}

impl Compiled {
    /// Takes a graph through all stages.
    pub fn new(graph: &Graph, way: Way) -> Result<Compiled, String> {
        let passes = if way.passes { Settings::default().passes } else { 0 };
        let donated = vec![way.donate; graph.inputs.len()];
        let settings = Settings { donated, passes, fusion: way.fusion };
        let stages = lower(graph, &settings).map_err(|error| error.to_string())?;
        let shapes: Vec<Shape> = graph.output_types().into_iter().map(|ty| ty.shape).collect();
        let executable = Executable::new(stages.program, shapes.clone())
            .map_err(|error| format!("does not build: {error}"))?;
        Ok(Compiled { executable, donate: way.donate, shapes })
    }

    /// The program that runs.
    pub fn program(&self) -> &Program {
        self.executable.program()
    }

    /// Runs the machine code.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let lend = |tensor| if self.donate { Input::Given(copy(tensor)) } else { Input::Lent(tensor) };
        let mut inputs: Vec<Input<'_>> = inputs.iter().map(lend).collect();
        self.executable.run(&mut inputs).map_err(|error| format!("does not run: {error}"))
    }

    /// Runs the program in the evaluator of the kernel language.
    pub fn evaluate(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let flat = eval_program(self.program(), inputs)?;
        let shaped = |(tensor, shape): (&Tensor, &Shape)| tensor.reshape(shape);
        flat.iter().zip(&self.shapes).map(shaped).collect::<Result<_, _>>().map_err(|error| error.to_string())
    }
}

/// A tensor with memory of its own, which a result can take over.
fn copy(tensor: &Tensor) -> Tensor {
    let literals: Vec<Literal> = tensor.literals().collect();
    Tensor::from_literals(tensor.dtype(), tensor.shape(), &literals).expect("as many as before")
}
