//! The ways in which one graph can be compiled and run. All give the same results.

use std::fmt;

use tracewell::pipeline::{Settings, lower};
use tracewell_array::{DType, Literal, Shape, ShapeError, Tensor};
use tracewell_graph::Graph;
use tracewell_kernel::{Program, eval_program, in_memory};
use tracewell_optimize::narrow_from;
use tracewell_runtime::{Executable, Input, Results};

/// How a graph is compiled and run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// Whether the optimisation passes run, all or none.
    pub passes: bool,
    /// Whether equations share kernels.
    pub fusion: bool,
    /// Whether the inputs are given away, so that results may take over their memory.
    pub donate: bool,
    /// Whether arrays with a narrow last axis are taken apart however short they are.
    pub apart: bool,
}

/// All that there are, the usual one first.
pub const WAYS: [Way; 6] = [
    USUAL,
    Way { donate: true, ..USUAL },
    Way { fusion: false, ..USUAL },
    Way { passes: false, ..USUAL },
    Way { passes: false, fusion: false, ..USUAL },
    Way { apart: true, ..USUAL },
];

const USUAL: Way = Way { passes: true, fusion: true, donate: false, apart: false };

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |on: bool| if on { "with" } else { "without" };
        write!(f, "{} passes, {} fusion", word(self.passes), word(self.fusion))?;
        f.write_str(if self.donate { ", inputs given away" } else { "" })?;
        f.write_str(if self.apart { ", short arrays taken apart" } else { "" })
    }
}

/// A graph as machine code.
#[derive(Debug)]
pub struct Compiled {
    executable: Executable,
    donate: bool,
    types: Vec<(DType, Shape)>,
}

impl Compiled {
    /// Takes a graph through all stages.
    pub fn new(graph: &Graph, way: Way) -> Result<Compiled, String> {
        let passes = if way.passes { Settings::default().passes } else { 0 };
        let donated = vec![way.donate; graph.inputs.len()];
        let settings = Settings { donated, passes, fusion: way.fusion, ..Settings::default() };
        let apart = way.apart.then(|| narrow_from(graph, 1));
        let stages = lower(apart.as_ref().unwrap_or(graph), &settings).map_err(|error| error.to_string())?;
        let types: Vec<_> = graph.output_types().into_iter().map(|ty| (ty.dtype, ty.shape)).collect();
        let executable = Executable::new(stages.program, types.clone())
            .map_err(|error| format!("does not build: {error}"))?;
        Ok(Compiled { executable, donate: way.donate, types })
    }

    /// The program that runs.
    pub fn program(&self) -> &Program {
        self.executable.program()
    }

    /// Runs the machine code.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let lend = |tensor| if self.donate { Input::given(copy(tensor)) } else { Input::Lent(tensor) };
        let mut inputs: Vec<Input<'_>> = inputs.iter().map(lend).collect();
        let results = self.executable.run(&mut inputs);
        results.map(Results::into_vec).map_err(|error| format!("does not run: {error}"))
    }

    /// Runs the program in the evaluator of the kernel language.
    pub fn evaluate(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let inputs: Vec<Tensor> = inputs.iter().map(Tensor::as_parts).collect();
        let flat = eval_program(self.program(), &inputs)?;
        let shaped = |(tensor, (dtype, shape)): (&Tensor, &(DType, Shape))| {
            let tensor = tensor.reshape(in_memory(*dtype, shape).1)?;
            Ok(if dtype.is_complex() { Tensor::from_parts(tensor) } else { tensor })
        };
        let all: Result<_, ShapeError> = flat.iter().zip(&self.types).map(shaped).collect();
        all.map_err(|error| error.to_string())
    }
}

/// A tensor with memory of its own, which a result can take over.
fn copy(tensor: &Tensor) -> Tensor {
    let literals: Vec<Literal> = tensor.literals().collect();
    Tensor::from_literals(tensor.dtype(), tensor.shape(), &literals).expect("as many as before")
}
