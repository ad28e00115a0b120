//! A kernel copied into another: its sizes are known here, its parameters are places, and small loops over small
//! arrays are written out, so that their indices are numbers.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tracewell_array::Literal;
use tracewell_kernel::{
    Accumulator, BufferId, Combine, Index, Kernel, KernelBuilder, Op, Param, Region, Size, Stmt, Value,
    lanes_of,
};

use super::SMALL;
use super::place::{Place, call_on};

/// Statements that one written-out loop may become.
const MAX_WRITTEN: usize = 1024;

/// Copies a kernel with these places for its parameters and these sizes, into iterations of an `each` or not.
pub(crate) fn inline(b: &mut KernelBuilder, kernel: &Kernel, params: &[Place], sizes: &[i64], in_each: bool) {
    let mut places: Vec<Place> = params.to_vec();
    for local in &kernel.locals {
        let buffer = b.local(local.dtype, local.len);
        places.push(Place::whole(buffer, local.dtype, local.len));
    }
    let mut copy = Copy { kernel, places, sizes, in_each, values: FxHashMap::default() };
    copy.region(b, &kernel.body);
}

/// The same kernel with its values numbered in the order of their definition, and without those that are gone.
pub(crate) fn numbered(kernel: &Kernel) -> Kernel {
    let mut b = KernelBuilder::new();
    let mut place = |param: &Param| {
        let buffer = if param.own { b.own_param(param.dtype) } else { b.param(param.dtype, param.written) };
        // Of any length, as long as no loop is taken to be small: those that should be were written out before.
        Place::whole(buffer, param.dtype, usize::MAX)
    };
    let params: Vec<Place> = kernel.params.iter().map(&mut place).collect();
    inline(&mut b, kernel, &params, &[], false);
    b.finish(kernel.name.clone())
}

/// What a value of the copied kernel is in the copy.
#[derive(Clone, Copy)]
enum Known {
    Value(Value),
    /// The variable of a loop that is written out.
    Number(i64),
}

struct Copy<'k> {
    kernel: &'k Kernel,
    places: Vec<Place>,
    sizes: &'k [i64],
    in_each: bool,
    values: FxHashMap<Value, Known>,
}

impl Copy<'_> {
    fn place(&self, buffer: BufferId) -> &Place {
        &self.places[buffer.0 as usize]
    }

    fn bind(&mut self, value: Value, to: Value) {
        self.values.insert(value, Known::Value(to));
    }

    /// A value as an operand.
    fn value(&mut self, b: &mut KernelBuilder, value: Value) -> Value {
        match self.values[&value] {
            Known::Value(value) => value,
            Known::Number(n) => b.constant(n),
        }
    }

    fn values(&mut self, b: &mut KernelBuilder, values: &[Value]) -> SmallVec<[Value; 2]> {
        values.iter().map(|&value| self.value(b, value)).collect()
    }

    fn size(&self, size: Size) -> i64 {
        size.get(self.sizes)
    }

    /// So many elements from an index on.
    fn from(&self, buffer: BufferId, index: &Index, len: usize) -> Place {
        let place = self.place(buffer);
        let mut from = Place { len, ..place.clone() };
        from.offset += place.scale * self.size(index.offset);
        for &(value, stride) in &index.terms {
            let stride = place.scale * self.size(stride);
            match self.values[&value] {
                Known::Value(value) => from.terms.push((value, stride)),
                Known::Number(n) => from.offset += n * stride,
            }
        }
        from
    }

    fn region(&mut self, b: &mut KernelBuilder, region: &Region) -> SmallVec<[Value; 2]> {
        region.stmts.iter().for_each(|stmt| self.stmt(b, stmt));
        self.values(b, &region.yields)
    }

    fn stmt(&mut self, b: &mut KernelBuilder, stmt: &Stmt) {
        match stmt {
            Stmt::Op { out, op, args } => {
                let op = match *op {
                    Op::Size(id) => Op::Const(Literal::new(self.size(Size::Param(id)))),
                    Op::Clamp(size) => Op::Clamp(Size::Const(self.size(size))),
                    op => op,
                };
                let args = self.values(b, args);
                let value = b.op(op, &args);
                self.bind(*out, value);
            }
            Stmt::Load { out, buffer, index } => {
                let from = self.from(*buffer, index, 1);
                let value = b.load(from.buffer, from.at(0));
                self.bind(*out, value);
            }
            Stmt::Store { buffer, index, value } => {
                let value = self.value(b, *value);
                let to = self.from(*buffer, index, 1);
                b.store(to.buffer, to.at(0), value);
            }
            Stmt::Each { var, extent, body } => {
                let extent = self.size(*extent);
                if self.is_written_out(extent, body) {
                    for i in 0..extent {
                        self.values.insert(*var, Known::Number(i));
                        self.region(b, body);
                    }
                    return;
                }
                b.each(Size::Const(extent), |b, i| {
                    self.bind(*var, i);
                    self.region(b, body);
                });
            }
            Stmt::For { var, extent, carries, body } => {
                let extent = self.size(*extent);
                let init: Vec<Value> = carries.iter().map(|carry| self.value(b, carry.init)).collect();
                let outs = if self.is_written_out(extent, body) {
                    let mut carried: SmallVec<[Value; 2]> = init.into();
                    for i in 0..extent {
                        self.values.insert(*var, Known::Number(i));
                        carries
                            .iter()
                            .zip(&carried)
                            .for_each(|(carry, &value)| self.bind(carry.inside, value));
                        carried = self.region(b, body);
                    }
                    carried.to_vec()
                } else {
                    b.for_loop(Size::Const(extent), &init, |b, i, inside| {
                        self.bind(*var, i);
                        carries.iter().zip(inside).for_each(|(carry, &value)| self.bind(carry.inside, value));
                        self.region(b, body)
                    })
                };
                carries.iter().zip(outs).for_each(|(carry, out)| self.bind(carry.out, out));
            }
            Stmt::Reduce { var, extent, accumulators, body } => {
                let extent = self.size(*extent);
                let outs = if self.is_written_out(extent, body) {
                    self.reduce_written_out(b, *var, extent, accumulators, body)
                } else {
                    let combines: Vec<Combine> = accumulators.iter().map(|a| a.combine).collect();
                    b.reduce(Size::Const(extent), &combines, |b, i| {
                        self.bind(*var, i);
                        self.region(b, body)
                    })
                };
                accumulators.iter().zip(outs).for_each(|(a, out)| self.bind(a.out, out));
            }
            Stmt::While { carries, cond, body } => {
                let init: Vec<Value> = carries.iter().map(|carry| self.value(b, carry.init)).collect();
                let this = std::cell::RefCell::new(self);
                let enter = |inside: &[Value]| {
                    let mut this = this.borrow_mut();
                    carries.iter().zip(inside).for_each(|(carry, &value)| this.bind(carry.inside, value));
                };
                let outs = b.while_loop(
                    &init,
                    |b, inside| {
                        enter(inside);
                        this.borrow_mut().region(b, cond)[0]
                    },
                    |b, inside| {
                        enter(inside);
                        this.borrow_mut().region(b, body)
                    },
                );
                let this = this.into_inner();
                carries.iter().zip(outs).for_each(|(carry, out)| this.bind(carry.out, out));
            }
            Stmt::If { cond, outs, then, otherwise } => {
                let cond = self.value(b, *cond);
                let this = std::cell::RefCell::new(self);
                let results = b.if_else(
                    cond,
                    |b| this.borrow_mut().region(b, then),
                    |b| this.borrow_mut().region(b, otherwise),
                );
                let this = this.into_inner();
                outs.iter().zip(results).for_each(|(&out, value)| this.bind(out, value));
            }
            Stmt::Call { call, windows } => {
                let places = windows.iter().zip(call.memory()).map(|(window, (_, shape))| {
                    let is_param = (window.buffer.0 as usize) < self.kernel.params.len();
                    (self.from(window.buffer, &window.start, shape.len()), self.in_each && is_param)
                });
                call_on(b, call, places.collect());
            }
            Stmt::Poll => b.poll(),
        }
    }

    /// The fixed lane order of a reduction, without lanes that nothing is in. A float sum starts from +0 in every
    /// lane, which makes a difference only where everything added is -0: so one lane will do, and it is the one
    /// that has to wait for the fewest others.
    fn reduce_written_out(
        &mut self,
        b: &mut KernelBuilder,
        var: Value,
        extent: i64,
        accumulators: &[Accumulator],
        body: &Region,
    ) -> Vec<Value> {
        let lanes = lanes_of(accumulators.iter().map(|a| self.kernel.dtype(a.out)));
        let mut state: Vec<Vec<Option<Value>>> = vec![vec![None; lanes]; accumulators.len()];
        let used = (extent.max(1) as usize).min(lanes).next_power_of_two();
        for (a, state) in accumulators.iter().zip(&mut state) {
            let dtype = self.kernel.dtype(a.out);
            if extent == 0 || (a.combine == Combine::Add && dtype.is_float()) {
                let identity = a.combine.identity(dtype).expect("verified to be defined on the type");
                state[(used / 2).saturating_sub(1)] = Some(b.literal(identity));
            }
        }
        for i in 0..extent {
            self.values.insert(var, Known::Number(i));
            let yields = self.region(b, body);
            let lane = i as usize % lanes;
            for ((a, state), value) in accumulators.iter().zip(&mut state).zip(yields) {
                state[lane] = Some(combined(b, a.combine, state[lane], value));
            }
        }
        let mut outs = Vec::with_capacity(accumulators.len());
        for (a, mut state) in accumulators.iter().zip(state) {
            let mut width = lanes / 2;
            while width > 0 {
                for i in 0..width {
                    if let Some(other) = state[i + width] {
                        state[i] = Some(combined(b, a.combine, state[i], other));
                    }
                }
                width /= 2;
            }
            outs.push(state[0].expect("lanes are filled from the first one on"));
        }
        outs
    }

    /// Whether a loop is written out: it is short, and all it touches are small arrays.
    fn is_written_out(&self, extent: i64, body: &Region) -> bool {
        extent <= SMALL as i64
            && self.is_small(body)
            && self.weight(body).saturating_mul(extent.max(0) as usize) <= MAX_WRITTEN
    }

    /// Whether a region touches nothing but small arrays.
    fn is_small(&self, region: &Region) -> bool {
        region.stmts.iter().all(|stmt| match stmt {
            Stmt::Load { buffer, .. } | Stmt::Store { buffer, .. } => self.place(*buffer).len <= SMALL,
            Stmt::Op { .. } => true,
            Stmt::Each { body, .. } | Stmt::Reduce { body, .. } => self.is_small(body),
            Stmt::If { then, otherwise, .. } => self.is_small(then) && self.is_small(otherwise),
            // What repeats for long, or is called, is not worth repeating in the text.
            Stmt::For { .. } | Stmt::While { .. } | Stmt::Call { .. } | Stmt::Poll => false,
        })
    }

    /// Statements that a region becomes if all its loops are written out.
    fn weight(&self, region: &Region) -> usize {
        let weight = |stmt: &Stmt| match stmt {
            Stmt::Each { extent, body, .. }
            | Stmt::Reduce { extent, body, .. }
            | Stmt::For { extent, body, .. } => {
                self.weight(body).saturating_mul(self.size(*extent).max(0) as usize)
            }
            Stmt::While { cond, body, .. } => self.weight(cond).saturating_add(self.weight(body)),
            Stmt::If { then, otherwise, .. } => self.weight(then).saturating_add(self.weight(otherwise)),
            _ => 1,
        };
        region.stmts.iter().map(weight).fold(0, usize::saturating_add)
    }
}

fn combined(b: &mut KernelBuilder, combine: Combine, state: Option<Value>, value: Value) -> Value {
    match state {
        Some(state) => b.op(combine.op(), &[state, value]),
        None => value,
    }
}
