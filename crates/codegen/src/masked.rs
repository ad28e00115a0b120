//! Branches and `while` loops whose condition differs between the lanes of a vector loop.
//!
//! All lanes go through them; a lane that is not meant keeps its values. That is right because such regions
//! store nothing and every operation and load in them is total: the verifier proves indices without looking at
//! conditions.

use cranelift_codegen::ir::{InstBuilder as _, Type, Value as Clif, types};
use tracewell_array::DType;
use tracewell_kernel::{Carry, Region, Value};

use crate::lanes::Lanes;
use crate::lower::{Lower, Lowered};
use crate::vector::Bound;

impl Lower<'_, '_> {
    /// The lanes that are meant here, as 32-bit masks.
    fn meant(&mut self) -> Clif {
        self.mask.unwrap_or_else(|| {
            let ones = self.emit.int(types::I32, -1);
            self.emit.ins().splat(types::I32X4, ones)
        })
    }

    /// A bool as 32-bit masks.
    fn condition(&mut self, value: Value) -> Clif {
        let bound = self.bound(value);
        let lanes = self.emit.lanes(DType::Bool, bound);
        self.emit.narrow(lanes)
    }

    /// Both regions, and for each lane what its own yields.
    pub(crate) fn if_masked(
        &mut self,
        cond: Value,
        outs: &[Value],
        then: &Region,
        otherwise: &Region,
    ) -> Lowered {
        let cond = self.condition(cond);
        let outer = self.mask;
        let meant = self.meant();
        self.mask = Some(self.emit.ins().band(meant, cond));
        self.region(then)?;
        self.mask = Some(self.emit.ins().band_not(meant, cond));
        self.region(otherwise)?;
        self.mask = outer;
        for (&out, (&a, &b)) in outs.iter().zip(then.yields.iter().zip(&otherwise.yields)) {
            let value = self.choose(out, cond, a, b);
            self.bind(out, value);
        }
        Ok(())
    }

    /// Repeats while any lane that is meant goes on.
    pub(crate) fn while_masked(&mut self, carries: &[Carry], cond: &Region, body: &Region) -> Lowered {
        let outer = self.mask;
        let mut init = self.pack(carries.iter().map(|c| (c.init, c.out)));
        init.push(self.meant());
        let types: Vec<Type> = init.iter().map(|&value| self.emit.type_of(value)).collect();
        let repeat = self.emit.block(&types);
        let (again, exit) = (self.emit.block(&[]), self.emit.block(&[]));
        let mut carried = self.emit.enter(repeat, &init);
        let active = carried.pop().expect("the mask was pushed last");
        self.in_loop(|lower| {
            lower.mask = Some(active);
            lower.unpack(carries.iter().map(|c| c.inside), &carried);
            lower.region(cond)?;
            let goes_on = lower.condition(cond.yields[0]);
            let active = lower.emit.ins().band(active, goes_on);
            let any = lower.emit.ins().vany_true(active);
            lower.emit.branch(any, (again, &[]), (exit, &[]));
            lower.emit.switch_to(again);
            lower.mask = Some(active);
            lower.region(body)?;
            for (carry, &next) in carries.iter().zip(&body.yields) {
                // `out` is free until the loop ends.
                let next = lower.choose(carry.out, active, next, carry.inside);
                lower.bind(carry.out, next);
            }
            let mut next = lower.pack(carries.iter().map(|c| (c.out, c.out)));
            next.push(active);
            lower.emit.jump(repeat, &next);
            Ok(())
        })?;
        self.emit.switch_to(exit);
        self.mask = outer;
        self.unpack(carries.iter().map(|c| c.out), &carried);
        Ok(())
    }

    /// `a` in the lanes of the mask, else `b`, as a value like `out`.
    fn choose(&mut self, out: Value, mask: Clif, a: Value, b: Value) -> Bound {
        let dtype = self.kernel.dtype(out);
        let (a, b) = (self.bound(a), self.bound(b));
        let (a, b) = (self.emit.lanes(dtype, a), self.emit.lanes(dtype, b));
        Bound::Lanes(self.emit.select_lanes(dtype, Lanes::Narrow(mask), a, b))
    }
}
