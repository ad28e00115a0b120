//! Wide code before registers: straight lines of instructions on vectors and masks.

use smallvec::SmallVec;

use super::opcode::Opcode;

/// The kind of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// A vector.
    Vector,
    /// A mask register; at 256 bits masks are vectors.
    Mask,
}

/// A vector or a mask, defined once in its line of code; accumulators are defined again and again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reg(pub(crate) u32);

/// Something that is the same in every iteration, by its number in [`Steadies`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SteadyId(pub(crate) u32);

/// What is the same in every iteration, and where it is in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Steady {
    /// 32 bits in every lane, known now.
    Bits32(u32),
    /// 64 bits in every lane, known now.
    Bits64(u64),
    /// 32 bits in every lane, handed over by the caller.
    Slot32(u32),
    /// 64 bits in every lane, handed over by the caller.
    Slot64(u32),
    /// Lanes of 64 bits that count from a number on.
    Count64(i64),
    /// Lanes of 32 bits that count from 0 by a number.
    Steps32(i32),
    /// Where elements that are `step` apart are in what was picked before and the vector of a number: see `pick`.
    Pick { wide: bool, step: u8, vector: u8 },
}

impl Steady {
    /// The size of what is repeated, if that is what it is.
    pub(crate) fn element(self) -> Option<u8> {
        match self {
            Steady::Bits32(_) | Steady::Slot32(_) => Some(4),
            Steady::Bits64(_) | Steady::Slot64(_) => Some(8),
            Steady::Count64(_) | Steady::Steps32(_) | Steady::Pick { .. } => None,
        }
    }
}

/// All that is steady in a function, each once.
#[derive(Debug, Default)]
pub(crate) struct Steadies {
    pub(crate) all: Vec<Steady>,
}

impl Steadies {
    pub(crate) fn id(&mut self, steady: Steady) -> SteadyId {
        // Bodies have tens of constants: looking through them is as fast as a table.
        let found = self.all.iter().position(|&known| known == steady);
        SteadyId(found.unwrap_or_else(|| {
            self.all.push(steady);
            self.all.len() - 1
        }) as u32)
    }
}

/// An operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Src {
    Reg(Reg),
    Steady(SteadyId),
}

/// Where operands stand in the encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// `out = op a, b`
    Two,
    /// `out = op a`
    One,
    /// `out = op a` by a constant; the digit is part of the opcode.
    Digit(u8),
    /// `out = op a`, with the places of the two exchanged.
    Down,
    /// `out = a * b + c`
    Fma,
    /// `out = op a, b, c` in the place of `a`.
    Tied,
    /// `out = op a, b, c` with the last as a part of the constant.
    Choose,
    /// `out = op [memory]`
    Load,
    /// `[memory] = op a`
    Store,
    /// `out = op [memory + a]`; spoils its mask.
    Gather,
    /// `[memory + a] = op b`; spoils its mask.
    Scatter,
    /// `out = op general`: the loop variable.
    Variable,
    /// Leaves the function before anything is stored in this turn, if a mask has a lane.
    Leave,
}

/// Which lanes of an instruction count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lanes {
    All,
    /// Those that are iterations, in this mask register.
    Iterations(u8),
    /// Those of a mask; the others are as they were in the operand that the result replaces.
    Masked(Reg),
    /// Those of a mask; the others are zero.
    Kept(Reg),
}

/// An address: a pointer, the loop variable times a factor, and a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Memory {
    /// The number of the pointer.
    pub(crate) stream: u32,
    /// What the loop variable is multiplied by: 1, 2, 4 or 8, or any number for lanes that are not neighbours.
    pub(crate) scale: i64,
    pub(crate) offset: i32,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    pub(crate) op: Opcode,
    pub(crate) form: Form,
    pub(crate) out: Option<Reg>,
    pub(crate) srcs: SmallVec<[Src; 3]>,
    pub(crate) constant: Option<u8>,
    pub(crate) lanes: Lanes,
    pub(crate) memory: Option<Memory>,
}

impl Inst {
    /// Everything that it reads.
    pub(crate) fn reads(&self) -> impl Iterator<Item = Src> + '_ {
        let mask = match self.lanes {
            Lanes::All | Lanes::Iterations(_) => None,
            Lanes::Masked(reg) | Lanes::Kept(reg) => Some(Src::Reg(reg)),
        };
        self.srcs.iter().copied().chain(mask)
    }

    /// The same with other registers.
    pub(crate) fn renamed(&self, rename: impl Fn(Reg) -> Reg) -> Inst {
        let mut inst = self.clone();
        inst.out = inst.out.map(&rename);
        for src in &mut inst.srcs {
            if let Src::Reg(reg) = src {
                *reg = rename(*reg);
            }
        }
        inst.lanes = match inst.lanes {
            Lanes::Masked(reg) => Lanes::Masked(rename(reg)),
            Lanes::Kept(reg) => Lanes::Kept(rename(reg)),
            lanes @ (Lanes::All | Lanes::Iterations(_)) => lanes,
        };
        inst
    }
}

/// Most instructions of a loop that is written out as a whole.
pub(crate) const LONGEST_WRITTEN_OUT: i64 = 96;

/// The lanes of a mask register, if so many iterations are left: there are 16 for each group, of which the upper half is
/// a register of its own for lanes of 64 bits.
pub(crate) fn iterations_of(mask: u8, count: i64) -> u16 {
    let before = 16 * ((mask - 1) / 2) + 8 * ((mask - 1) % 2);
    let count = (count - i64::from(before)).clamp(0, 16);
    ((1u32 << count) - 1) as u16
}

/// Whether all lanes of a mask register are iterations.
fn is_whole(mask: u8, count: i64) -> bool {
    let wanted = if mask % 2 == 1 { u16::MAX } else { 0xff };
    iterations_of(mask, count) & wanted == wanted
}

/// The body of a loop, all its copies one after the other.
#[derive(Debug, Default)]
pub(crate) struct Line {
    pub(crate) insts: Vec<Inst>,
    pub(crate) classes: Vec<Class>,
    /// The first registers are accumulators, as many as this.
    pub(crate) accumulators: usize,
}

impl Line {
    pub(crate) fn reg(&mut self, class: Class) -> Reg {
        self.classes.push(class);
        Reg(self.classes.len() as u32 - 1)
    }

    /// Removes instructions that nothing depends on.
    pub(crate) fn prune(&mut self) {
        let mut read = vec![false; self.classes.len()];
        let mut keep = vec![true; self.insts.len()];
        for (inst, keep) in self.insts.iter().zip(&mut keep).rev() {
            *keep = inst.out.is_none_or(|out| read[out.0 as usize] || (out.0 as usize) < self.accumulators);
            if *keep {
                inst.reads().for_each(|src| {
                    if let Src::Reg(reg) = src {
                        read[reg.0 as usize] = true;
                    }
                });
            }
        }
        let mut keep = keep.into_iter();
        self.insts.retain(|_| keep.next() == Some(true));
    }

    /// The line as often as there are turns, from the iteration `at` on, with the loop variable known; with as many
    /// iterations as a mask is for, if lanes are masked. `None` if that is long.
    pub(crate) fn written_out(&self, turns: i64, step: i64, at: i64, masked: Option<i64>) -> Option<Line> {
        let is_fixed = |inst: &Inst| !matches!(inst.form, Form::Variable | Form::Leave);
        if turns.checked_mul(self.insts.len() as i64)? > LONGEST_WRITTEN_OUT
            || !self.insts.iter().all(is_fixed)
        {
            return None;
        }
        let mut line =
            Line { accumulators: self.accumulators, classes: self.classes.clone(), insts: Vec::new() };
        for turn in 0..turns {
            // Accumulators are the same in every turn.
            let first = line.classes.len() - self.classes.len();
            let renamed = |reg: Reg| match (reg.0 as usize) < self.accumulators {
                true => reg,
                false => Reg(reg.0 + first as u32),
            };
            let count = masked.map(|count| count - turn * step);
            for inst in self.insts.iter().filter(|inst| !self.is_idle(inst, count)) {
                let mut inst = inst.renamed(renamed);
                if let (Lanes::Iterations(mask), Some(count)) = (inst.lanes, count)
                    && is_whole(mask, count)
                {
                    inst.lanes = Lanes::All;
                }
                if let Some(memory) = &mut inst.memory {
                    let bytes = memory.scale.checked_mul(at + turn * step)?;
                    memory.offset = memory.offset.checked_add(i32::try_from(bytes).ok()?)?;
                    memory.scale = 0;
                }
                line.insts.push(inst);
            }
            if turn + 1 < turns {
                line.classes.extend_from_slice(&self.classes);
            }
        }
        line.prune();
        Some(line)
    }

    /// Whether what an instruction stores or sums up is in lanes that are no iterations, with so many of them.
    fn is_idle(&self, inst: &Inst, count: Option<i64>) -> bool {
        let lasts = inst.out.is_none_or(|out| (out.0 as usize) < self.accumulators);
        matches!((inst.lanes, count), (Lanes::Iterations(mask), Some(count)) if lasts && iterations_of(mask, count) == 0)
    }

    pub(crate) fn class(&self, reg: Reg) -> Class {
        self.classes[reg.0 as usize]
    }
}
