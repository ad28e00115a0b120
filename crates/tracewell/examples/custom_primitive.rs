//! Primitives of one's own, on the public face alone: one by an expansion, one by a Rust function on buffers, one
//! that takes a function.
//!
//! `cargo run --release --example custom_primitive`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use tracewell::prelude::*;
use tracewell::primitive::{
    ArrayType, Atom, Batched, BufferFn, BufferMut, BufferRef, CallError, Custom, Cx, Data, Defined, Example,
    Graph, Jvp, Library, LibraryCall, Lowering, Operand, ParamValue, Primitive, RuleError, TypeError, apply,
    bind, params, stage,
};

/// `sinh x`, by its expansion: derivatives, batching and machine code are derived from it.
struct Sinh;

impl Defined for Sinh {
    fn expand(&self, x: &[Array]) -> Vec<Array> {
        vec![(x[0].exp() - (-&x[0]).exp()) / 2.0]
    }
}

params! {
    /// `running_median[width=W] x`: the median of the last `W` elements along the last axis. By a Rust function.
    pub struct RunningMedian {
        /// How many elements.
        width: usize,
    }
}

impl RunningMedian {
    fn filter(&self, row: &[f32], out: &mut [f32]) {
        for i in 0..row.len() {
            let mut window = row[(i + 1).saturating_sub(self.width)..=i].to_vec();
            window.sort_unstable_by(f32::total_cmp);
            out[i] = window[window.len() / 2];
        }
    }
}

/// What runs: a Rust function that fills its output from its input.
struct FilterRows(RunningMedian);

impl BufferFn for FilterRows {
    fn name(&self) -> &str {
        "running_median"
    }

    fn call(&self, inputs: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) -> Result<(), CallError> {
        let shape = inputs[0].shape;
        let width = shape.size(shape.rank() - 1).max(1);
        let x = inputs[0].as_slice::<f32>()?;
        let y = outputs[0].as_mut_slice::<f32>()?;
        for (row, out) in x.chunks(width).zip(y.chunks_mut(width)) {
            self.0.filter(row, out);
        }
        Ok(())
    }
}

impl Primitive for RunningMedian {
    fn name(&self) -> &str {
        "custom_primitive::running_median"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        match inputs {
            [x] if x.dtype == F32 && x.rank() > 0 => Ok(vec![x.clone()]),
            _ => Err(TypeError::new(
                "running_median",
                format!("`running_median` expects f32 rows, found {inputs:?}"),
            )),
        }
    }

    fn eval(&self, inputs: &[Data]) -> Result<Vec<Data>, String> {
        let (shape, x) = (inputs[0].shape(), inputs[0].to_vec::<f32>().map_err(|e| e.to_string())?);
        let width = shape.size(shape.rank() - 1).max(1);
        let mut y = vec![0.0; x.len()];
        x.chunks(width).zip(y.chunks_mut(width)).for_each(|(row, out)| self.filter(row, out));
        Ok(vec![Data::from_vec(y, shape).map_err(|e| e.to_string())?])
    }

    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        match &tangents[0] {
            None => {
                Ok(Jvp::one(cx.bind(tracewell::primitive::Prim::custom(self.clone()), &[&primals[0]])?, None))
            }
            Some(_) => {
                Err(RuleError::not_differentiable("running_median", "the order of elements changes abruptly"))
            }
        }
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("running_median"))
    }

    /// Rows are independent, so a batch of arrays is an array with one axis more.
    fn batch(&self, cx: &mut Cx<'_>, _: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let prim = tracewell::primitive::Prim::custom(self.clone());
        Ok(vec![Batched::yes(cx.bind(prim, &[&operands[0].atom])?)])
    }

    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        let types = |types: &[ArrayType]| types.iter().map(|t| (t.dtype, t.shape.clone())).collect();
        Ok(Lowering::Library(LibraryCall {
            library: Library::Custom(Custom::new(FilterRows(self.clone()))),
            inputs: types(inputs),
            outputs: types(outputs),
        }))
    }

    fn examples() -> Vec<Example> {
        Vec::new()
    }
}

/// `iterate[body, times] x`: `body` applied `times` times. The function is a parameter.
struct Iterate {
    body: Arc<Graph>,
    times: i64,
}

impl Defined for Iterate {
    fn expand(&self, x: &[Array]) -> Vec<Array> {
        (0..self.times).fold(x.to_vec(), |x, _| apply(&self.body, &x))
    }

    fn params(&self) -> Vec<(&'static str, ParamValue)> {
        vec![("body", ParamValue::Graph(self.body.clone())), ("times", ParamValue::Int(self.times))]
    }
}

fn iterate(f: impl Fn(&Array) -> Array, times: i64, x: &Array) -> Array {
    bind(Iterate { body: stage(|x| vec![f(&x[0])], &[x]), times }, &[x])
}

fn main() -> Result<()> {
    let x = Array::from([-1.0f64, 0.0, 2.0]);
    let sinh = |x: &Array| bind(Sinh, &[x]);
    println!("sinh              {}", sinh(&x));
    println!("  grad            {}", grad(|x: &Array| sinh(x).sum())(&x));
    println!("  grad of grad    {}", grad(|x: &Array| grad(|x: &Array| sinh(x).sum())(x).sum())(&x));
    println!("  vmap            {}", vmap(sinh)(&x));
    println!("  jit             {}", jit(sinh).call(&x));
    println!("{}", trace(sinh, &x)?);

    let noisy = Array::from([[1.0f32, 9.0, 2.0, 3.0], [4.0, 4.0, -9.0, 5.0]]);
    let median = |x: &Array| bind(RunningMedian { width: 3 }, &[x]);
    println!("running median    {}", median(&noisy).to_string().replace('\n', "\n                 "));
    println!("  jit, with sin   {}", jit(|x: &Array| median(&x.sin()).sum()).call(&noisy));
    println!("  vmap            {}", vmap(|row: &Array| median(row).sum())(&noisy));
    let refused = grad(|x: &Array| -> Result<Array> { Ok(median(x).sum()) })(&noisy);
    println!("  grad            {}", refused.expect_err("it says that it has no derivative"));

    let half = |x: &Array| x / 2.0 + 1.0;
    println!("iterate(half, 20) {}", iterate(half, 20, &x));
    println!("  grad            {}", grad(|x: &Array| iterate(half, 3, x).sum())(&x));
    Ok(())
}
