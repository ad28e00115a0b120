//! Growing a random graph, equation by equation, around the values it has at its inputs.

use std::sync::{Arc, LazyLock};

use tracewell_array::{DType, Shape, Tensor};
use tracewell_graph::prim::{
    Broadcast, Call, Constant, Convert, DotGeneral, Permute, ReduceMax, ReduceMin, ReduceSum, Reshape,
};
use tracewell_graph::{ArrayType, Atom, Example, Graph, GraphBuilder, Location, ParamValue, Prim, Splat};

use super::Options;
use super::rng::Rng;
use super::steady::{Known, apply};
use super::values::{self, MOST_ELEMENTS};

/// How deep calls nest.
const DEPTH: usize = 2;

/// How many inputs a graph has at most.
const MOST_INPUTS: usize = 8;

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

/// A graph as wanted, and inputs for it.
pub(super) fn grow(rng: &mut Rng, options: Options, name: String) -> (Graph, Vec<Tensor>) {
    let mut growth = Growth::new(rng, options, 0);
    for _ in 0..2 {
        growth.input_of_any_type();
    }
    let (graph, _) = growth.grow(name);
    let inputs = growth.inputs;
    (graph, inputs)
}

/// An operand with its value.
#[derive(Clone, Debug)]
struct Value {
    atom: Atom,
    ty: ArrayType,
    known: Known,
}

struct Growth<'r> {
    rng: &'r mut Rng,
    options: Options,
    depth: usize,
    builder: GraphBuilder,
    /// Every variable so far.
    pool: Vec<Value>,
    inputs: Vec<Tensor>,
    /// Graphs that were called, to be called again.
    graphs: Vec<Arc<Graph>>,
}

impl<'r> Growth<'r> {
    fn new(rng: &'r mut Rng, options: Options, depth: usize) -> Growth<'r> {
        Growth {
            rng,
            options,
            depth,
            builder: GraphBuilder::new(),
            pool: Vec::new(),
            inputs: Vec::new(),
            graphs: Vec::new(),
        }
    }

    /// Adds equations until there are enough; gives the graph and the values of its outputs.
    fn grow(&mut self, name: String) -> (Graph, Vec<Value>) {
        // Many steps are refused: they would leave the arrays too large, or nothing but NaN in them.
        for _ in 0..self.options.size * 8 {
            if self.builder.equations().len() >= self.options.size {
                break;
            }
            self.locate();
            let _ = self.step();
        }
        let outputs = self.outputs();
        let builder = std::mem::take(&mut self.builder);
        (builder.finish(name, outputs.iter().map(|value| value.atom.clone()).collect()), outputs)
    }

    /// What follows comes from some line, or from none.
    fn locate(&mut self) {
        let files = ["src/main.rs", "src/my model.rs", "C:\\src\\lib.rs", "odd \"name\".rs"];
        let location = self.rng.percent(30).then(|| Location {
            file: (*self.rng.pick(&files).expect("not empty")).into(),
            line: 1 + self.rng.below(500) as u32,
            column: 1 + self.rng.below(80) as u32,
        });
        self.builder.at(location);
    }

    /// What nothing has used yet, and now and then something else.
    fn outputs(&mut self) -> Vec<Value> {
        let used: Vec<Atom> =
            self.builder.equations().iter().flat_map(|equation| equation.inputs.iter().cloned()).collect();
        let mut outputs: Vec<Value> =
            self.pool.iter().filter(|value| !used.contains(&value.atom)).cloned().collect();
        // Some graphs have equations that no output needs.
        if self.rng.percent(30) {
            let most = 1 + self.rng.below(4);
            outputs.drain(..outputs.len().saturating_sub(most));
        }
        if self.rng.percent(10)
            && let Some(value) = self.rng.pick(&self.pool)
        {
            outputs.push(value.clone());
        }
        if self.rng.percent(5) {
            let ty = self.any_type();
            outputs.push(self.splat(&ty));
        }
        outputs
    }

    /// One step in a random direction; `None` if it led nowhere.
    fn step(&mut self) -> Option<()> {
        match self.rng.below(100) {
            0..52 => self.elementwise(),
            52..60 => self.example(),
            60..70 => self.along_axes(),
            70..76 => self.reshape(),
            76..82 => self.broadcast(),
            82..89 => self.dot(),
            89..91 => self.constant(),
            91..95 => self.call_new(),
            95..97 => self.call_again(),
            _ => self.input_of_any_type(),
        }
    }
}

/// Single equations.
impl Growth<'_> {
    /// Adds an equation, if its types are right and its results are fit.
    fn bind(&mut self, prim: impl Into<Prim>, operands: &[Value]) -> Option<Vec<Value>> {
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

    fn bind1(&mut self, prim: impl Into<Prim>, operand: &Value) -> Option<Value> {
        self.bind(prim, std::slice::from_ref(operand))?.pop()
    }

    /// A primitive that knows no shape, on something that is there and operands of the same shape.
    fn elementwise(&mut self) -> Option<()> {
        let value = self.pick_value()?;
        // Mostly one that takes elements of its type; otherwise it has to be converted.
        let dtype = value.ty.dtype;
        let own = self.rng.percent(85);
        let example = self.pick_example(|example| {
            let mut shapeless = !example.inputs.is_empty();
            example.prim.rules().each_param(&mut |_, value| {
                shapeless &= !matches!(value, ParamValue::Ints(_) | ParamValue::Tensor(_) | ParamValue::Graph(_));
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
    fn example(&mut self) -> Option<()> {
        let example = self.pick_example(|_| true)?;
        let operands = example.inputs.iter().map(|ty| self.operand(ty)).collect::<Option<Vec<Value>>>()?;
        self.bind(example.prim, &operands).map(drop)
    }

    /// A primitive that has nothing but axes: which, is asked of its type rule.
    fn along_axes(&mut self) -> Option<()> {
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

    fn reshape(&mut self) -> Option<()> {
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

    fn broadcast(&mut self) -> Option<()> {
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

    /// Some axes of one operand are contracted, some are batch axes; the other is made to fit.
    fn dot(&mut self) -> Option<()> {
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

    fn constant(&mut self) -> Option<()> {
        let ty = self.any_type();
        self.constant_of(&ty).map(drop)
    }

    fn constant_of(&mut self, ty: &ArrayType) -> Option<Value> {
        let value = values::tensor(self.rng, ty, self.options.extreme);
        self.bind(Constant { value }, &[])?.pop()
    }

    /// Grows a graph around some values and calls it.
    fn call_new(&mut self) -> Option<()> {
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

    fn call_again(&mut self) -> Option<()> {
        let graph = self.rng.pick(&self.graphs)?.clone();
        let operands =
            graph.input_types().iter().map(|ty| self.operand(ty)).collect::<Option<Vec<Value>>>()?;
        self.bind(Call { graph }, &operands).map(drop)
    }

    fn input_of_any_type(&mut self) -> Option<()> {
        let ty = self.any_type();
        self.new_input(&ty).map(drop)
    }
}

/// Operands.
impl Growth<'_> {
    /// A use of a random primitive that fits.
    fn pick_example(&mut self, fits: impl Fn(&Example) -> bool) -> Option<Example> {
        let fitting = |group: &Vec<Example>| -> Vec<Example> {
            group.iter().filter(|example| fits(example)).cloned().collect()
        };
        let start = self.rng.below(EXAMPLES.len());
        let (before, after) = EXAMPLES.split_at(start);
        let examples = after.iter().chain(before).map(fitting).find(|examples| !examples.is_empty())?;
        self.rng.pick(&examples).cloned()
    }

    /// Something that is there; empty arrays seldom, because all that follows is empty too.
    fn pick_value(&mut self) -> Option<Value> {
        let value = self.rng.pick_late(&self.pool)?;
        if value.ty.shape.is_empty() { self.rng.pick_late(&self.pool).cloned() } else { Some(value.clone()) }
    }

    /// A type like others that are there, or a new one.
    fn any_type(&mut self) -> ArrayType {
        let dtype = values::dtype(self.rng);
        let known = if self.rng.percent(50) { self.pick_value() } else { None };
        let shape = known.map_or_else(|| values::shape(self.rng), |value| value.ty.shape);
        let weak = shape.rank() == 0 && self.rng.percent(30);
        ArrayType { dtype, shape, weak }
    }

    fn splat(&mut self, ty: &ArrayType) -> Value {
        let literal = values::literal(self.rng, ty.dtype, self.options.extreme);
        let splat = Splat { literal, shape: ty.shape.clone(), weak: ty.weak };
        let known = Known::exact(Tensor::full(literal, ty.shape.clone()));
        Value { atom: Atom::Splat(splat), ty: ty.clone(), known }
    }

    fn input(&mut self, ty: ArrayType, known: Known) -> Value {
        let value = Value { atom: self.builder.input(ty.clone()).into(), ty, known };
        self.pool.push(value.clone());
        value
    }

    /// A new input; a nested graph cannot have one.
    fn new_input(&mut self, ty: &ArrayType) -> Option<Value> {
        if self.depth > 0 || self.inputs.len() >= MOST_INPUTS {
            return None;
        }
        let tensor = values::tensor(self.rng, ty, self.options.extreme);
        self.inputs.push(tensor.clone());
        Some(self.input(ty.clone(), Known::exact(tensor)))
    }

    /// Something of this type: what is there already, if need be converted and brought into shape.
    fn operand(&mut self, want: &ArrayType) -> Option<Value> {
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
        let one = match self.rng.below(3) {
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
