//! Choices between zero and what an instruction makes, by that instruction.
//!
//! At 512 bits an instruction may leave zero in the lanes that a mask does not name. Many functions are zero beyond some
//! argument, and a choice is as dear as a multiplication.

use super::inst::{Class, Form, Inst, Lanes, Line, Reg, Src, Steadies, Steady};
use super::opcode::{BLEND, COMPARE_F, COMPARE_S, COMPARE_U, Kind, MOVE, Pair};

/// Makes a comparison hold where it did not.
const OPPOSITE: u8 = 4;

impl Line {
    /// Lets instructions make choices between their results and zero.
    pub(crate) fn choose_in_place(&mut self, steadies: &Steadies) {
        let is_zero = |src: Src| match src {
            Src::Steady(id) => matches!(steadies.all[id.0 as usize], Steady::Bits32(0) | Steady::Bits64(0)),
            Src::Reg(_) => false,
        };
        let is_turned = self.turned(is_zero);
        self.turn(&is_turned, is_zero);
        let mut places = vec![None; self.classes.len()];
        let mut reads = vec![0u32; self.classes.len()];
        for (at, inst) in self.insts.iter().enumerate() {
            inst.reads().for_each(|src| {
                if let Src::Reg(reg) = src {
                    reads[reg.0 as usize] += 1
                }
            });
            inst.out.inspect(|out| places[out.0 as usize] = Some(at));
        }
        let is_ours = |reg: Reg| reg.0 as usize >= self.accumulators && reads[reg.0 as usize] == 1;
        let mut moved = Vec::new();
        for (at, inst) in self.insts.iter().enumerate() {
            if let (Lanes::Kept(_), &[Src::Reg(reg)]) = (inst.lanes, &inst.srcs[..])
                && is(inst, MOVE)
                && is_ours(reg)
                && let Some(place) = places[reg.0 as usize]
                && self.may_keep(&self.insts[place], inst.op.w)
            {
                moved.push((place, at));
            }
        }
        let mut is_gone = vec![false; self.insts.len()];
        for (place, at) in moved {
            let (out, lanes) = (self.insts[at].out, self.insts[at].lanes);
            self.insts[at] = Inst { out, lanes, ..self.insts[place].clone() };
            is_gone[place] = true;
        }
        let mut is_gone = is_gone.into_iter();
        self.insts.retain(|_| is_gone.next() == Some(false));
    }

    /// Whether an instruction may leave zero in some lanes, of 64 bits if `wide`, somewhat later.
    fn may_keep(&self, inst: &Inst, wide: bool) -> bool {
        let is_plain = matches!(inst.form, Form::One | Form::Two) && inst.lanes == Lanes::All;
        // Of others a mask means other lanes, or nothing.
        let is_lanes = inst.op.kind == Kind::Vectors(if wide { 8 } else { 4 });
        let sums = |src: Src| matches!(src, Src::Reg(reg) if (reg.0 as usize) < self.accumulators);
        is_plain && is_lanes && !inst.reads().any(sums)
    }

    /// The masks of comparisons that only choices depend on, some of which take zero where they hold.
    fn turned(&self, is_zero: impl Fn(Src) -> bool) -> Vec<bool> {
        let (mut is_compared, mut takes_zero) =
            (vec![false; self.classes.len()], vec![false; self.classes.len()]);
        let mut is_other = vec![false; self.classes.len()];
        for inst in &self.insts {
            let compares = [COMPARE_F, COMPARE_S, COMPARE_U].iter().any(|pair| is(inst, *pair));
            if let Some(mask) = inst.out.filter(|out| compares && self.class(*out) == Class::Mask) {
                is_compared[mask.0 as usize] = inst.constant.is_some() && inst.lanes == Lanes::All;
            }
            for src in inst.reads() {
                match src {
                    Src::Reg(mask) if is(inst, BLEND) && inst.lanes == Lanes::Masked(mask) => {
                        takes_zero[mask.0 as usize] |= is_zero(inst.srcs[1]);
                    }
                    Src::Reg(reg) => is_other[reg.0 as usize] = true,
                    Src::Steady(_) => {}
                }
            }
        }
        (0..self.classes.len()).map(|reg| is_compared[reg] && takes_zero[reg] && !is_other[reg]).collect()
    }

    /// Turns comparisons and the choices by them round.
    fn turn(&mut self, is_turned: &[bool], is_zero: impl Fn(Src) -> bool) {
        for inst in &mut self.insts {
            if inst.out.is_some_and(|out| is_turned[out.0 as usize]) {
                inst.constant = inst.constant.map(|constant| constant ^ OPPOSITE);
            }
            if let Lanes::Masked(mask) = inst.lanes
                && is_turned[mask.0 as usize]
            {
                inst.srcs.swap(0, 1);
                if is_zero(inst.srcs[0]) {
                    let op = MOVE.of(inst.op.w);
                    inst.srcs.remove(0);
                    (inst.op, inst.form, inst.lanes) = (op, Form::One, Lanes::Kept(mask));
                }
            }
        }
    }
}

fn is(inst: &Inst, pair: Pair) -> bool {
    inst.op == pair.of(false) || inst.op == pair.of(true)
}
