//! Single steps of growth: one equation each, with whatever its operands need before it.

use std::sync::{Arc, LazyLock};

use tracewell_array::Shape;
use tracewell_graph::prim::{Broadcast, Call, Concatenate, Constant, DotGeneral, Pad, Reshape, Slice, Sort};
use tracewell_graph::{ArrayType, Atom, Example, ParamValue, Prim};

use super::Options;
use super::grow::{Growth, Value};
use super::steady::{Known, apply};
use super::values::{self, MOST_ELEMENTS};

/// How deep calls, loops and branches nest.
pub(super) const DEPTH: usize = 3;

/// The examples of every primitive, one group for each name.
static EXAMPLES: LazyLock<Vec<Vec<Example>>> = LazyLock::new(|| {
    let mut groups: Vec<Vec<Example>> = Vec::new();
    for example in Prim::examples() {
        match groups.iter_mut().find(|group| group[0].prim.name() == example.prim.name()) {
            Some(group) => group.push(example),
            None => groups.push(vec![example]),
        }
    }
    groups
});

impl Growth<'_> {
    /// Adds an equation, if its types are right and its results are fit.
    pub(super) fn bind(&mut self, prim: impl Into<Prim>, operands: &[Value]) -> Option<Vec<Value>> {
        let prim = prim.into();
        let types: Vec<ArrayType> = operands.iter().map(|value| value.ty.clone()).collect();
        let results = prim.rules().type_rule(&types).ok()?;
        if results.iter().any(|ty| ty.shape.len() > MOST_ELEMENTS || ty.rank() > 4) {
            return None;
        }
        let known: Vec<&Known> = operands.iter().map(|value| &value.known).collect();
        let known = apply(self.rng, &prim, &known, &types, &results, self.options.extreme)?;
        Some(self.push(prim, operands, results, known))
    }

    fn push(
        &mut self,
        prim: Prim,
        operands: &[Value],
        types: Vec<ArrayType>,
        known: Vec<Known>,
    ) -> Vec<Value> {
        let atoms: Vec<Atom> = operands.iter().map(|value| value.atom.clone()).collect();
        let outputs = self.builder.push(prim, &atoms, types.iter().cloned());
        let values = outputs.into_iter().zip(types).zip(known);
        let values: Vec<Value> = values.map(|((atom, ty), known)| Value { atom, ty, known }).collect();
        self.pool.extend(values.iter().cloned());
        values
    }

    pub(super) fn bind1(&mut self, prim: impl Into<Prim>, operand: &Value) -> Option<Value> {
        self.bind(prim, std::slice::from_ref(operand))?.pop()
    }

    /// A primitive that knows no shape, on something that is there and operands of the same shape.
    pub(super) fn elementwise(&mut self) -> Option<()> {
        let value = self.pick_value()?;
        // Mostly one that takes elements of its type; otherwise it has to be converted.
        let dtype = value.ty.dtype;
        let own = self.rng.percent(85);
        let example = self.pick_example(|example| {
            let mut shapeless = !example.inputs.is_empty();
            example.prim.rules().each_param(&mut |_, value| {
                shapeless &= !matches!(value, ParamValue::Ints(_) | ParamValue::Tensor(_))
                    && value.graphs().is_empty();
            });
            let one_shape = || example.inputs.iter().all(|ty| ty.shape == example.inputs[0].shape);
            shapeless && one_shape() && (!own || example.inputs.iter().any(|ty| ty.dtype == dtype))
        })?;
        let mut operands = Vec::new();
        let place = self.rng.below(example.inputs.len());
        for (i, ty) in example.inputs.iter().enumerate() {
            let fits = ty.dtype == dtype && (i == place || self.rng.percent(20));
            operands.push(if fits {
                value.clone()
            } else {
                self.operand(&ty.with_shape(value.ty.shape.clone()))?
            });
        }
        self.bind(example.prim, &operands).map(drop)
    }

    /// A primitive as in one of its examples.
    pub(super) fn example(&mut self) -> Option<()> {
        let example = self.pick_example(|_| true)?;
        let operands = example.inputs.iter().map(|ty| self.operand(ty)).collect::<Option<Vec<Value>>>()?;
        self.bind(example.prim, &operands).map(drop)
    }

    /// A primitive that has nothing but axes: which, is asked of its type rule.
    pub(super) fn along_axes(&mut self) -> Option<()> {
        let example = self.pick_example(|example| {
            let mut params = Vec::new();
            example.prim.rules().each_param(&mut |name, _| params.push(name));
            params == ["axes"] && example.inputs.len() == 1
        })?;
        let operand = self.pick_value()?;
        let rank = operand.ty.rank();
        let mut order: Vec<usize> = (0..rank).collect();
        self.rng.shuffle(&mut order);
        [self.rng.subset(rank), order].into_iter().find_map(|axes| {
            let axes = ParamValue::Ints(axes.into_iter().map(|axis| axis as i64).collect());
            let prim = Prim::from_params(example.prim.name(), &[("axes".to_owned(), axes)])?;
            self.bind(prim, std::slice::from_ref(&operand)).map(drop)
        })
    }

    /// What is handed on along an axis, or sorted along it with others.
    pub(super) fn along_one_axis(&mut self) -> Option<()> {
        let operand = self.pick_value()?;
        let axis = match operand.ty.rank() {
            0 => return None,
            rank => self.rng.below(rank),
        };
        if self.rng.percent(60) {
            let name = *self.rng.pick(&["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"])?;
            let reverse = ParamValue::Bool(self.rng.percent(50));
            let params = [("axis".to_owned(), ParamValue::Int(axis as i64)), ("reverse".to_owned(), reverse)];
            return self.bind1(Prim::from_params(name, &params)?, &operand).map(drop);
        }
        let mut operands = vec![operand.clone()];
        for _ in 0..self.rng.below(3) {
            let dtype = values::dtype(self.rng);
            let beside = self.operand(&ArrayType::new(dtype, operand.ty.shape.clone()))?;
            let at = self.rng.below(operands.len() + 1);
            operands.insert(at, beside);
        }
        let size = operand.ty.shape.size(axis);
        let kept = if self.rng.percent(60) { size } else { self.rng.below(size + 1) };
        let (keys, descending) = (1 + self.rng.below(operands.len()), self.rng.percent(50));
        self.bind(Sort { axis, keys, descending, kept }, &operands).map(drop)
    }

    pub(super) fn reshape(&mut self) -> Option<()> {
        let operand = self.pick_value()?;
        // Factors of the number of elements, one by one, until one axis is left.
        let mut left = operand.ty.shape.len();
        let mut sizes = Vec::new();
        while sizes.len() < 3 && self.rng.percent(60) {
            let factors: Vec<usize> = (1..=left.max(1)).filter(|n| left.is_multiple_of(*n)).collect();
            let factor = *self.rng.pick(&factors)?;
            sizes.push(factor);
            left /= factor;
        }
        if left != 1 || self.rng.percent(20) {
            sizes.push(left);
        }
        self.bind1(Reshape { shape: sizes.into() }, &operand).map(drop)
    }

    pub(super) fn broadcast(&mut self) -> Option<()> {
        let operand = self.pick_value()?;
        let mut shape = operand.ty.shape.clone();
        for axis in 0..shape.rank() {
            if shape.size(axis) == 1 && self.rng.percent(50) {
                shape = shape.with(axis, values::axis_size(self.rng));
            }
        }
        let mut axes: Vec<usize> = (0..shape.rank()).collect();
        for _ in 0..1 + self.rng.below(2) {
            let at = self.rng.below(shape.rank() + 1);
            shape = shape.insert(at, values::axis_size(self.rng));
            axes.iter_mut().filter(|axis| **axis >= at).for_each(|axis| *axis += 1);
        }
        self.bind1(Broadcast { shape, axes }, &operand).map(drop)
    }

    /// A part of each axis, with steps.
    pub(super) fn slice(&mut self) -> Option<()> {
        let operand = self.pick_value()?;
        let mut slice = Slice { start: vec![], limit: vec![], step: vec![] };
        for size in operand.ty.shape.iter() {
            let start = if self.rng.percent(40) { self.rng.below(size + 1) } else { 0 };
            let limit = if self.rng.percent(40) { start + self.rng.below(size - start + 1) } else { size };
            slice.start.push(start);
            slice.limit.push(limit);
            slice.step.push(if self.rng.percent(30) { 1 + self.rng.below(3) } else { 1 });
        }
        self.bind1(slice, &operand).map(drop)
    }

    /// A few elements more or less at each end of each axis, and some between.
    pub(super) fn pad(&mut self) -> Option<()> {
        let operand = self.pick_value()?;
        let mut pad = Pad { low: vec![], high: vec![], interior: vec![] };
        for _ in 0..operand.ty.rank() {
            pad.low.push(if self.rng.percent(40) { self.rng.below(5) as i64 - 2 } else { 0 });
            pad.high.push(if self.rng.percent(40) { self.rng.below(5) as i64 - 2 } else { 0 });
            pad.interior.push(if self.rng.percent(20) { self.rng.below(3) } else { 0 });
        }
        let value = self.operand(&operand.ty.with_shape(Shape::scalar()))?;
        self.bind(pad, &[operand, value]).map(drop)
    }

    /// Something that is there between others that fit, or twice.
    pub(super) fn concatenate(&mut self) -> Option<()> {
        let value = self.pick_value()?;
        if value.ty.rank() == 0 {
            return None;
        }
        let axis = self.rng.below(value.ty.rank());
        let mut operands = vec![value.clone()];
        for _ in 0..self.rng.below(3) {
            let other = if self.rng.percent(30) {
                value.clone()
            } else {
                let size = values::axis_size(self.rng);
                self.operand(&value.ty.with_shape(value.ty.shape.with(axis, size)))?
            };
            let at = self.rng.below(operands.len() + 1);
            operands.insert(at, other);
        }
        self.bind(Concatenate { axis }, &operands).map(drop)
    }

    /// Some axes of one operand are contracted, some are batch axes; the other is made to fit.
    pub(super) fn dot(&mut self) -> Option<()> {
        let a = self.pick_value()?;
        let mut axes: Vec<usize> = (0..a.ty.rank()).collect();
        self.rng.shuffle(&mut axes);
        let contracted = self.rng.below(axes.len().min(2) + 1);
        let batch = self.rng.below((axes.len() - contracted).min(2) + 1);
        let (a_contract, rest) = axes.split_at(contracted);
        let a_batch = &rest[..batch];
        // The axes of the other operand: paired ones and free ones, in random order.
        let mut of_b: Vec<(usize, Option<usize>)> =
            a_contract.iter().chain(a_batch).map(|&axis| (a.ty.shape.size(axis), Some(axis))).collect();
        let free = self.rng.below(3).min(4 - of_b.len());
        of_b.extend((0..free).map(|_| (values::axis_size(self.rng), None)));
        self.rng.shuffle(&mut of_b);
        let paired = |axes: &[usize]| -> Vec<usize> {
            axes.iter().filter_map(|&axis| of_b.iter().position(|(_, of_a)| *of_a == Some(axis))).collect()
        };
        let dot = DotGeneral {
            a_contract: a_contract.to_vec(),
            b_contract: paired(a_contract),
            a_batch: a_batch.to_vec(),
            b_batch: paired(a_batch),
        };
        let shape: Shape = of_b.iter().map(|(size, _)| *size).collect();
        if shape.len() > MOST_ELEMENTS {
            return None;
        }
        let b = self.operand(&ArrayType::new(a.ty.dtype, shape))?;
        self.bind(dot, &[a, b]).map(drop)
    }

    pub(super) fn constant(&mut self) -> Option<()> {
        let ty = self.any_type();
        self.constant_of(&ty).map(drop)
    }

    pub(super) fn constant_of(&mut self, ty: &ArrayType) -> Option<Value> {
        let value = values::tensor(self.rng, ty, self.options.extreme);
        self.bind(Constant { value }, &[])?.pop()
    }

    /// Grows a graph around some values and calls it.
    pub(super) fn call_new(&mut self) -> Option<()> {
        if self.depth >= DEPTH {
            return None;
        }
        let count = 1 + self.rng.below(3);
        let operands: Vec<Value> =
            (0..count).filter_map(|_| self.rng.pick_late(&self.pool).cloned()).collect();
        let size = 1 + self.rng.below(self.options.size.min(6));
        let name = *self.rng.pick(&["inner", "my::function", "a name"])?;
        let mut inner = Growth::new(self.rng, Options { size, ..self.options }, self.depth + 1);
        for operand in &operands {
            inner.input(operand.ty.clone(), operand.known.clone());
        }
        let (graph, outputs) = inner.grow(name.to_owned());
        let graph = Arc::new(graph);
        self.graphs.push(graph.clone());
        let known = outputs.into_iter().map(|value| value.known).collect();
        self.push(Call { graph: graph.clone() }.into(), &operands, graph.output_types(), known);
        Some(())
    }

    pub(super) fn call_again(&mut self) -> Option<()> {
        let graph = self.rng.pick(&self.graphs)?.clone();
        let operands =
            graph.input_types().iter().map(|ty| self.operand(ty)).collect::<Option<Vec<Value>>>()?;
        self.bind(Call { graph }, &operands).map(drop)
    }

    pub(super) fn input_of_any_type(&mut self) -> Option<()> {
        let ty = self.any_type();
        self.new_input(&ty).map(drop)
    }

    /// A use of a random primitive that fits.
    fn pick_example(&mut self, fits: impl Fn(&Example) -> bool) -> Option<Example> {
        // Tried until one fits: as likely as any other that does.
        (0..64).find_map(|_| {
            let group = self.rng.pick(&EXAMPLES)?;
            let fitting: Vec<&Example> = group.iter().filter(|example| fits(example)).collect();
            self.rng.pick(&fitting).map(|&example| example.clone())
        })
    }
}
