//! `each`: iterations in any order, and therefore four at a time where that pays.
//!
//! A vector loop handles a multiple of its step, a scalar loop the rest. Each vector is loaded, computed and
//! stored before the next: loading several first overflows the sixteen registers.

use cranelift_codegen::ir::{InstBuilder as _, Value as Clif, types};
use tracewell_kernel::{Region, Size, Value};

use crate::hoist::{Iterations, is_straight};
use crate::lanes::LANES;
use crate::lower::{Lower, Lowered};
use crate::plan::{Plan, plan};
use crate::target::Loops;
use crate::vector::Bound;

/// Most iterations of a constant number that are written out one after the other.
const UNROLL: i64 = 4;

impl Lower<'_, '_> {
    /// Iterations `start..end`. `extent` is given where that is the whole of a range that starts at 0.
    pub(crate) fn each(
        &mut self,
        var: Value,
        start: Clif,
        end: Clif,
        extent: Option<Size>,
        body: &Region,
    ) -> Lowered {
        if let Some(Size::Const(n)) = extent
            && n <= UNROLL
            && is_straight(body)
        {
            for i in 0..n {
                let i = self.emit.int(types::I64, i);
                self.bind(var, Bound::One(i));
                self.region(body)?;
            }
            return Ok(());
        }
        let (enter, exit) = (self.emit.block(&[]), self.emit.block(&[]));
        let any = self.emit.ins().icmp(cranelift_codegen::ir::condcodes::IntCC::SignedLessThan, start, end);
        self.emit.branch(any, (enter, &[]), (exit, &[]));
        self.emit.switch_to(enter);
        let hoisted = self.hoist(body, &[var], Iterations::Independent)?;
        self.iterations(var, [start, end], extent, body, &hoisted)?;
        self.emit.enter(exit, &[]);
        Ok(())
    }

    /// The iterations of an `each`, of which there are some, after what was hoisted.
    pub(crate) fn iterations(
        &mut self,
        var: Value,
        [start, end]: [Clif; 2],
        extent: Option<Size>,
        body: &Region,
        hoisted: &[bool],
    ) -> Lowered {
        // Inside a vector loop, each iteration is one for every lane already.
        let wide = self.wide_each(var, [start, end], extent, body, hoisted)?;
        let mut from = wide.unwrap_or(start);
        if from == end {
            // Nothing is left.
            return Ok(());
        }
        let plan = if self.lanes_around { None } else { self.plan(var, body, hoisted) };
        let divided = plan.is_some();
        if divided && self.loops == Loops::Divided {
            // As many elements as vectors would do.
            let stop = self.whole_steps(from, end, LANES as i64);
            self.one_by_one(var, [from, stop], body, hoisted)?;
            from = stop;
        } else if let Some(plan) = plan {
            let outer = std::mem::replace(&mut self.laned, plan.laned);
            self.lanes_around = true;
            let unroll = if is_straight(body) { unroll(plan.cost, extent) } else { 1 };
            if unroll > 1 && wide.is_none() {
                from = self.vector_each(var, [from, end], unroll, body, hoisted)?;
            }
            from = self.vector_each(var, [from, end], 1, body, hoisted)?;
            self.lanes_around = false;
            self.laned = outer;
        }
        let outer = std::mem::replace(&mut self.in_tail, divided);
        self.one_by_one(var, [from, end], body, hoisted)?;
        self.in_tail = outer;
        Ok(())
    }

    /// A plan for vectors, where they are wanted.
    pub(crate) fn plan(&self, var: Value, body: &Region, hoisted: &[bool]) -> Option<Plan> {
        match self.loops {
            Loops::Plain => None,
            _ => plan(self.kernel, self.emit.features, var, body, hoisted),
        }
    }

    /// Iterations of one element each.
    fn one_by_one(&mut self, var: Value, bounds: [Clif; 2], body: &Region, hoisted: &[bool]) -> Lowered {
        self.counted(
            bounds,
            1,
            &[],
            |_| Ok(()),
            |lower, i, _, ()| {
                lower.bind(var, Bound::One(i));
                lower.rest(body, hoisted)?;
                Ok(Vec::new())
            },
        )?;
        Ok(())
    }

    /// As many iterations as fill `unroll` vectors each time; returns where it stopped.
    fn vector_each(
        &mut self,
        var: Value,
        [start, end]: [Clif; 2],
        unroll: usize,
        body: &Region,
        hoisted: &[bool],
    ) -> Lowered<Clif> {
        let step = (unroll * LANES) as i64;
        let stop = self.whole_steps(start, end, step);
        self.counted(
            [start, stop],
            step,
            &[],
            |_| Ok(()),
            |lower, i, _, ()| {
                for k in 0..unroll {
                    lower.bind(var, Bound::Ramp(i, (k * LANES) as i64));
                    lower.rest(body, hoisted)?;
                }
                Ok(Vec::new())
            },
        )?;
        Ok(stop)
    }

    /// The end of the longest range from `start` that is a multiple of `step`, a power of two.
    pub(crate) fn whole_steps(&mut self, start: Clif, end: Clif, step: i64) -> Clif {
        let count = self.emit.ins().isub(end, start);
        let mask = self.emit.int(types::I64, -step);
        let whole = self.emit.ins().band(count, mask);
        self.emit.ins().iadd(start, whole)
    }
}

/// How many vectors a step handles: several for cheap bodies, where counting would cost as much as the work.
fn unroll(cost: f64, extent: Option<Size>) -> usize {
    let wanted = match cost {
        ..=12.0 => 4,
        ..=24.0 => 2,
        _ => 1,
    };
    match extent {
        Some(Size::Const(n)) if (n as usize) < 2 * wanted * LANES => 1,
        _ => wanted,
    }
}
