//! The functions of loops that sum up, and how lanes become one.

use smallvec::{SmallVec, smallvec};
use tracewell_array::DType;
use tracewell_kernel::{Combine, Kernel, Op, Size, Value};

use super::Level;
use super::ahead::{is_better_far, may_be_far};
use super::body::{Body, Number};
use super::inst::{Class, Reg, Src, Steadies, Steady, SteadyId};
use super::leaf::{Leaf, Loop};
use super::loops::LIMIT;
use super::opcode::{ALIGN, IN_QUARTERS, Pair, QUARTERS};
use super::select::{Accumulator, Parts, Select, parts_of};
use crate::lanes::is_wide;

/// Most instructions of a turn that is written out several times, and how often.
const CHEAP: usize = 16;
const TURNS: usize = 2;
/// How often a vector of 64 bytes is halved until it is as short as vectors are.
const MOST_HALVINGS: u8 = 2;

/// What is known of such a loop beside its body.
#[derive(Clone, Copy)]
pub(crate) struct Summed<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) level: Level,
    pub(crate) broken: bool,
    /// The bits of values that are constants.
    pub(crate) literal: &'a dyn Fn(Value) -> Option<u64>,
    pub(crate) accumulators: &'a [(Combine, DType)],
    /// How many lanes each accumulator has.
    pub(crate) lanes: usize,
    /// How many iterations there are.
    pub(crate) extent: Size,
}

/// A loop that sums up, and what its accumulators are.
struct Summing {
    turn: Loop,
    /// What each starts from.
    starts: Vec<SteadyId>,
    /// How many of them are results: the first ones.
    results: usize,
    /// Results that have the bits of another accumulator too.
    united: Vec<(u8, u8)>,
}

/// Whether a combination needs to know which lanes met a NaN.
fn has_nans(op: Op, dtype: DType) -> bool {
    dtype.is_float() && matches!(op, Op::Min | Op::Max)
}

impl Summed<'_> {
    /// The function of a loop, up to its lanes.
    pub(crate) fn leaf(&self, body: &mut Body<'_>) -> Option<Leaf> {
        let groups = self.lanes / self.level.lanes();
        let registers = |&(combine, dtype): &(Combine, DType)| {
            groups * parts_of(dtype) * if has_nans(combine.op(), dtype) { 2 } else { 1 }
        };
        let all = self.accumulators.iter().map(registers).sum::<usize>();
        if groups == 0 || all > self.level.registers() / 2 {
            return None;
        }
        let mut steadies = Steadies::default();
        let last = self.sums(body, 1, self.level == Level::Avx512, &mut steadies)?;
        let mut loops = Vec::new();
        if is_better_far(&last.turn.line) && may_be_far(self.kernel, body) {
            let far = Some(body.number(Number::IsFar));
            loops.push(Loop { far, ..self.sums(body, 1, false, &mut steadies)?.turn });
        }
        let is_short = matches!(self.extent, Size::Const(n) if n < (2 * TURNS * self.lanes) as i64);
        if last.turn.line.insts.len() <= CHEAP && !is_short {
            loops.push(self.sums(body, TURNS, false, &mut steadies)?.turn);
        } else if body.picks() {
            loops.push(self.sums(body, 1, false, &mut steadies)?.turn);
        }
        let Summing { turn, starts, results, united } = last;
        loops.push(turn);
        let (level, streams) = (self.level, body.streams.len());
        Some(Leaf { level, streams, steadies, accumulators: starts, results, united, loops })
    }

    /// A loop that sums up, with its body written out for several turns. Every such loop of a function has its
    /// accumulators in the same registers.
    fn sums(
        &self,
        body: &mut Body<'_>,
        turns: usize,
        masked: bool,
        steadies: &mut Steadies,
    ) -> Option<Summing> {
        let Summed { level, lanes, .. } = *self;
        let groups = lanes / level.lanes();
        let zero = steadies.id(Steady::Bits32(0));
        let mut select = Select::new(level, steadies, masked, self.broken);
        // In the order of memory: all lanes of the first accumulator, then of the next.
        let mut sums: Vec<Vec<Accumulator>> = vec![Vec::new(); groups];
        let mut starts: Vec<SteadyId> = Vec::new();
        let mut register = |select: &mut Select<'_>, start: SteadyId| {
            starts.push(start);
            select.line.reg(Class::Vector)
        };
        for &(combine, dtype) in self.accumulators {
            let identity = combine.identity(dtype).expect("the kernel verified").bits() as u64;
            let identity = if dtype.is_bool() { identity.wrapping_neg() } else { identity };
            let identity = match is_wide(dtype) {
                true => Steady::Bits64(identity),
                false => Steady::Bits32(identity as u32),
            };
            let identity = select.steadies.id(identity);
            for group in &mut sums {
                let registers = (0..parts_of(dtype)).map(|_| register(&mut select, identity)).collect();
                group.push(Accumulator { op: combine.op(), dtype, registers, nans: SmallVec::new() });
            }
        }
        let results = select.line.classes.len();
        let mut united = Vec::new();
        for sum in sums.iter_mut().flatten() {
            if has_nans(sum.op, sum.dtype) {
                sum.nans = sum.registers.iter().map(|_| register(&mut select, zero)).collect();
                united.extend(sum.registers.iter().zip(&sum.nans).map(|(a, b)| (a.0 as u8, b.0 as u8)));
            }
        }
        select.line.accumulators = select.line.classes.len();
        for copy in 0..turns * groups {
            select.group = if masked { copy } else { 0 };
            body.copy(&mut select, (copy * level.lanes()) as i64, self.literal, &sums[copy % groups])?;
        }
        let line = select.finish();
        if line.insts.len() > LIMIT {
            return None;
        }
        let turn = Loop { line, step: (turns * lanes) as i32, masked, far: None };
        Some(Summing { turn, starts, results, united })
    }
}

/// Sums whose lanes are still apart, in the first vectors.
pub(crate) struct Apart {
    pub(crate) outs: Vec<Value>,
    pub(crate) accumulators: Vec<(Combine, DType)>,
    /// How many lanes each has.
    pub(crate) lanes: usize,
    /// How many vectors are taken, by each of these rows: one, or [`super::pairs`] of them.
    pub(crate) registers: usize,
    pub(crate) rows: usize,
    /// Whether they began with values, so that a sum of `-0.0` alone is not `0.0` yet.
    pub(crate) has_values: bool,
}

impl Select<'_> {
    /// Halves the lanes of sums until one is left, at the start of a line. That of a second row is in the first lane of
    /// the upper half.
    pub(crate) fn fold(&mut self, apart: &Apart) -> Option<Vec<(Value, Parts)>> {
        self.line.accumulators = apart.rows * apart.registers;
        let row = |select: &mut Self| (0..apart.registers).map(|_| select.line.reg(Class::Vector)).collect();
        let mut rows: Vec<Vec<Reg>> = (0..apart.rows).map(|_| row(self)).collect();
        let mut sums = Vec::with_capacity(apart.outs.len());
        for (&(combine, dtype), &out) in apart.accumulators.iter().zip(&apart.outs) {
            let count = apart.lanes / self.level.lanes() * parts_of(dtype);
            let mut vectors: SmallVec<[Src; 2]> = SmallVec::new();
            for row in &mut rows {
                let all = row.drain(..count).map(Src::Reg).collect();
                vectors.push(self.one_vector(combine.op(), dtype, all)?);
            }
            let (mut sum, halvings) = match vectors[..] {
                [a, b] => (self.fold_two(combine.op(), dtype, a, b)?, 0),
                _ => (self.fold_one(combine.op(), dtype, vectors[0])?, MOST_HALVINGS),
            };
            if apart.has_values && combine.op() == Op::Add && dtype.is_float() {
                let zero = self.bits(is_wide(dtype), 0);
                sum = self.combined(Op::Add, dtype, sum, zero, halvings)?;
            }
            sums.push((out, smallvec![sum; parts_of(dtype)]));
        }
        Some(sums)
    }

    /// Several vectors of lanes as one.
    fn one_vector(&mut self, op: Op, dtype: DType, mut vectors: Vec<Src>) -> Option<Src> {
        while vectors.len() > 1 {
            let upper = vectors.split_off(vectors.len() / 2);
            let pairs = vectors.iter().zip(&upper).map(|(&a, &b)| self.combined(op, dtype, a, b, 0));
            vectors = pairs.collect::<Option<_>>()?;
        }
        vectors.first().copied()
    }

    /// The lanes of a vector as one.
    fn fold_one(&mut self, op: Op, dtype: DType, mut sum: Src) -> Option<Src> {
        let mut width = self.level.bytes() / if is_wide(dtype) { 8 } else { 4 } / 2;
        // Instructions on less of a vector end sooner.
        let mut halvings = 0;
        while width > 0 {
            let upper = self.two_by(ALIGN.of(is_wide(dtype)).halved(halvings), sum, sum, width as u8);
            halvings = (halvings + 1).min(MOST_HALVINGS);
            sum = self.combined(op, dtype, sum, upper, halvings)?;
            width /= 2;
        }
        Some(sum)
    }

    /// The lanes of two vectors of 512 bits as one each, combined in the same order: the upper halves of both with the
    /// lower ones, then each half of what is left by itself.
    fn fold_two(&mut self, op: Op, dtype: DType, a: Src, b: Src) -> Option<Src> {
        let wide = is_wide(dtype);
        let lower = self.two_by(QUARTERS.of(wide), a, b, 0x44);
        let upper = self.two_by(QUARTERS.of(wide), a, b, 0xee);
        let mut sum = self.combined(op, dtype, lower, upper, 0)?;
        let others: &[(Pair, u8)] = match wide {
            true => &[(QUARTERS, 0xb1), (IN_QUARTERS, 0x55)],
            false => &[(QUARTERS, 0xb1), (IN_QUARTERS, 0x4e), (IN_QUARTERS, 0xb1)],
        };
        for &(shuffle, order) in others {
            let other = self.two_by(shuffle.of(wide), sum, sum, order);
            sum = self.combined(op, dtype, sum, other, 0)?;
        }
        Some(sum)
    }

    /// One step of a reduction, on one vector of each operand that is halved so often, or on more of it.
    fn combined(&mut self, op: Op, dtype: DType, a: Src, b: Src, halvings: u8) -> Option<Src> {
        match self.single(op, dtype) {
            Some(op) => Some(self.two(op.halved(halvings), a, b)),
            None => Some(self.op(op, &[dtype, dtype], &[smallvec![a], smallvec![b]])?[0]),
        }
    }
}
