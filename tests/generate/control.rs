//! Control flow in random graphs: loops and branches around graphs that are grown like any other, nested in each other.
//!
//! Bodies are grown around the values of the first turn. What is carried stays within one, so that turns do not make it
//! grow; whether all turns are fit is seen when the loop is bound (see `steady.rs`).

use std::sync::Arc;

use tracewell_array::{DType, Shape, Tensor};
use tracewell_graph::prim::{
    Add, And, Compare, DynamicSlice, DynamicUpdateSlice, Each, Max, Min, Scan, Sign, Sin, Switch, Tanh, While,
};
use tracewell_graph::{ArrayType, Graph, Prim};
use tracewell_kernel::Comparison;

use super::Options;
use super::grow::{Growth, Value};
use super::steady::Known;
use super::steps::DEPTH;
use super::values::{self, MOST_ELEMENTS};

/// How often a body is grown before the loop is given up.
const ATTEMPTS: usize = 3;

/// Loops have less turns than this.
const MOST_TURNS: usize = 6;

/// The names of grown bodies, by which tests tell them from those of examples.
pub const BODIES: [&str; 5] = ["turn", "goes_on", "trip", "branch", "one_of_each"];

impl Growth<'_> {
    /// A loop or a branch around a new graph.
    pub(super) fn control(&mut self) -> Option<()> {
        if self.depth >= DEPTH {
            return None;
        }
        match self.rng.below(10) {
            0..4 => self.scan(),
            4..6 => self.repeat(),
            6..8 => self.switch(),
            _ => self.each(),
        }
    }

    /// A window of something at a place that a number says, or with another there.
    pub(super) fn window(&mut self) -> Option<()> {
        let whole = self.pick_value()?;
        let sizes: Vec<usize> = whole.ty.shape.iter().map(|size| self.window_size(size)).collect();
        let mut operands = vec![whole.clone()];
        let update = self.rng.percent(50);
        if update {
            operands.push(self.operand(&whole.ty.with_shape(Shape::from(sizes.as_slice())))?);
        }
        for _ in 0..whole.ty.rank() {
            operands.push(self.operand(&number(DType::I32))?);
        }
        let prim: Prim = if update { DynamicUpdateSlice {}.into() } else { DynamicSlice { sizes }.into() };
        self.bind(prim, &operands).map(drop)
    }

    fn window_size(&mut self, size: usize) -> usize {
        if size <= 1 || self.rng.percent(5) { self.rng.below(size + 1) } else { 1 + self.rng.below(size) }
    }

    /// A scan: constants, things carried, elements in either direction.
    fn scan(&mut self) -> Option<()> {
        let (length, xs) = self.along(2, |shape, length| (shape.size(0) == length).then_some(0))?;
        let (reverse, unroll) = (self.rng.percent(40), *self.rng.pick(&[1, 1, 1, 2, 3, 4, 8])?);
        let (consts, carries) = (self.some(2), self.some(3));
        let first = if reverse { length.saturating_sub(1) } else { 0 };
        let elements: Vec<Value> = xs.iter().map(|(x, _)| self.element(x, 0, first)).collect();
        let inputs = [consts.as_slice(), &carries, &elements].concat();
        let operands: Vec<Value> =
            consts.iter().chain(&carries).chain(xs.iter().map(|(x, _)| x)).cloned().collect();
        (0..ATTEMPTS).find_map(|_| {
            let least = usize::from(carries.is_empty());
            let body = self.body("turn", &inputs, |inner| {
                let mut outputs = inner.carried_on(&carries)?;
                outputs.extend(inner.picked(least, 2, MOST_ELEMENTS / length.max(1))?);
                Some(outputs)
            })?;
            let (consts, carries) = (consts.len(), carries.len());
            self.bind(Scan { body, consts, carries, length, reverse, unroll }, &operands).map(drop)
        })
    }

    /// A while that ends whatever its operands are: one carry counts up from zero at least, to six at most.
    fn repeat(&mut self) -> Option<()> {
        let ty = number(*self.rng.pick(&[DType::I32, DType::I64, DType::U8])?);
        let start = if self.rng.percent(60) { self.filled(&ty, 0) } else { self.operand(&ty)? };
        let limit = if self.rng.percent(60) {
            let turns = self.rng.below(MOST_TURNS + 1);
            self.filled(&ty, turns)
        } else {
            self.operand(&ty)?
        };
        let mut carries = self.some(3);
        let counter = self.rng.below(carries.len() + 1);
        carries.insert(counter, start);
        let consts = self.some(2);
        let of_cond = [std::slice::from_ref(&limit), &carries].concat();
        let of_body = [consts.as_slice(), &carries].concat();
        let operands = [std::slice::from_ref(&limit), &consts, &carries].concat();
        (0..ATTEMPTS).find_map(|_| {
            let cond = self.body("goes_on", &of_cond, |inner| {
                let (limit, count) = (inner.inputs_now[0].clone(), inner.inputs_now[1 + counter].clone());
                let most = inner.filled(&ty, MOST_TURNS);
                let limit = inner.bind(Min {}, &[limit, most])?.pop()?;
                let mut holds = inner.compare(Comparison::Lt, &count, &limit)?;
                if inner.rng.percent(40) {
                    let float = number(*inner.rng.pick(&[DType::F32, DType::F64])?);
                    let (a, b) = (inner.operand(&float)?, inner.splat(&float));
                    let below = inner.compare(Comparison::Lt, &a, &b)?;
                    holds = inner.bind(And {}, &[holds, below])?.pop()?;
                }
                Some(vec![holds])
            })?;
            let body = self.body("trip", &of_body, |inner| {
                let count = inner.inputs_now[consts.len() + counter].clone();
                let (zero, one) = (inner.filled(&ty, 0), inner.filled(&ty, 1));
                let count = inner.bind(Max {}, &[count, zero])?.pop()?;
                let next = inner.bind(Add {}, &[count, one])?.pop()?;
                let mut outputs = inner.carried_on(&carries)?;
                outputs[counter] = next;
                Some(outputs)
            })?;
            let repeat = While { cond, body, cond_consts: 1, body_consts: consts.len() };
            self.bind(repeat, &operands).map(drop)
        })
    }

    /// A switch of one to four branches on any number, also one that no branch has.
    fn switch(&mut self) -> Option<()> {
        let index = if self.rng.percent(30) {
            self.new_input(&number(DType::I32))
        } else {
            self.operand(&number(DType::I32))
        }?;
        let operands = self.some(3);
        let mut branches: Vec<Arc<Graph>> = Vec::new();
        for _ in 0..1 + self.rng.below(4) {
            let types = branches.first().map(|branch| branch.output_types());
            let branch = self.body("branch", &operands, |inner| match types {
                Some(types) => types.iter().map(|ty| inner.operand(ty)).collect(),
                None => inner.picked(1, 3, MOST_ELEMENTS),
            });
            branches.extend(branch);
        }
        let operands = [std::slice::from_ref(&index), &operands].concat();
        self.bind(Switch { branches }, &operands).map(drop)
    }

    /// An each along first and last axes, with some operands that are the same each time.
    fn each(&mut self) -> Option<()> {
        let (size, mut along) = self.along(3, |shape, size| {
            let last = shape.rank() - 1;
            [last, 0].into_iter().find(|&axis| shape.size(axis) == size)
        })?;
        let mut operands: Vec<(Value, i64)> = along.drain(..).map(|(x, axis)| (x, axis as i64)).collect();
        for shared in self.some(2) {
            let at = self.rng.below(operands.len() + 1);
            operands.insert(at, (shared, -1));
        }
        let element = |(x, axis): &(Value, i64)| match usize::try_from(*axis) {
            Ok(axis) => self.element(x, axis, 0),
            Err(_) => x.clone(),
        };
        let elements: Vec<Value> = operands.iter().map(element).collect();
        let (operands, axes): (Vec<Value>, Vec<i64>) = operands.into_iter().unzip();
        (0..ATTEMPTS).find_map(|_| {
            let graph =
                self.body("one_of_each", &elements, |inner| inner.picked(1, 3, MOST_ELEMENTS / size.max(1)))?;
            let ranks = graph.output_types().into_iter().map(|ty| ty.rank() as i64);
            let out_axes = ranks.map(|rank| if self.rng.percent(50) { 0 } else { rank }).collect();
            self.bind(Each { graph, size, axes: axes.clone(), out_axes }, &operands).map(drop)
        })
    }

    /// Up to `most` of what is there.
    fn some(&mut self, most: usize) -> Vec<Value> {
        (0..self.rng.below(most + 1)).filter_map(|_| self.pick_value()).collect()
    }

    /// A number of turns, and up to `most` operands with an axis that long, each with that axis. `axis` finds it.
    fn along(
        &mut self,
        most: usize,
        axis: impl Fn(&Shape, usize) -> Option<usize>,
    ) -> Option<(usize, Vec<(Value, usize)>)> {
        let sizes: Vec<usize> =
            self.pool.iter().filter(|x| x.ty.rank() > 0).map(|x| x.ty.shape.size(0)).collect();
        let short: Vec<usize> = sizes.into_iter().filter(|&size| size < MOST_TURNS).collect();
        let some = self.rng.below(MOST_TURNS);
        let size = if self.rng.percent(60) { self.rng.pick(&short).copied().unwrap_or(some) } else { some };
        let mut operands = Vec::new();
        for _ in 0..self.rng.below(most + 1) {
            let fitting: Vec<Value> = self
                .pool
                .iter()
                .filter(|x| x.ty.rank() > 0 && axis(&x.ty.shape, size).is_some())
                .cloned()
                .collect();
            let operand = match self.rng.pick_late(&fitting) {
                Some(fitting) if self.rng.percent(70) => fitting.clone(),
                _ => {
                    let ty = self.any_type();
                    let shape = ty.shape.insert(0, size);
                    if shape.len() > MOST_ELEMENTS || shape.rank() > 4 {
                        continue;
                    }
                    self.operand(&ArrayType::new(ty.dtype, shape))?
                }
            };
            let axis = axis(&operand.ty.shape, size)?;
            operands.push((operand, axis));
        }
        Some((size, operands))
    }

    /// Element `i` along an axis; something, if there is none.
    fn element(&mut self, x: &Value, axis: usize, i: usize) -> Value {
        let ty = x.ty.with_shape(x.ty.shape.remove(axis));
        let known = if i < x.ty.shape.size(axis) {
            x.known.element(axis, i)
        } else {
            Known::exact(values::tensor(self.rng, &ty, self.options.extreme))
        };
        Value { ty, known, ..x.clone() }
    }

    /// Grows a graph around inputs of these values, a level deeper, and gives it the outputs that are asked for.
    fn body(
        &mut self,
        name: &str,
        inputs: &[Value],
        outputs: impl FnOnce(&mut Growth<'_>) -> Option<Vec<Value>>,
    ) -> Option<Arc<Graph>> {
        // Deep bodies are small: each equation runs in every turn of every loop around it.
        let size = self.rng.below(8 - 2 * self.depth);
        let mut inner = Growth::new(self.rng, Options { size, ..self.options }, self.depth + 1);
        inner.inputs_now = inputs.iter().map(|x| inner.input(x.ty.clone(), x.known.clone())).collect();
        inner.fill();
        let outputs = outputs(&mut inner)?;
        Some(Arc::new(inner.finish(name.to_owned(), &outputs)))
    }

    /// What a turn carries on: something of each type, floats within one.
    fn carried_on(&mut self, carries: &[Value]) -> Option<Vec<Value>> {
        let mut next = Vec::with_capacity(carries.len());
        for carry in carries {
            let value = self.operand(&carry.ty)?;
            let is_carry = self.inputs_now.iter().any(|input| input.atom == value.atom);
            // Something carried may go on as it is, or change places with another.
            if value.ty.dtype.is_complex() && !is_carry {
                next.push(self.bind1(Sign {}, &value)?);
                continue;
            }
            next.push(match (value.ty.dtype.is_float() && !is_carry, self.rng.below(2)) {
                (false, _) => value,
                (true, 0) => self.bind1(Sin {}, &value)?,
                (true, _) => self.bind1(Tanh {}, &value)?,
            });
        }
        Some(next)
    }

    /// From `least` to `most` results that are not too large to be stacked.
    fn picked(&mut self, least: usize, most: usize, elements: usize) -> Option<Vec<Value>> {
        let fitting: Vec<Value> = self
            .pool
            .iter()
            .filter(|value| value.ty.rank() < 4 && value.ty.shape.len() <= elements)
            .cloned()
            .collect();
        let count = least + self.rng.below(most - least + 1);
        let mut picked: Vec<Value> =
            (0..count).filter_map(|_| self.rng.pick_late(&fitting).cloned()).collect();
        if picked.len() < least {
            let ty = number(values::dtype(self.rng));
            picked.push(self.splat(&ty));
        }
        Some(picked)
    }

    /// A literal.
    fn filled(&mut self, ty: &ArrayType, value: usize) -> Value {
        let literal = tracewell_array::Literal::from_i64(ty.dtype, value as i64);
        let atom = tracewell_graph::Atom::fill(ty, value as f64);
        Value { atom, ty: ty.clone(), known: Known::exact(Tensor::full(literal, ty.shape.clone())) }
    }

    fn compare(&mut self, comparison: Comparison, a: &Value, b: &Value) -> Option<Value> {
        self.bind(Compare { comparison }, &[a.clone(), b.clone()])?.pop()
    }
}

/// The type of one number.
fn number(dtype: DType) -> ArrayType {
    ArrayType::new(dtype, Shape::scalar())
}
