//! `reduce`: element `i` goes to lane `i mod lanes`, then the lanes are halved until one is left.
//!
//! That order is the contract of the kernel language, so a sum is the same at every vector width. A cheap body
//! keeps all lanes in registers and writes out one round of them; any other keeps them on the stack.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder as _, StackSlot, Value as Clif, types};
use tracewell_array::DType;
use tracewell_kernel::{Accumulator, Combine, Region, Size, Value, lanes_of};

use crate::hoist::{Iterations, is_straight};
use crate::lanes::{LANES, Lanes, is_wide, lane_bytes};
use crate::lower::{Lower, Lowered};
use crate::target::Loops;
use crate::vector::Bound;
use crate::wide::Sums;

/// Most iterations of a constant number that are written out one after the other.
const UNROLL: i64 = 8;
/// The same inside a vector loop, where all lanes of four accumulators are many.
const UNROLL_IN_LANES: i64 = 16;
/// Most vectors of accumulators that are kept in registers.
const REGISTERS: usize = 8;
/// Most instructions of a body, for four elements, that is written out once for every four lanes.
const CHEAP: f64 = 12.0;

/// An accumulator and its lanes on the stack.
struct Slot {
    combine: Combine,
    dtype: DType,
    memory: StackSlot,
    /// Where in it, in bytes.
    at: i32,
}

impl Lower<'_, '_> {
    pub(crate) fn reduce(
        &mut self,
        var: Value,
        extent: Size,
        accumulators: &[Accumulator],
        body: &Region,
    ) -> Lowered {
        let dtypes: Vec<DType> = accumulators.iter().map(|a| self.kernel.dtype(a.out)).collect();
        let lanes = lanes_of(dtypes.iter().copied());
        let unroll = if self.lanes_around { UNROLL_IN_LANES } else { UNROLL };
        match extent {
            Size::Const(n) if n <= unroll && is_straight(body) => {
                self.reduce_unrolled(var, n.max(0), lanes, accumulators, body)
            }
            _ if self.lanes_around => self.reduce_each_lane(var, extent, lanes, accumulators, body),
            _ => self.reduce_lanes(var, extent, lanes, accumulators, body),
        }
    }

    /// A few iterations one after the other. A lane that got no element holds the identity, and combining with
    /// the identity changes no lane that got one.
    fn reduce_unrolled(
        &mut self,
        var: Value,
        n: i64,
        lanes: usize,
        accumulators: &[Accumulator],
        body: &Region,
    ) -> Lowered {
        let mut filled: Vec<Vec<Bound>> = vec![Vec::new(); accumulators.len()];
        for i in 0..n {
            let i = self.emit.int(types::I64, i);
            self.bind(var, Bound::One(i));
            self.region(body)?;
            for ((accumulator, &value), filled) in accumulators.iter().zip(&body.yields).zip(&mut filled) {
                let dtype = self.kernel.dtype(accumulator.out);
                let identity = self.identity(accumulator.combine, dtype);
                let value = self.bound(value);
                filled.push(self.combine(accumulator.combine, dtype, identity, value));
            }
        }
        for (accumulator, mut filled) in accumulators.iter().zip(filled) {
            let dtype = self.kernel.dtype(accumulator.out);
            let mut width = lanes / 2;
            while width > 0 {
                for k in width..filled.len().min(2 * width) {
                    filled[k - width] =
                        self.combine(accumulator.combine, dtype, filled[k - width], filled[k]);
                }
                filled.truncate(width);
                width /= 2;
            }
            let result = match filled.first() {
                Some(&result) => result,
                None => self.identity(accumulator.combine, dtype),
            };
            self.bind(accumulator.out, result);
        }
        Ok(())
    }

    fn reduce_lanes(
        &mut self,
        var: Value,
        extent: Size,
        lanes: usize,
        accumulators: &[Accumulator],
        body: &Region,
    ) -> Lowered {
        let slots = self.slots(lanes, accumulators, 1);
        let zero = self.emit.int(types::I64, 0);
        let end = self.emit.size(extent);
        let (enter, exit) = (self.emit.block(&[]), self.emit.block(&[]));
        let any = self.emit.ins().icmp(IntCC::SignedLessThan, zero, end);
        let none = self.emit.block(&[]);
        self.emit.branch(any, (enter, &[]), (none, &[]));
        self.emit.switch_to(none);
        self.fill_all(&slots, lanes);
        self.emit.jump(exit, &[]);
        self.emit.switch_to(enter);
        let hoisted = self.hoist(body, &[var], Iterations::Independent)?;
        let sums: Vec<(Combine, DType)> = slots.iter().map(|slot| (slot.combine, slot.dtype)).collect();
        let results = slots.first().map(|slot| self.emit.stack_address(slot.memory, 0));
        let sums = Sums { accumulators: &sums, lanes, results };
        let wide = self.wide_reduce(var, [zero, end], extent, &sums, body, &hoisted)?;
        if wide.is_none() {
            self.fill_all(&slots, lanes);
        }
        let plan = if is_straight(body) { self.plan(var, body, &hoisted) } else { None };
        let divided = plan.is_some();
        let mut from = wide.unwrap_or(zero);
        if from == end {
            // Nothing is left.
        } else if divided && self.loops == Loops::Divided {
            let stop = self.whole_steps(from, end, LANES as i64);
            self.singles(var, [from, stop], lanes, &slots, body, &hoisted)?;
            from = stop;
        } else if let Some(plan) = plan {
            let outer = std::mem::replace(&mut self.laned, plan.laned);
            self.lanes_around = true;
            let vectors: usize = slots.iter().map(|slot| lanes * lane_bytes(slot.dtype) / 16).sum();
            let long = !matches!(extent, Size::Const(n) if n < 2 * lanes as i64);
            if wide.is_none() && vectors <= REGISTERS && plan.cost <= CHEAP && long {
                from = self.rounds(var, [from, end], lanes, &slots, body, &hoisted)?;
            }
            from = self.groups(var, [from, end], lanes, &slots, body, &hoisted)?;
            self.lanes_around = false;
            self.laned = outer;
        }
        if from != end {
            let outer = std::mem::replace(&mut self.in_tail, divided);
            self.singles(var, [from, end], lanes, &slots, body, &hoisted)?;
            self.in_tail = outer;
        }
        self.emit.enter(exit, &[]);
        for (accumulator, slot) in accumulators.iter().zip(&slots) {
            let result = self.halve(slot, lanes);
            self.bind(accumulator.out, Bound::One(result));
        }
        Ok(())
    }

    /// As many elements as fill all lanes each time, lanes in registers; returns where it stopped.
    fn rounds(
        &mut self,
        var: Value,
        [start, end]: [Clif; 2],
        lanes: usize,
        slots: &[Slot],
        body: &Region,
        hoisted: &[bool],
    ) -> Lowered<Clif> {
        let stop = self.whole_steps(start, end, lanes as i64);
        let groups = lanes / LANES;
        let mut init = Vec::new();
        for slot in slots {
            for _ in 0..groups {
                let identity = self.identity(slot.combine, slot.dtype);
                init.extend_from_slice(self.emit.lanes(slot.dtype, identity).parts());
            }
        }
        let sums = self.counted(
            [start, stop],
            lanes as i64,
            &init,
            |_| Ok(()),
            |lower, i, sums, ()| {
                let mut next = sums.to_vec();
                for group in 0..groups {
                    lower.bind(var, Bound::Ramp(i, (group * LANES) as i64));
                    lower.rest(body, hoisted)?;
                    let mut first = 0;
                    for (slot, &value) in slots.iter().zip(&body.yields) {
                        let parts = if is_wide(slot.dtype) { 2 } else { 1 };
                        let at = first + group * parts;
                        let sum = Bound::Lanes(Lanes::from_parts(&sums[at..at + parts]));
                        let value = lower.bound(value);
                        let sum = lower.combine(slot.combine, slot.dtype, sum, value);
                        let sum = lower.emit.lanes(slot.dtype, sum);
                        next[at..at + parts].copy_from_slice(sum.parts());
                        first += groups * parts;
                    }
                }
                Ok(next)
            },
        )?;
        let mut sums = sums.as_slice();
        for slot in slots {
            let (own, others) = sums.split_at(lanes * lane_bytes(slot.dtype) / 16);
            sums = others;
            let address = self.emit.stack_address(slot.memory, slot.at);
            for (k, &part) in own.iter().enumerate() {
                self.emit.store_vectors(Lanes::Narrow(part), address, 16 * k as i32);
            }
        }
        Ok(stop)
    }

    /// Four elements at a time, lanes on the stack; returns where it stopped. `start` is a multiple of four.
    fn groups(
        &mut self,
        var: Value,
        [start, end]: [Clif; 2],
        lanes: usize,
        slots: &[Slot],
        body: &Region,
        hoisted: &[bool],
    ) -> Lowered<Clif> {
        let stop = self.whole_steps(start, end, LANES as i64);
        self.counted(
            [start, stop],
            LANES as i64,
            &[],
            |_| Ok(()),
            |lower, i, _, ()| {
                lower.bind(var, Bound::Ramp(i, 0));
                lower.rest(body, hoisted)?;
                for (slot, &value) in slots.iter().zip(&body.yields) {
                    let address = lower.lane_address(slot, i, lanes, lane_bytes(slot.dtype));
                    let sum = lower.emit.load_vectors(slot.dtype, address, 0);
                    let value = lower.bound(value);
                    let sum = lower.combine(slot.combine, slot.dtype, Bound::Lanes(sum), value);
                    let sum = lower.emit.lanes(slot.dtype, sum);
                    lower.emit.store_vectors(sum, address, 0);
                }
                Ok(Vec::new())
            },
        )?;
        Ok(stop)
    }

    /// One element at a time, lanes on the stack.
    fn singles(
        &mut self,
        var: Value,
        bounds: [Clif; 2],
        lanes: usize,
        slots: &[Slot],
        body: &Region,
        hoisted: &[bool],
    ) -> Lowered {
        self.counted(
            bounds,
            1,
            &[],
            |_| Ok(()),
            |lower, i, _, ()| {
                lower.bind(var, Bound::One(i));
                lower.rest(body, hoisted)?;
                for (slot, &value) in slots.iter().zip(&body.yields) {
                    let address = lower.lane_address(slot, i, lanes, lane_bytes(slot.dtype));
                    let sum = lower.emit.load_lane(slot.dtype, address);
                    let value = lower.bound(value);
                    let sum = lower.combine(slot.combine, slot.dtype, Bound::One(sum), value);
                    let sum = lower.emit.lane(slot.dtype, sum, 0);
                    lower.emit.store_lane(slot.dtype, sum, address);
                }
                Ok(Vec::new())
            },
        )?;
        Ok(())
    }

    /// Inside a vector loop: four reductions at once, each with all its lanes.
    fn reduce_each_lane(
        &mut self,
        var: Value,
        extent: Size,
        lanes: usize,
        accumulators: &[Accumulator],
        body: &Region,
    ) -> Lowered {
        let slots = self.slots(lanes, accumulators, LANES);
        self.fill_all(&slots, lanes * LANES);
        let bounds = [self.emit.int(types::I64, 0), self.emit.size(extent)];
        self.counted(
            bounds,
            1,
            &[],
            |lower| lower.hoist(body, &[var], Iterations::Independent),
            |lower, i, _, hoisted| {
                lower.bind(var, Bound::One(i));
                lower.rest(body, &hoisted)?;
                for (slot, &value) in slots.iter().zip(&body.yields) {
                    let address = lower.lane_address(slot, i, lanes, LANES * lane_bytes(slot.dtype));
                    let sum = lower.emit.load_vectors(slot.dtype, address, 0);
                    let value = lower.bound(value);
                    let sum = lower.combine(slot.combine, slot.dtype, Bound::Lanes(sum), value);
                    let sum = lower.emit.lanes(slot.dtype, sum);
                    lower.emit.store_vectors(sum, address, 0);
                }
                Ok(Vec::new())
            },
        )?;
        for (accumulator, slot) in accumulators.iter().zip(&slots) {
            let address = self.emit.stack_address(slot.memory, slot.at);
            let bytes = LANES * lane_bytes(slot.dtype);
            let sums: Vec<Lanes> = (0..lanes)
                .map(|lane| self.emit.load_vectors(slot.dtype, address, (lane * bytes) as i32))
                .collect();
            let sum = self.halve_vectors(slot, sums);
            let sum = if self.laned[accumulator.out.0 as usize] {
                Bound::Lanes(sum)
            } else {
                Bound::One(self.emit.extract(slot.dtype, sum, 0))
            };
            self.bind(accumulator.out, sum);
        }
        Ok(())
    }

    /// Stack memory for the lanes of each accumulator, one after the other, each lane `times` as wide.
    fn slots(&mut self, lanes: usize, accumulators: &[Accumulator], times: usize) -> Vec<Slot> {
        let bytes = |dtype: DType| lanes * lane_bytes(dtype) * times;
        let dtypes: Vec<DType> = accumulators.iter().map(|a| self.kernel.dtype(a.out)).collect();
        let memory = self.emit.stack(dtypes.iter().map(|&dtype| bytes(dtype)).sum());
        let mut at = 0;
        let slot = |(accumulator, &dtype): (&Accumulator, &DType)| {
            let slot = Slot { combine: accumulator.combine, dtype, memory, at };
            at += bytes(dtype) as i32;
            slot
        };
        accumulators.iter().zip(&dtypes).map(slot).collect()
    }

    /// Sets all lanes of all accumulators to their identity.
    fn fill_all(&mut self, slots: &[Slot], lanes: usize) {
        for slot in slots {
            self.fill(slot, lanes);
        }
    }

    /// Sets all lanes to the identity.
    fn fill(&mut self, slot: &Slot, lanes: usize) {
        let identity = self.identity(slot.combine, slot.dtype);
        let identity = self.emit.lanes(slot.dtype, identity);
        let address = self.emit.stack_address(slot.memory, slot.at);
        for group in 0..lanes / LANES {
            self.emit.store_vectors(identity, address, (group * LANES * lane_bytes(slot.dtype)) as i32);
        }
    }

    /// Where the lane of element `i` is.
    fn lane_address(&mut self, slot: &Slot, i: Clif, lanes: usize, bytes: usize) -> Clif {
        let mask = self.emit.int(types::I64, lanes as i64 - 1);
        let lane = self.emit.ins().band(i, mask);
        let offset = self.emit.mul_const(lane, bytes as i64);
        let address = self.emit.stack_address(slot.memory, slot.at);
        self.emit.ins().iadd(address, offset)
    }

    /// Combines all lanes on the stack to one.
    fn halve(&mut self, slot: &Slot, lanes: usize) -> Clif {
        let address = self.emit.stack_address(slot.memory, slot.at);
        let bytes = LANES * lane_bytes(slot.dtype);
        let groups: Vec<Lanes> = (0..lanes / LANES)
            .map(|group| self.emit.load_vectors(slot.dtype, address, (group * bytes) as i32))
            .collect();
        let last = self.halve_vectors(slot, groups);
        let mut scalars: Vec<Bound> =
            (0..LANES).map(|lane| Bound::One(self.emit.extract(slot.dtype, last, lane))).collect();
        while scalars.len() > 1 {
            let width = scalars.len() / 2;
            scalars = (0..width)
                .map(|k| self.combine(slot.combine, slot.dtype, scalars[k], scalars[k + width]))
                .collect();
        }
        self.emit.lane(slot.dtype, scalars[0], 0)
    }

    /// Combines vectors of lanes until one is left.
    fn halve_vectors(&mut self, slot: &Slot, mut groups: Vec<Lanes>) -> Lanes {
        while groups.len() > 1 {
            let width = groups.len() / 2;
            groups = (0..width)
                .map(|k| {
                    let (a, b) = (Bound::Lanes(groups[k]), Bound::Lanes(groups[k + width]));
                    let sum = self.combine(slot.combine, slot.dtype, a, b);
                    self.emit.lanes(slot.dtype, sum)
                })
                .collect();
        }
        groups[0]
    }

    fn identity(&mut self, combine: Combine, dtype: DType) -> Bound {
        let identity = combine.identity(dtype).expect("the kernel verified");
        Bound::One(self.emit.literal(identity))
    }

    /// One step of a reduction: lanes where either side has lanes, of the width of the dtype.
    fn combine(&mut self, combine: Combine, dtype: DType, a: Bound, b: Bound) -> Bound {
        if let (Bound::One(a), Bound::One(b)) = (a, b) {
            return Bound::One(self.emit.scalar(combine.op(), dtype, &[a, b]));
        }
        let bound = self.emit.vector(combine.op(), &[dtype, dtype], &[a, b]);
        let lanes = self.emit.lanes(dtype, bound);
        Bound::Lanes(self.emit.mask_for(dtype, lanes))
    }
}
