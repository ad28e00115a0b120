//! Accumulators that begin with their first value instead of what they start from.
//!
//! To add to nothing costs an instruction, which in rows of a few vectors is a good part of all. The first value in its
//! place has the same bits but for a zero: `0.0 + -0.0` is `0.0`. Adding `0.0` to the sum in the end mends that.

use smallvec::smallvec;

use super::inst::{Form, Inst, Lanes, Line, Reg, Src};
use super::opcode::MOVE;

impl Line {
    /// Makes accumulators begin with the first value they are combined with, where that is for all lanes, in a line
    /// that nothing was summed up before; returns of each whether it does.
    pub(crate) fn begin_with_values(&mut self) -> Vec<bool> {
        let begins: Vec<bool> = (0..self.accumulators)
            .map(|number| self.begin_with_value(Reg(number as u32)).is_some())
            .collect();
        self.insts.retain(|inst| !is_copy_of_itself(inst));
        begins
    }

    fn begin_with_value(&mut self, sum: Reg) -> Option<()> {
        let touches = |inst: &Inst| inst.out == Some(sum) || inst.reads().any(|src| src == Src::Reg(sum));
        let at = self.insts.iter().position(touches)?;
        let first = &self.insts[at];
        let (Form::Two, Lanes::All, [Src::Reg(left), Src::Reg(value)]) =
            (first.form, first.lanes, &first.srcs[..])
        else {
            return None;
        };
        if first.out != Some(sum) || *left != sum || *value == sum {
            return None;
        }
        let (value, wide) = (*value, first.op.w);
        let copy = &mut self.insts[at];
        (copy.op, copy.form, copy.srcs) = (MOVE.of(wide), Form::One, smallvec![Src::Reg(value)]);
        // Where nobody else needs the value, it is made in place.
        let reads = self.insts.iter().flat_map(Inst::reads).filter(|src| *src == Src::Reg(value)).count();
        let is_movable = |inst: &&mut Inst| {
            inst.out == Some(value)
                && inst.lanes == Lanes::All
                && matches!(inst.form, Form::Load | Form::Two | Form::One)
        };
        if reads == 1
            && (value.0 as usize) >= self.accumulators
            && let Some(made) = self.insts[..at].iter_mut().find(is_movable)
        {
            made.out = Some(sum);
            self.insts[at].srcs = smallvec![Src::Reg(sum)];
        }
        Some(())
    }
}

fn is_copy_of_itself(inst: &Inst) -> bool {
    let copied = inst.out.map(Src::Reg);
    inst.op == MOVE.of(inst.op.w)
        && inst.form == Form::One
        && inst.lanes == Lanes::All
        && copied == inst.srcs.first().copied()
}
