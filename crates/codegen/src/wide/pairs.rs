//! Two rows of a loop that sums up rows, at a time.
//!
//! What is summed up of a row is in as many lanes as a vector has, and takes as many instructions to become one number
//! as some hundred elements took before. Lanes of two rows are folded together by hardly more instructions than those
//! of one, with the same additions. It is done where a row is short and where nothing but its sums differs from row to
//! row; the last row of an odd number, and rows of arrays so large that memory is all that counts, are summed up alone.

use tracewell_kernel::{Kernel, Op, Size, Stmt, Value};

use super::body::{Body, Number, Stream};
use super::encode::{General, Operands, Place, RAX, RSI, When};
use super::inst::{LONGEST_WRITTEN_OUT, Line, Reg, Steadies};
use super::leaf::{Leaf, once, places};
use super::moving::{COUNTER, Moving, Origin};
use super::nest::{Around, Handed, Nest};
use super::opcode::OR;
use super::reduction::Reduction;
use super::registers::{BLOCK, Surroundings};
use super::stretch::Stretch;
use super::sum::Apart;
use crate::hoist::Iterations;
use crate::lanes::is_wide;

/// Most bytes from one row to the next: addresses in a pair have room for twice as many, and for what is asked for early.
const FURTHEST: u32 = 1 << 28;

/// The code of two rows, before registers.
pub(crate) struct Pair {
    leaf: Leaf,
    /// The loops of both rows, with how many iterations the last turn of each is for.
    sums: Vec<(Line, i64)>,
    /// Of each accumulator whether it begins with a value.
    begin: Vec<bool>,
    handed: Handed,
    /// The registers that move along, and how many bytes from one row to the next.
    steps: Vec<(General, i32)>,
    /// Where it is said whether arrays are walked far, if that matters.
    far: Option<i32>,
    /// What becomes of the lanes, with what is steady in it.
    rest: Line,
    steadies: Steadies,
    handed_to_rest: Handed,
}

/// A loop that sums up, and what follows it in a row.
struct Row<'k> {
    reduction: Reduction<'k>,
    count: i64,
    rest: Vec<&'k Stmt>,
}

impl<'k> Row<'k> {
    fn new(kernel: &Kernel, around: Around<'k, '_>) -> Option<Row<'k>> {
        let is_done = |at: &usize| around.hoisted.get(*at) != Some(&true);
        let stmts =
            around.region.stmts.iter().enumerate().filter(|(at, _)| is_done(at)).map(|(_, stmt)| stmt);
        let mut stmts = stmts.filter(|stmt| !matches!(stmt, Stmt::Op { op: Op::Const(_), .. }));
        let reduction = Reduction::new(kernel, stmts.next()?)?;
        let Size::Const(count) = reduction.extent else { return None };
        let row = Row { reduction, count, rest: stmts.collect() };
        // Lanes of another width would be elsewhere.
        let accumulators = row.reduction.accumulators;
        let wide = is_wide(kernel.dtype(accumulators.first()?.out));
        let is_alike = |value: &Value| {
            let dtype = kernel.dtype(*value);
            dtype.size() >= 4 && !dtype.is_bool() && is_wide(dtype) == wide
        };
        let is_taken = |stmt: &&Stmt| match stmt {
            Stmt::Op { out, args, .. } => is_alike(out) && args.iter().all(is_alike),
            Stmt::Store { value, .. } => is_alike(value),
            _ => false,
        };
        let all = accumulators.iter().all(|a| is_alike(&a.out)) && row.rest.iter().all(is_taken);
        all.then_some(row)
    }
}

impl<'k> Nest<'k> {
    /// The code of two rows of a loop, if there is such.
    pub(crate) fn pair(&mut self, around: Around<'k, '_>, moving: &Moving) -> Option<Pair> {
        if around.iterations != Iterations::Independent || moving.is_read() {
            return None;
        }
        let row = Row::new(self.kernel, around)?;
        let hoisted = &row.reduction.hoisted;
        let is_known =
            |(at, stmt): (usize, &Stmt)| !hoisted[at] || matches!(stmt, Stmt::Op { op: Op::Const(_), .. });
        if !row.reduction.region.stmts.iter().enumerate().all(is_known) {
            return None;
        }
        let (body, leaf, apart) = self.summed_up(&row.reduction)?;
        if 2 * apart.registers > self.level.registers() / 2 {
            return None;
        }
        let further = |origin: &Origin| self.bytes_along(around.var, origin);
        let steps = moving.steps(further)?;
        if steps.iter().any(|(_, step)| step.unsigned_abs() > FURTHEST) {
            return None;
        }
        let each = body.streams.iter().map(|stream| further(&Origin::new(stream, Some(&body))));
        let mut sums = leaf.two_rows(row.count, &each.collect::<Option<Vec<i32>>>()?)?;
        let begin = sums.first_mut()?.0.begin_with_values();
        let apart = Apart { rows: 2, has_values: begin.contains(&true), ..apart };
        let second_row = |stream: &Stream| further(&Origin::new(stream, None));
        let literal = |value: Value| self.constants.get(&value).copied();
        let mut stretch = Stretch {
            kernel: self.kernel,
            level: self.level,
            literal: &literal,
            streams: Vec::new(),
            numbers: Vec::new(),
            steadies: Steadies::default(),
            second_row: Some(&second_row),
        };
        let rest = stretch.line(&row.rest, &[], Some(&apart))?;
        let Stretch { streams, numbers, steadies, .. } = stretch;
        let handed = self.moving_along(around.var, moving, &body.numbers, &body.streams, Some(&body))?;
        let handed_to_rest = self.moving_along(around.var, moving, &numbers, &streams, None)?;
        let far = leaf.loops.iter().find_map(|each| each.far).map(|number| handed.slots[number as usize]);
        Some(Pair { leaf, sums, begin, handed, steps, far, rest, steadies, handed_to_rest })
    }

    /// Where things are that a row needs, if they are there before it.
    fn moving_along(
        &mut self,
        var: Value,
        moving: &Moving,
        numbers: &[Number],
        streams: &[Stream],
        body: Option<&Body<'_>>,
    ) -> Option<Handed> {
        let mut slots = Vec::with_capacity(numbers.len());
        for &number in numbers {
            if matches!(number, Number::Value(value) if value == var || !moving.is_before(value)) {
                return None;
            }
            slots.push(self.number(number, body)?);
        }
        let pointers = streams.iter().map(|stream| moving.pointer(&Origin::new(stream, body)));
        Some(Handed { slots, pointers: pointers.collect::<Option<Vec<General>>>()? })
    }

    /// Rows in pairs, before the loop at `again` sums up what is left, from the iteration on that the counter says.
    pub(crate) fn pairs(&mut self, pair: &Pair, around: Around<'k, '_>, again: usize) -> Option<()> {
        if let Some(far) = pair.far {
            self.asm.load(RSI, Place::Memory(BLOCK, None, far));
            self.asm.compare_const(RSI, 0);
            self.asm.jump_back(Some(When::Greater), again);
        }
        self.compare_next(around)?;
        self.asm.jump_back(Some(When::NotLess), again);
        let first = self.asm.bytes.len();
        self.two_rows(pair);
        for &(register, step) in &pair.steps {
            self.asm.add_const(register, 2 * step);
        }
        self.asm.add_const(COUNTER, 2);
        self.compare_next(around)?;
        self.asm.jump_back(Some(When::Less), first);
        self.compare_with_end(COUNTER, around.iterated)?;
        self.asm.jump_back(Some(When::Less), again);
        Some(())
    }

    /// Compares the row after that of the counter with the end.
    fn compare_next(&mut self, around: Around<'k, '_>) -> Option<()> {
        self.asm.load(RAX, Place::Register(COUNTER));
        self.asm.add_const(RAX, 1);
        self.compare_with_end(RAX, around.iterated)
    }

    fn two_rows(&mut self, pair: &Pair) {
        let Pair { leaf, handed, .. } = pair;
        let slot = |number: u32| handed.slots[number as usize];
        let places = places(leaf.level, &leaf.steadies, &mut self.pool, &slot);
        let registers = leaf.accumulators.len();
        for register in (0..2 * registers).filter(|&register| !pair.begin[register]) {
            leaf.start(&mut self.asm, register as u8, leaf.accumulators[register % registers], &places);
        }
        let around = Surroundings {
            level: leaf.level,
            steadies: &leaf.steadies,
            places: &places,
            streams: &handed.pointers,
            taken_masks: 0,
            far: false,
            is_loop: false,
        };
        for (line, count) in &pair.sums {
            once(&mut self.asm, line, *count, &around, &mut self.spilled);
        }
        for row in [0, registers as u8] {
            for &(a, b) in &leaf.united {
                self.asm.vector(OR.of(false), &Operands::new(row + a, row + a, Place::Register(row + b)));
            }
        }
        self.line(&pair.rest, &pair.steadies, &pair.handed_to_rest);
    }
}

impl Leaf {
    /// All of its loops for two rows of so many iterations, if they are not long.
    fn two_rows(&self, count: i64, further: &[i32]) -> Option<Vec<(Line, i64)>> {
        let (mut lines, mut done, mut length) = (Vec::new(), 0, 0);
        for each in self.loops.iter().filter(|each| each.far.is_none()) {
            let turns = each.turns(count - done);
            if turns.turns > 0 {
                let line = each.written_out(done, count - done)?.two_rows(further)?;
                length += line.insts.len() as i64;
                lines.push((line, turns.last()));
                done += turns.now;
            }
        }
        (length <= LONGEST_WRITTEN_OUT).then_some(lines)
    }
}

impl Line {
    /// The line for one row and again for the next, whose accumulators are behind those of the first.
    fn two_rows(&self, further: &[i32]) -> Option<Line> {
        let (sums, others) = self.classes.split_at(self.accumulators);
        let classes = [sums, sums, others, others].concat();
        let mut line = Line { insts: Vec::new(), classes, accumulators: 2 * sums.len() };
        // In turn, so that additions do not wait for each other.
        for (inst, row) in self.insts.iter().flat_map(|inst| [(inst, 0), (inst, 1)]) {
            let mut inst = inst.renamed(|reg: Reg| match (reg.0 as usize) < sums.len() {
                true => Reg(reg.0 + (row * sums.len()) as u32),
                false => Reg(reg.0 + (sums.len() + row * others.len()) as u32),
            });
            if let Some(memory) = &mut inst.memory {
                let further = if row == 0 { 0 } else { further[memory.stream as usize] };
                memory.offset = memory.offset.checked_add(further)?;
            }
            line.insts.push(inst);
        }
        Some(line)
    }
}
