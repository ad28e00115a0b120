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
        let masks: Vec<usize> =
            (0..self.insts.len()).filter(|&at| self.may_be_opposite(at, is_zero)).collect();
        masks.into_iter().for_each(|at| self.make_opposite(at, is_zero));
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
                && self.may_keep(&self.insts[place])
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

    /// Whether an instruction may leave zero in some lanes, somewhat later.
    fn may_keep(&self, inst: &Inst) -> bool {
        let is_plain = matches!(inst.form, Form::One | Form::Two) && inst.lanes == Lanes::All;
        let is_vectors = !matches!(inst.op.kind, Kind::Masks(_));
        let sums = |src: Src| matches!(src, Src::Reg(reg) if (reg.0 as usize) < self.accumulators);
        is_plain && is_vectors && !inst.reads().any(sums)
    }

    /// Whether an instruction is a comparison that only choices depend on, some of which take zero where it holds.
    fn may_be_opposite(&self, at: usize, is_zero: impl Fn(Src) -> bool) -> bool {
        let inst = &self.insts[at];
        let Some(mask) = inst.out.filter(|out| self.class(*out) == Class::Mask) else { return false };
        let compares = [COMPARE_F, COMPARE_S, COMPARE_U].iter().any(|pair| is(inst, *pair));
        if !compares || inst.constant.is_none() || inst.lanes != Lanes::All {
            return false;
        }
        let mut takes_zero = false;
        let readers = || self.insts.iter().filter(|inst| inst.reads().any(|src| src == Src::Reg(mask)));
        let only_chosen = readers().all(|inst| {
            let chooses = is(inst, BLEND) && inst.lanes == Lanes::Masked(mask);
            takes_zero |= chooses && is_zero(inst.srcs[1]);
            chooses
        });
        only_chosen && takes_zero
    }

    /// Turns a comparison and the choices by it round.
    fn make_opposite(&mut self, at: usize, is_zero: impl Fn(Src) -> bool) {
        let Some(mask) = self.insts[at].out else { return };
        self.insts[at].constant = self.insts[at].constant.map(|constant| constant ^ OPPOSITE);
        for inst in self.insts.iter_mut().filter(|inst| inst.lanes == Lanes::Masked(mask)) {
            inst.srcs.swap(0, 1);
            if is_zero(inst.srcs[0]) {
                let op = MOVE.of(inst.op.w);
                inst.srcs.remove(0);
                (inst.op, inst.form, inst.lanes) = (op, Form::One, Lanes::Kept(mask));
            }
        }
    }
}

fn is(inst: &Inst, pair: Pair) -> bool {
    inst.op == pair.of(false) || inst.op == pair.of(true)
}
