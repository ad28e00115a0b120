//! `dynamic_slice[sizes=W] x, i…`: a window of `x` that starts where integers say.

use std::sync::Arc;

use tracewell_array::{DType, Shape, Tensor};

use super::DynamicUpdateSlice;
use super::each::batch_each;
use super::shape_rules::read_through;
use super::window::{EXAMPLES, WindowLoops, check_window, fitted, known_starts, zero_start};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `dynamic_slice[sizes=W] x, i…`: the elements of `x` from `i`, `W` of them along each axis. A start where the
    /// window would not fit is moved to the nearest one where it does.
    pub struct DynamicSlice {
        /// For each axis, how many elements.
        sizes: Vec<usize>,
    }
}

impl DynamicSlice {
    fn window(&self) -> Shape {
        Shape::from(self.sizes.as_slice())
    }
}

impl Primitive for DynamicSlice {
    fn name(&self) -> &str {
        "dynamic_slice"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        let Some((x, starts)) = inputs.split_first() else {
            return Err(TypeError::new("dynamic_slice", "`dynamic_slice` takes an array, found no operands"));
        };
        let window = self.window();
        check_window("dynamic_slice", x, &window, starts)?;
        Ok(vec![x.with_shape(window)])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let (x, window) = (&inputs[0], self.window());
        let start = fitted(x.shape(), &window, &inputs[1..]);
        Ok(vec![read_through(x, &window, |index| index.iter().zip(&start).map(|(i, s)| i + s).collect())])
    }

    /// Linear in the array; the starts are integers.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let mut of = |x: &Atom| {
            let operands: Vec<&Atom> = std::iter::once(x).chain(&primals[1..]).collect();
            cx.bind(self.clone(), &operands)
        };
        let y = of(&primals[0])?;
        let dy = tangents[0].as_ref().map(of).transpose()?;
        Ok(Jvp::one(y, dy))
    }

    /// The adjoint puts the window into zeros.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let mut found = vec![None; operands.len()];
        if let (Operand::Linear(ty), Some(ct)) = (&operands[0], &cotangents[0]) {
            let starts = known_starts("dynamic_slice", &operands[1..])?;
            let zeros = Atom::fill(ty, 0.0);
            let inputs: Vec<&Atom> = [&zeros, ct].into_iter().chain(&starts).collect();
            found[0] = Some(cx.bind(DynamicUpdateSlice {}, &inputs)?);
        }
        Ok(found)
    }

    /// One window for the whole batch is a window of one more axis; windows that differ are taken one by one.
    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        if operands[1..].iter().any(|start| start.batched) {
            return batch_each(cx, self.clone().into(), size, operands);
        }
        let zero = zero_start();
        let starts = operands[1..].iter().map(|start| &start.atom);
        let inputs: Vec<&Atom> = [&operands[0].atom, &zero].into_iter().chain(starts).collect();
        let sizes = std::iter::once(size).chain(self.sizes.iter().copied()).collect();
        Ok(vec![Batched::yes(cx.bind(DynamicSlice { sizes }, &inputs)?)])
    }

    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        if inputs[0].dtype.is_complex() {
            return Ok(Lowering::Parts);
        }
        let loops = WindowLoops::new(&inputs[0].shape, &self.window());
        Ok(Lowering::Kernel(Arc::new(move |b, operands, results| {
            loops.build(b, &operands[1..], |b, whole, window| {
                let element = b.load(operands[0], whole);
                b.store(results[0], window, element);
            });
        })))
    }

    fn examples() -> Vec<Example> {
        let start = ArrayType::new(DType::I32, Shape::scalar());
        let example = |dtype: DType, whole: &[usize], window: &[usize]| {
            let starts = vec![start.clone(); whole.len()];
            let x = ArrayType::new(dtype, whole);
            let inputs = std::iter::once(x).chain(starts).collect();
            Example { prim: DynamicSlice { sizes: window.to_vec() }.into(), inputs }
        };
        let of = |&dtype: &DType| EXAMPLES.map(|(whole, window)| example(dtype, whole, window));
        DType::ALL.iter().flat_map(of).collect()
    }
}
