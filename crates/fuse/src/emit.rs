//! Nests written as kernels.
//!
//! A scalar is computed in the outermost loop that knows all it depends on. Extents and strides become run-time
//! sizes, so that one kernel serves every shape, with these exceptions: strides of at most 16 elements, because
//! a stride of 1 decides how code is generated and small ones belong to small inner loops; inner extents of at
//! most 16, because such loops can be unrolled; offsets within such a stride, and those of an array that is read in
//! many places, because one pointer serves them all. The outermost extent is always a run-time size.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tracewell_array::DType;
use tracewell_kernel::{BufferId, Combine, Index, Kernel, KernelBuilder, Op, Size, Value};

use crate::classify::{Flow, Id};
use crate::index::Affine;
use crate::loops::LoopId;
use crate::nest::{Further, Nest, Scalar};

/// Inner extents and strides up to this are part of a kernel: loops of so few iterations are better where that is known,
/// and others share kernels between shapes.
const SMALL: i64 = 512;
/// Turns of a reduction that are written out.
const TINY: i64 = 4;
/// Most scalars of such a turn.
const SHORT: usize = 16;
/// Places from which on all offsets in an array are part of a kernel.
const MANY: usize = 6;

/// A kernel with what it is launched on.
pub(crate) struct Emitted {
    pub(crate) kernel: Kernel,
    /// The array of each parameter.
    pub(crate) arrays: Vec<Id>,
    pub(crate) sizes: Vec<i64>,
    /// Nanoseconds for one iteration of the outermost loop.
    pub(crate) cost: u32,
}

impl Emitted {
    /// The arrays that it computes.
    pub(crate) fn results(&self) -> impl Iterator<Item = Id> + '_ {
        self.kernel.params.iter().zip(&self.arrays).filter(|(param, _)| param.written).map(|(_, &id)| id)
    }

    /// The arrays that it reads.
    pub(crate) fn operands(&self) -> impl Iterator<Item = Id> + '_ {
        self.kernel.params.iter().zip(&self.arrays).filter(|(param, _)| !param.written).map(|(_, &id)| id)
    }

    /// The parameters that are this array.
    pub(crate) fn params(&self, id: Id) -> Vec<BufferId> {
        let is_it = |i: &usize| self.arrays[*i] == id;
        (0..self.arrays.len()).filter(is_it).map(|i| BufferId(i as u32)).collect()
    }
}

/// Writes a nest as a kernel.
pub(crate) fn emit(flow: &Flow, nest: &Nest) -> Emitted {
    let mut b = KernelBuilder::new();
    let mut writer = Writer::new(flow, nest, &mut b);
    let mut emitter = Emitter { nest, lists: lists(nest), writer: &mut writer };
    emitter.open(&mut b, 0);
    writer.finish(b, nest)
}

/// For each loop, the scalars that are computed in it; those of no loop last.
fn lists(nest: &Nest) -> Vec<Vec<usize>> {
    let mut lists = vec![Vec::new(); nest.loops.len() + 1];
    for (i, home) in nest.homes().into_iter().enumerate() {
        lists[home.map_or(nest.loops.len(), |l| l as usize)].push(i);
    }
    lists
}

struct Emitter<'e, 'n> {
    nest: &'n Nest,
    lists: Vec<Vec<usize>>,
    writer: &'e mut Writer,
}

impl Emitter<'_, '_> {
    /// Writes what is computed in the independent loops so far, then the next of them or the stores.
    fn open(&mut self, b: &mut KernelBuilder, depth: usize) {
        let each = &self.nest.loops.each;
        self.compute(b, depth.checked_sub(1).map(|d| each[d]));
        let Some(&id) = each.get(depth) else {
            self.writer.stores(b, self.nest);
            return;
        };
        let extent = self.writer.extent(b, self.nest, id);
        b.each(extent, |b, var| {
            self.writer.vars.insert(id, var);
            self.open(b, depth + 1);
        });
    }

    /// Writes what is computed in a loop, or in none.
    fn compute(&mut self, b: &mut KernelBuilder, home: Option<LoopId>) {
        let list = home.map_or(self.nest.loops.len(), |l| l as usize);
        for i in std::mem::take(&mut self.lists[list]) {
            match &self.nest.scalars[i] {
                // One that shares its loops was written with the first that has them.
                Scalar::Reduce { .. } if self.writer.values[i].is_some() => {}
                Scalar::Reduce { loops, .. } => {
                    let group = self.group(loops);
                    let values = self.reduce(b, &group, loops);
                    for (&i, value) in group.iter().zip(values) {
                        self.writer.values[i] = Some(value);
                    }
                }
                Scalar::Keep { dtype, len, loops, .. } => {
                    let row = b.local(*dtype, *len);
                    self.writer.rows.insert(i, row);
                    self.keep(b, i, loops);
                }
                scalar => self.writer.scalar(b, i, scalar),
            }
        }
    }

    /// Fills a row of the stack.
    fn keep(&mut self, b: &mut KernelBuilder, i: usize, loops: &[LoopId]) {
        if let [id, inner @ ..] = loops {
            let extent = self.writer.extent(b, self.nest, *id);
            b.each(extent, |b, var| {
                self.writer.vars.insert(*id, var);
                self.compute(b, Some(*id));
                self.keep(b, i, inner);
            });
        } else if let Scalar::Keep { to, body, .. } = &self.nest.scalars[i] {
            let index = self.writer.index(b, to);
            b.store(self.writer.rows[&i], index, self.writer.value(*body));
        }
    }

    /// The reductions over these loops.
    fn group(&self, shared: &[LoopId]) -> Vec<usize> {
        let shares = |scalar: &Scalar| matches!(scalar, Scalar::Reduce { loops, .. } if loops[..] == *shared);
        (0..self.nest.scalars.len()).filter(|&i| shares(&self.nest.scalars[i])).collect()
    }

    fn reduce(&mut self, b: &mut KernelBuilder, group: &[usize], loops: &[LoopId]) -> SmallVec<[Value; 2]> {
        let (mut combines, mut bodies) = (Vec::new(), SmallVec::new());
        for &i in group {
            if let Scalar::Reduce { combine, body, .. } = &self.nest.scalars[i] {
                combines.push(*combine);
                bodies.push(*body);
            }
        }
        self.reduce_over(b, &combines, &bodies, loops)
    }

    fn reduce_over(
        &mut self,
        b: &mut KernelBuilder,
        combines: &[Combine],
        bodies: &SmallVec<[usize; 2]>,
        loops: &[LoopId],
    ) -> SmallVec<[Value; 2]> {
        let [id, inner @ ..] = loops else {
            return bodies.iter().map(|&body| self.writer.value(body)).collect();
        };
        if inner.is_empty() && self.is_tiny(*id) {
            return self.written_out(b, combines, bodies, *id);
        }
        let extent = self.writer.extent(b, self.nest, *id);
        let outs = b.reduce(extent, combines, |b, var| {
            self.writer.vars.insert(*id, var);
            self.compute(b, Some(*id));
            self.reduce_over(b, combines, bodies, inner)
        });
        outs.into()
    }

    /// Whether the turns of a loop inside another are written out: then the other is straight, which is what vectors
    /// want.
    fn is_tiny(&self, id: LoopId) -> bool {
        let scalars = &self.lists[id as usize];
        let is_straight =
            |&i: &usize| !matches!(self.nest.scalars[i], Scalar::Reduce { .. } | Scalar::Keep { .. });
        let (extent, is_inner) = (self.nest.loops.extent(id), self.nest.loops.parent(id).is_some());
        is_inner && (1..=TINY).contains(&extent) && scalars.len() <= SHORT && scalars.iter().all(is_straight)
    }

    /// A reduction without its loop: elements are combined in the order in which lanes are.
    fn written_out(
        &mut self,
        b: &mut KernelBuilder,
        combines: &[Combine],
        bodies: &[usize],
        id: LoopId,
    ) -> SmallVec<[Value; 2]> {
        let scalars = std::mem::take(&mut self.lists[id as usize]);
        let mut lanes: Vec<Vec<Value>> = vec![Vec::new(); bodies.len()];
        for turn in 0..self.nest.loops.extent(id) {
            self.writer.turns.insert(id, turn);
            for &i in &scalars {
                self.writer.scalar(b, i, &self.nest.scalars[i]);
            }
            for (lanes, &body) in lanes.iter_mut().zip(bodies) {
                lanes.push(self.writer.value(body));
            }
        }
        combines.iter().zip(lanes).map(|(&combine, lanes)| combined(b, combine, lanes)).collect()
    }
}

/// All lanes combined: those that are half of them apart first, then those that are a quarter.
fn combined(b: &mut KernelBuilder, combine: Combine, mut lanes: Vec<Value>) -> Value {
    while lanes.len() > 1 {
        let apart = lanes.len().next_power_of_two() / 2;
        let others = lanes.split_off(apart);
        for (lane, other) in lanes.iter_mut().zip(others) {
            *lane = b.op(combine.op(), &[*lane, other]);
        }
    }
    let all = lanes[0];
    if combine == Combine::Add && b.dtype(all).is_float() {
        // A sum starts from 0, so that it is never -0.
        let zero = b.like(all, 0.0);
        return b.op(Op::Add, &[all, zero]);
    }
    all
}

/// What every way of writing a nest shares: buffers, sizes, loop variables and values.
pub(crate) struct Writer {
    /// The array of each parameter.
    arrays: Vec<Id>,
    buffers: FxHashMap<Id, BufferId>,
    /// In how many places each array is read.
    places: FxHashMap<Id, usize>,
    sizes: Vec<i64>,
    known: FxHashMap<i64, Size>,
    /// The variables of the loops that are open or were.
    pub(crate) vars: FxHashMap<LoopId, Value>,
    /// The turn of each loop that is written out.
    pub(crate) turns: FxHashMap<LoopId, i64>,
    pub(crate) values: Vec<Option<Value>>,
    /// The stack buffers of rows that are kept.
    rows: FxHashMap<usize, BufferId>,
}

impl Writer {
    /// Makes the parameters: what is read in the order of reading, then what is written.
    pub(crate) fn new(flow: &Flow, nest: &Nest, b: &mut KernelBuilder) -> Writer {
        let mut writer = Writer {
            arrays: Vec::new(),
            buffers: FxHashMap::default(),
            places: FxHashMap::default(),
            sizes: Vec::new(),
            known: FxHashMap::default(),
            vars: FxHashMap::default(),
            turns: FxHashMap::default(),
            values: vec![None; nest.scalars.len()],
            rows: FxHashMap::default(),
        };
        for scalar in &nest.scalars {
            if let Scalar::Load { of, .. } = scalar {
                *writer.places.entry(*of).or_default() += 1;
                if !writer.buffers.contains_key(of) {
                    writer.param(b, *of, flow.nodes[*of].dtype, false);
                }
            }
        }
        let stored = writer.arrays.len();
        for store in &nest.stores {
            // Parts of one array are stored in one buffer.
            if !writer.arrays[stored..].contains(&store.to) {
                writer.param(b, store.to, store.dtype, true);
            }
        }
        writer
    }

    fn param(&mut self, b: &mut KernelBuilder, id: Id, dtype: DType, written: bool) {
        self.arrays.push(id);
        self.buffers.insert(id, b.param(dtype, written));
    }

    /// The finished kernel.
    pub(crate) fn finish(self, b: KernelBuilder, nest: &Nest) -> Emitted {
        let outermost = nest.loops.each.first().map_or(1, |&l| nest.loops.extent(l));
        let cost = crate::cost::nanoseconds(nest.work() / outermost.max(1) as f64);
        Emitted { kernel: b.finish(nest.name.clone()), arrays: self.arrays, sizes: self.sizes, cost }
    }

    /// A run-time size, the same for the same number.
    pub(crate) fn size(&mut self, b: &mut KernelBuilder, number: i64) -> Size {
        *self.known.entry(number).or_insert_with(|| {
            self.sizes.push(number);
            b.size()
        })
    }

    /// The extent of a loop.
    pub(crate) fn extent(&mut self, b: &mut KernelBuilder, nest: &Nest, id: LoopId) -> Size {
        let extent = nest.loops.extent(id);
        let is_inner = nest.loops.parent(id).is_some();
        if is_inner && extent <= SMALL { Size::Const(extent) } else { self.size(b, extent) }
    }

    pub(crate) fn index(&mut self, b: &mut KernelBuilder, at: &Affine) -> Index {
        self.index_in(b, at, false)
    }

    /// An index in an array that is read in many places, or is not.
    fn index_in(&mut self, b: &mut KernelBuilder, at: &Affine, many: bool) -> Index {
        let mut offset = at.offset;
        let mut terms: SmallVec<[(Value, Size); 3]> = SmallVec::new();
        for &(l, c) in &at.terms {
            match self.turns.get(&l) {
                Some(turn) => offset += turn * c,
                None => {
                    let stride = self.stride(b, c);
                    terms.push((self.vars[&l], stride));
                }
            }
        }
        // Outer loops first, which is how people read an index.
        terms.sort_by_key(|(var, _)| *var);
        let is_within = |&(_, stride): &(LoopId, i64)| offset.abs() < stride.abs() && stride.abs() <= SMALL;
        let is_part = offset == 0 || many || at.terms.iter().any(is_within);
        let offset = if is_part { Size::Const(offset) } else { self.size(b, offset) };
        Index { offset, terms }
    }

    fn stride(&mut self, b: &mut KernelBuilder, stride: i64) -> Size {
        if stride.abs() <= SMALL { Size::Const(stride) } else { self.size(b, stride) }
    }

    pub(crate) fn value(&self, scalar: usize) -> Value {
        self.values[scalar].expect("scalars are computed before they are used")
    }

    /// Writes a scalar that has no loops of its own.
    pub(crate) fn scalar(&mut self, b: &mut KernelBuilder, i: usize, scalar: &Scalar) {
        let value = match scalar {
            Scalar::Literal(literal) => b.literal(*literal),
            Scalar::Load { of, at, plus } => {
                let many = self.places.get(of).is_some_and(|&places| places >= MANY);
                let mut index = self.index_in(b, at, many);
                for &Further { by, stride, places } in plus {
                    let mut inside = b.op(Op::Clamp(Size::Const(places)), &[self.value(by)]);
                    if b.dtype(inside) != DType::I64 {
                        inside = b.op(Op::Convert(DType::I64), &[inside]);
                    }
                    let stride = self.stride(b, stride);
                    index.terms.push((inside, stride));
                }
                b.load(self.buffers[of], index)
            }
            Scalar::Count { at, dtype } => self.count(b, at, *dtype),
            Scalar::Map { f, args, .. } => {
                let args: SmallVec<[Value; 3]> = args.iter().map(|&a| self.value(a)).collect();
                f(b, &args)
            }
            Scalar::Recall { keep, at } => {
                let index = self.index(b, at);
                b.load(self.rows[keep], index)
            }
            Scalar::Reduce { .. } | Scalar::Keep { .. } => unreachable!("written with their loops"),
        };
        self.values[i] = Some(value);
    }

    /// The value of a sum of loop variables, as a number.
    fn count(&mut self, b: &mut KernelBuilder, at: &Affine, dtype: DType) -> Value {
        let Index { offset, terms } = self.index(b, at);
        let number = |b: &mut KernelBuilder, size: Size| match size {
            Size::Const(n) => b.constant(n),
            Size::Param(id) => b.op(Op::Size(id), &[]),
        };
        let mut sum: Option<Value> = None;
        for (var, stride) in terms {
            let term = match stride {
                Size::Const(1) => var,
                stride => {
                    let stride = number(b, stride);
                    b.op(Op::Mul, &[var, stride])
                }
            };
            sum = Some(sum.map_or(term, |sum| b.op(Op::Add, &[sum, term])));
        }
        let sum = match (sum, offset) {
            (Some(sum), Size::Const(0)) => sum,
            (sum, offset) => {
                let offset = number(b, offset);
                sum.map_or(offset, |sum| b.op(Op::Add, &[sum, offset]))
            }
        };
        if dtype == DType::I64 { sum } else { b.op(Op::Convert(dtype), &[sum]) }
    }

    /// Writes what is stored at this point.
    pub(crate) fn stores(&mut self, b: &mut KernelBuilder, nest: &Nest) {
        for store in &nest.stores {
            let index = self.index(b, &store.at);
            b.store(self.buffers[&store.to], index, self.value(store.scalar));
        }
    }
}

#[cfg(test)]
mod tests {
    use tracewell_array::{DType, Literal, Tensor};
    use tracewell_kernel::{Cells, Combine, Index, KernelBuilder, eval_kernel};

    use super::combined;

    /// The order is that of lanes, which large numbers show: they go before small ones are lost in them.
    #[test]
    fn elements_that_are_half_of_all_apart_are_added_first() {
        let huge = 1e8f32;
        for (elements, sum) in
            [(vec![huge, 1.0, -huge, 1.0], 2.0f32), (vec![huge, 1.0, -huge], 1.0), (vec![huge, -huge], 0.0)]
        {
            let mut b = KernelBuilder::new();
            let (from, to) = (b.param(DType::F32, false), b.param(DType::F32, true));
            let lanes = (0..elements.len()).map(|i| b.load(from, Index::at(i as i64))).collect();
            let value = combined(&mut b, Combine::Add, lanes);
            b.store(to, Index::at(0), value);
            let kernel = b.finish("sum");
            let elements = Tensor::from_fn([elements.len()], |i| elements[i]);
            let mut buffers = [Cells::of(&elements), Cells::undefined(DType::F32, 1)];
            eval_kernel(&kernel, &mut buffers, &[], 1_000).unwrap();
            assert_eq!(buffers[1].cells(), [Some(Literal::new(sum))], "{kernel}");
        }
    }
}
