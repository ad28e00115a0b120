//! `dynamic_update_slice x, y, i…`: `x` with `y` in the place of a window that starts where integers say.

use std::sync::Arc;

use tracewell_array::{DType, Literal, Shape, Tensor};

use super::DynamicSlice;
use super::each::batch_each;
use super::shape_rules::{each_index, position};
use super::window::{EXAMPLES, WindowLoops, check_window, fitted, known_starts, zero_start};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `dynamic_update_slice x, y, i…`: `x` with `y` in the place of the elements from `i`. A start where `y` would not
    /// fit is moved to the nearest one where it does.
    pub struct DynamicUpdateSlice {}
}

impl DynamicUpdateSlice {
    fn bind(cx: &mut Cx<'_>, x: &Atom, update: &Atom, starts: &[Atom]) -> Result<Atom, RuleError> {
        let inputs: Vec<&Atom> = [x, update].into_iter().chain(starts).collect();
        cx.bind(DynamicUpdateSlice {}, &inputs)
    }
}

impl Primitive for DynamicUpdateSlice {
    fn name(&self) -> &str {
        "dynamic_update_slice"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        let name = "dynamic_update_slice";
        let [x, update, starts @ ..] = inputs else {
            let message = format!("`{name}` takes an array and its update, found {} operands", inputs.len());
            return Err(TypeError::new(name, message));
        };
        if x.dtype != update.dtype {
            let message = format!("`{name}` of {x} by {update}: dtypes are {} and {}", x.dtype, update.dtype);
            return Err(TypeError::new(name, message));
        }
        check_window(name, x, &update.shape, starts)?;
        Ok(vec![ArrayType { weak: x.weak && update.weak, ..x.clone() }])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let (x, update) = (&inputs[0], &inputs[1]);
        let start = fitted(x.shape(), update.shape(), &inputs[2..]);
        let mut literals: Vec<Literal> = x.literals().collect();
        each_index(update.shape(), |index| {
            let to: Vec<usize> = index.iter().zip(&start).map(|(i, s)| i + s).collect();
            literals[position(x.shape(), &to)] = update.literal(position(update.shape(), index));
        });
        let updated = Tensor::from_literals(x.dtype(), x.shape(), &literals);
        Ok(vec![updated.map_err(|e| e.to_string())?])
    }

    /// Linear in the array and the update together; the starts are integers.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let [x, update, starts @ ..] = primals else { unreachable!("typed") };
        let y = DynamicUpdateSlice::bind(cx, x, update, starts)?;
        let dy = match (&tangents[0], &tangents[1]) {
            (None, None) => None,
            (dx, dupdate) => {
                let dx = dx.clone().unwrap_or_else(|| cx.fill(x, 0.0));
                let dupdate = dupdate.clone().unwrap_or_else(|| cx.fill(update, 0.0));
                Some(DynamicUpdateSlice::bind(cx, &dx, &dupdate, starts)?)
            }
        };
        Ok(Jvp::one(y, dy))
    }

    /// The update has the cotangent of the window, and the array that of the rest.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let mut found = vec![None; operands.len()];
        let Some(ct) = &cotangents[0] else { return Ok(found) };
        let starts = known_starts("dynamic_update_slice", &operands[2..])?;
        let window = match &operands[1] {
            Operand::Linear(ty) => ty.clone(),
            Operand::Known(update) => cx.ty(update),
        };
        if operands[0].is_linear() {
            let zeros = Atom::fill(&window, 0.0);
            found[0] = Some(DynamicUpdateSlice::bind(cx, ct, &zeros, &starts)?);
        }
        if operands[1].is_linear() {
            let inputs: Vec<&Atom> = std::iter::once(ct).chain(&starts).collect();
            found[1] = Some(cx.bind(DynamicSlice { sizes: window.shape.iter().collect() }, &inputs)?);
        }
        Ok(found)
    }

    /// One place for the whole batch is a place of one more axis; places that differ are updated one by one.
    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        if operands[2..].iter().any(|start| start.batched) {
            return batch_each(cx, DynamicUpdateSlice {}.into(), size, operands);
        }
        let arrays = cx.batch_all(size, &operands[..2])?;
        let starts = operands[2..].iter().map(|start| start.atom.clone());
        let starts: Vec<Atom> = std::iter::once(zero_start()).chain(starts).collect();
        Ok(vec![Batched::yes(DynamicUpdateSlice::bind(cx, &arrays[0], &arrays[1], &starts)?)])
    }

    /// In place where nobody needs the array any more: only the window is written.
    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        if inputs[0].dtype.is_complex() {
            return Ok(Lowering::Parts);
        }
        let loops = WindowLoops::new(&inputs[0].shape, &inputs[1].shape);
        Ok(Lowering::Update(Arc::new(move |b, operands, results| {
            loops.build(b, &operands[1..], |b, whole, window| {
                let element = b.load(operands[0], window);
                b.store(results[0], whole, element);
            });
        })))
    }

    fn examples() -> Vec<Example> {
        let start = ArrayType::new(DType::I32, Shape::scalar());
        let example = |dtype: DType, whole: &[usize], window: &[usize]| {
            let starts = vec![start.clone(); whole.len()];
            let arrays = [ArrayType::new(dtype, whole), ArrayType::new(dtype, window)];
            let inputs = arrays.into_iter().chain(starts).collect();
            Example { prim: DynamicUpdateSlice {}.into(), inputs }
        };
        let of = |&dtype: &DType| EXAMPLES.map(|(whole, window)| example(dtype, whole, window));
        DType::ALL.iter().flat_map(of).collect()
    }
}
