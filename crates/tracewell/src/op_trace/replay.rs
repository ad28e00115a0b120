//! Running an op trace again.

use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Location};
use tracewell_runtime::{Input, Results};
use tracewell_trace::{Error, ErrorKind, Value, complete};

use super::{OpInput, OpRecord, OpTrace};
use crate::array::Array;
use crate::executable::{executable, run};
use crate::executor::Compiled;
use crate::pipeline::Settings;
use crate::stepping::{called, step};

/// What a replay gave: every array of the trace.
#[derive(Clone, Debug)]
pub struct Replayed {
    arrays: Vec<Array>,
    outputs: Vec<usize>,
}

impl Replayed {
    /// An array by its number.
    ///
    /// # Panics
    ///
    /// If the trace has no array of that number.
    pub fn array(&self, number: usize) -> &Array {
        &self.arrays[number]
    }

    /// The arrays that no op used.
    pub fn results(&self) -> Vec<&Array> {
        self.outputs.iter().map(|&number| &self.arrays[number]).collect()
    }
}

impl OpTrace {
    /// Runs every op again, in order, each compiled as it was.
    #[track_caller]
    pub fn replay(&self) -> Result<Replayed, Error> {
        self.replay_on(&self.inputs())
    }

    /// The same for other arrays in the place of what came from outside.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let trace = tracing_ops(TraceOptions::default(), || Array::from(4.0f32).sqrt()).1.unwrap();
    /// let other = trace.replay_on(&[Array::from(9.0f32)]).unwrap();
    /// assert_eq!(other.results()[0].item::<f32>(), 3.0);
    /// ```
    #[track_caller]
    pub fn replay_on(&self, inputs: &[Array]) -> Result<Replayed, Error> {
        let location = Location::caller();
        let arrays = self.run(inputs).map_err(|error| complete(error, &location))?;
        let array = |tensor: Tensor| Array::from_value(Value::Known(tensor, false));
        Ok(Replayed { arrays: arrays.into_iter().map(array).collect(), outputs: self.outputs() })
    }

    /// The data of every array.
    pub(super) fn run(&self, inputs: &[Array]) -> Result<Vec<Tensor>, Error> {
        let types = |arrays: &mut dyn Iterator<Item = ArrayType>| {
            arrays.map(|ty| ArrayType { weak: false, ..ty }).collect::<Vec<_>>()
        };
        let wanted = types(&mut self.inputs.iter().map(|(tensor, _)| ArrayType::of(tensor)));
        let found = types(&mut inputs.iter().map(Array::ty));
        if found != wanted {
            let list =
                |types: &[ArrayType]| types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let message =
                format!("the trace ran on arrays of types ({}), found ({})", list(&wanted), list(&found));
            let help = "convert or reshape the arrays, or trace the program on these";
            return Err(Error::new(ErrorKind::Type, message).help(help));
        }
        let mut arrays: Vec<Tensor> = inputs.iter().filter_map(|array| array.value().known()).collect();
        for op in &self.ops {
            let results = op.run(&arrays)?;
            arrays.extend(results);
        }
        Ok(arrays)
    }
}

impl OpRecord {
    /// The data of what it was given.
    pub(super) fn operands(&self, arrays: &[Tensor]) -> Vec<Tensor> {
        let data = |input: &OpInput| match input {
            OpInput::Array(number) => arrays[*number].clone(),
            OpInput::Number(splat) => Tensor::full(splat.literal, splat.shape.clone()),
        };
        self.inputs.iter().map(data).collect()
    }

    fn run(&self, arrays: &[Tensor]) -> Result<Vec<Tensor>, Error> {
        let operands = self.operands(arrays);
        let placed = |error: Error| error.at(self.location.clone());
        if self.prim.has_effect() {
            // What was done once is not done again.
            let kept: Option<Vec<Tensor>> = self.values.iter().cloned().collect();
            return kept.ok_or_else(|| {
                let message = format!("`{}` has an effect, which a replay must not repeat", self.prim.name());
                placed(Error::new(ErrorKind::Structure, message).help("record with `values: true`"))
            });
        }
        if let Some(graph) = called(&self.prim) {
            let executable = executable(graph, &Settings::default())?;
            let mut inputs: Vec<Input<'_>> = operands.iter().map(Input::Lent).collect();
            return run(&executable, &mut inputs).map(Results::into_vec).map_err(placed);
        }
        let operands: Vec<Option<Tensor>> = operands.into_iter().map(Some).collect();
        let results = step(&self.prim, &operands, &self.types, &Compiled).map_err(placed)?;
        results.ok_or_else(|| Error::bug("an op whose operands are known did not run"))
    }
}
