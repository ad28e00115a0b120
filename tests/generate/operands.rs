//! Operands for a growing graph: what is there already, brought into the type that is wanted, or something new.

use tracewell_array::{DType, Shape, Tensor};
use tracewell_graph::prim::{Broadcast, Convert, Permute, ReduceMax, ReduceMin, ReduceSum, Reshape};
use tracewell_graph::{ArrayType, Atom, Splat};

use super::grow::{Growth, Value};
use super::steady::Known;
use super::values;

/// How many inputs a graph has at most.
const MOST_INPUTS: usize = 8;

impl Growth<'_> {
    /// Something that is there; empty arrays seldom, because all that follows is empty too.
    pub(super) fn pick_value(&mut self) -> Option<Value> {
        let value = self.rng.pick_late(&self.pool)?;
        if value.ty.shape.is_empty() { self.rng.pick_late(&self.pool).cloned() } else { Some(value.clone()) }
    }

    /// A type like others that are there, or a new one.
    pub(super) fn any_type(&mut self) -> ArrayType {
        let dtype = values::dtype(self.rng);
        let known = if self.rng.percent(50) { self.pick_value() } else { None };
        let shape = known.map_or_else(|| values::shape(self.rng), |value| value.ty.shape);
        let weak = shape.rank() == 0 && self.rng.percent(30);
        ArrayType { dtype, shape, weak }
    }

    pub(super) fn splat(&mut self, ty: &ArrayType) -> Value {
        let literal = values::literal(self.rng, ty.dtype, self.options.extreme);
        let splat = Splat { literal, shape: ty.shape.clone(), weak: ty.weak };
        let known = Known::exact(Tensor::full(literal, ty.shape.clone()));
        Value { atom: Atom::Splat(splat), ty: ty.clone(), known }
    }

    pub(super) fn input(&mut self, ty: ArrayType, known: Known) -> Value {
        let value = Value { atom: self.builder.input(ty.clone()).into(), ty, known };
        self.pool.push(value.clone());
        value
    }

    /// A new input; a nested graph cannot have one.
    pub(super) fn new_input(&mut self, ty: &ArrayType) -> Option<Value> {
        if self.depth > 0 || self.inputs.len() >= MOST_INPUTS {
            return None;
        }
        let tensor = values::tensor(self.rng, ty, self.options.extreme);
        self.inputs.push(tensor.clone());
        Some(self.input(ty.clone(), Known::exact(tensor)))
    }

    /// Something of this type: what is there already, if need be converted and brought into shape.
    pub(super) fn operand(&mut self, want: &ArrayType) -> Option<Value> {
        match self.rng.below(100) {
            0..6 => return Some(self.splat(want)),
            6..10 => {
                if let Some(value) = self.new_input(want) {
                    return Some(value);
                }
            }
            _ => {}
        }
        let near = |value: &Value| {
            let (have, want) = (&value.ty.shape, &want.shape);
            have.len() == want.len() || fitting_axes(have, want).is_some()
        };
        let (same, near): (Vec<&Value>, Vec<&Value>) =
            self.pool.iter().filter(|value| near(value)).partition(|value| value.ty.matches(want));
        let from = if same.is_empty() || self.rng.percent(15) { near } else { same };
        if let Some(&value) = self.rng.pick_late(&from) {
            let value = value.clone();
            return Some(self.adapt(value, want).unwrap_or_else(|| self.splat(want)));
        }
        // Nothing is near: something new, or the little that a reduction leaves of something far.
        match self.rng.below(3) {
            0 => self.new_input(want).or_else(|| self.constant_of(want)),
            1 => self.constant_of(want),
            _ => {
                let value = self.pick_value()?;
                Some(self.adapt(value, want).unwrap_or_else(|| self.splat(want)))
            }
        }
    }

    /// Makes a value be of this type.
    fn adapt(&mut self, mut value: Value, want: &ArrayType) -> Option<Value> {
        if value.ty.dtype.is_bool() && want.dtype != value.ty.dtype {
            value = self.bind1(Convert { dtype: want.dtype, weak: false }, &value)?;
        }
        if value.ty.shape != want.shape {
            value = self.adapt_shape(value, &want.shape)?;
        }
        if value.ty.dtype != want.dtype {
            value = self.bind1(Convert { dtype: want.dtype, weak: want.weak }, &value)?;
        }
        Some(value)
    }

    fn adapt_shape(&mut self, value: Value, want: &Shape) -> Option<Value> {
        if value.ty.shape.len() == want.len() {
            let mut sizes = [value.ty.shape.sizes(), want.sizes()];
            sizes.iter_mut().for_each(|sizes| sizes.sort_unstable());
            if sizes[0] == sizes[1] && self.rng.percent(50) {
                return self.bind1(Permute { axes: matching(&value.ty.shape, want) }, &value);
            }
            return self.bind1(Reshape { shape: want.clone() }, &value);
        }
        if let Some(axes) = fitting_axes(&value.ty.shape, want) {
            return self.bind1(Broadcast { shape: want.clone(), axes }, &value);
        }
        let numbers = if value.ty.dtype.is_bool() {
            self.bind1(Convert { dtype: DType::I32, weak: false }, &value)?
        } else {
            value
        };
        let axes: Vec<usize> = (0..numbers.ty.rank()).collect();
        // Complex numbers have no largest.
        let ways = if numbers.ty.dtype.is_complex() { 1 } else { 3 };
        let one = match 2 - self.rng.below(ways) {
            0 => self.bind1(ReduceMax { axes }, &numbers)?,
            1 => self.bind1(ReduceMin { axes }, &numbers)?,
            _ => self.bind1(ReduceSum { axes }, &numbers)?,
        };
        self.bind1(Broadcast { shape: want.clone(), axes: Vec::new() }, &one)
    }
}

/// For each axis of `want`, an axis of `have` of its size; the two have the same sizes in another order.
fn matching(have: &Shape, want: &Shape) -> Vec<usize> {
    let mut axes: Vec<usize> = Vec::new();
    for size in want.iter() {
        let axis = (0..have.rank()).find(|axis| have.size(*axis) == size && !axes.contains(axis));
        axes.extend(axis);
    }
    axes
}

/// Where the axes of `have` can stand in `want`, if it can be repeated to that.
fn fitting_axes(have: &Shape, want: &Shape) -> Option<Vec<usize>> {
    let mut axes: Vec<usize> = Vec::new();
    for size in have.iter() {
        let from = axes.last().map_or(0, |axis| axis + 1);
        axes.push((from..want.rank()).find(|axis| size == want.size(*axis) || size == 1)?);
    }
    Some(axes)
}
