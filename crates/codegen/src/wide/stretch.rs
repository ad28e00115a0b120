//! Statements outside of the innermost loops: they are done once, in the lowest lanes of vectors.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use tracewell_array::{DType, Literal};
use tracewell_kernel::{BufferId, Index, Kernel, Op, Size, Stmt, Value};

use super::Level;
use super::body::{Number, Stream, place_of};
use super::inst::{Class, Form, Inst, Lanes, Line, Memory, Src, Steadies, Steady};
use super::opcode::{ALIGN, BROADCAST, STORE_LOWEST};
use super::select::{Parts, Select, parts_of};
use super::sum::Apart;
use crate::lanes::is_wide;

/// How many bytes further a pointer is in the next row, if that is known.
pub(crate) type Further<'a> = dyn Fn(&Stream) -> Option<i32> + 'a;

/// A straight line of statements.
pub(crate) struct Stretch<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) level: Level,
    /// The bits of values that are constants.
    pub(crate) literal: &'a dyn Fn(Value) -> Option<u64>,
    /// What it loads and stores, after a first pointer, which is to the homes of values.
    pub(crate) streams: Vec<Stream>,
    pub(crate) numbers: Vec<Number>,
    pub(crate) steadies: Steadies,
    /// Where sums of two rows are folded together.
    pub(crate) second_row: Option<&'a Further<'a>>,
}

impl Stretch<'_> {
    /// The instructions of statements, after those that make sums of lanes that are `apart`; values that others need
    /// go to their `homes`.
    pub(crate) fn line(
        &mut self,
        stmts: &[&Stmt],
        homes: &[(Value, i32)],
        apart: Option<&Apart>,
    ) -> Option<Line> {
        let mut steadies = std::mem::take(&mut self.steadies);
        let mut select = Select::new(self.level, &mut steadies, true, false);
        let mut values: FxHashMap<Value, Parts> = FxHashMap::default();
        if let Some(apart) = apart {
            values.extend(select.fold(apart)?);
        }
        for stmt in stmts {
            match stmt {
                Stmt::Op { op: Op::Const(_), .. } => {}
                Stmt::Op { out, op, args } => {
                    let dtypes: SmallVec<[DType; 3]> =
                        args.iter().map(|&arg| self.kernel.dtype(arg)).collect();
                    let args: SmallVec<[Parts; 3]> =
                        args.iter().map(|&arg| self.value(&mut select, &values, arg)).collect();
                    let parts = select.op_with(*op, &dtypes, &args, |number| self.number(number))?;
                    values.insert(*out, parts);
                }
                // What differs from row to row is not in every lane.
                Stmt::Load { .. } if self.second_row.is_some() => return None,
                Stmt::Load { out, buffer, index } => {
                    let (dtype, memory) = (self.kernel.buffer_dtype(*buffer), self.memory(*buffer, index)?);
                    let parts = if dtype.size() < 4 {
                        select.load(dtype, memory)?
                    } else {
                        select.repeated(dtype, memory)
                    };
                    values.insert(*out, parts);
                }
                Stmt::Store { buffer, index, value } => {
                    let (dtype, memory) = (self.kernel.buffer_dtype(*buffer), self.memory(*buffer, index)?);
                    let parts = self.value(&mut select, &values, *value);
                    match self.second_row {
                        Some(second_row) if dtype.size() >= 4 => {
                            let further = second_row(&self.streams[memory.stream as usize - 1])?;
                            let offset = memory.offset.checked_add(further)?;
                            select.keep(is_wide(dtype), parts[0], memory);
                            let second = select.upper_half(is_wide(dtype), parts[0]);
                            select.keep(is_wide(dtype), second, Memory { offset, ..memory });
                        }
                        Some(_) => return None,
                        None if dtype.size() < 4 => select.store(dtype, &parts, memory)?,
                        None => select.keep(is_wide(dtype), parts[0], memory),
                    }
                }
                _ => unreachable!("a stretch is straight"),
            }
        }
        for &(value, home) in homes {
            let dtype = self.kernel.dtype(value);
            let parts = self.value(&mut select, &values, value);
            // The sum of bools is no mask.
            let is_sum = apart.is_some_and(|apart| apart.outs.contains(&value));
            let parts = if dtype.is_bool() && !is_sum { select.mask_to_lanes(&parts)? } else { parts };
            select.keep(is_wide(dtype), parts[0], Memory { stream: 0, scale: 0, offset: home });
        }
        let line = select.finish();
        self.steadies = steadies;
        Some(line)
    }

    fn value(&mut self, select: &mut Select<'_>, values: &FxHashMap<Value, Parts>, value: Value) -> Parts {
        match values.get(&value) {
            Some(parts) => parts.clone(),
            None => select
                .same(self.kernel.dtype(value), (self.literal)(value), || self.number(Number::Value(value))),
        }
    }

    /// Where an element is. Elements that are a known number apart have one pointer.
    fn memory(&mut self, buffer: BufferId, index: &Index) -> Option<Memory> {
        let (offset, start) = match index.offset {
            Size::Const(n) => (n, Size::Const(0)),
            Size::Param(_) => (0, index.offset),
        };
        let offset =
            i32::try_from(offset.checked_mul(self.kernel.buffer_dtype(buffer).size() as i64)?).ok()?;
        let stream = Stream { buffer, index: Index { offset: start, terms: index.terms.clone() } };
        let known = self.streams.iter().position(|known| *known == stream);
        let stream = known.unwrap_or_else(|| {
            self.streams.push(stream);
            self.streams.len() - 1
        });
        Some(Memory { stream: stream as u32 + 1, scale: 0, offset })
    }

    fn number(&mut self, number: Number) -> u32 {
        place_of(number, &mut self.numbers)
    }
}

impl Select<'_> {
    /// An element in every lane.
    fn repeated(&mut self, dtype: DType, memory: Memory) -> Parts {
        let out = self.line.reg(Class::Vector);
        self.line.insts.push(Inst {
            op: BROADCAST.of(is_wide(dtype)),
            form: Form::Load,
            out: Some(out),
            srcs: SmallVec::new(),
            constant: None,
            lanes: Lanes::All,
            memory: Some(memory),
        });
        (0..parts_of(dtype)).map(|_| Src::Reg(out)).collect()
    }

    /// The upper half of a vector as the lower one.
    fn upper_half(&mut self, wide: bool, value: Src) -> Src {
        let lanes = self.level.bytes() / if wide { 8 } else { 4 };
        self.two_by(ALIGN.of(wide), value, value, (lanes / 2) as u8)
    }

    /// Stores the lowest lane.
    pub(crate) fn keep(&mut self, wide: bool, value: Src, memory: Memory) {
        self.line.insts.push(Inst {
            op: STORE_LOWEST.of(wide),
            form: Form::Store,
            out: None,
            srcs: smallvec![value],
            constant: None,
            lanes: Lanes::All,
            memory: Some(memory),
        });
    }

    /// A value that is the same in every lane: its bits, if they are known, or the number that the caller hands over.
    pub(crate) fn same(&mut self, dtype: DType, known: Option<u64>, slot: impl FnOnce() -> u32) -> Parts {
        let wide = is_wide(dtype);
        let steady = match known {
            Some(bits) => {
                let bits = Literal::from_bits(dtype, u128::from(bits)).bits() as u64;
                // A bool fills its lane.
                let bits = if dtype.is_bool() { bits.wrapping_neg() } else { bits };
                if wide { Steady::Bits64(bits) } else { Steady::Bits32(bits as u32) }
            }
            None if wide => Steady::Slot64(slot()),
            None => Steady::Slot32(slot()),
        };
        let src = self.steady(steady);
        if wide { [src, src].into_iter().collect() } else { [src].into_iter().collect() }
    }

    /// `op args`, where what depends on sizes is a number that the caller hands over.
    pub(crate) fn op_with(
        &mut self,
        op: Op,
        dtypes: &[DType],
        args: &[Parts],
        number: impl FnOnce(Number) -> u32,
    ) -> Option<Parts> {
        match op {
            Op::Size(id) => Some(self.same(DType::I64, None, || number(Number::Size(Size::Param(id))))),
            Op::Clamp(size) => {
                let last = self.last(dtypes[0], size, number);
                self.clamp(dtypes[0], last, &args[0])
            }
            Op::Rarely => Some(args[0].clone()),
            op => self.op(op, dtypes, args),
        }
    }

    /// The last index below a size.
    fn last(&mut self, dtype: DType, size: Size, slot: impl FnOnce(Number) -> u32) -> Src {
        let wide = is_wide(dtype);
        let largest = if wide { i64::MAX } else { i64::from(i32::MAX) };
        match size {
            Size::Const(n) => self.bits(wide, (n.max(1) - 1).min(largest) as u64),
            Size::Param(_) => {
                let slot = slot(Number::Last(dtype, size));
                self.steady(if wide { Steady::Slot64(slot) } else { Steady::Slot32(slot) })
            }
        }
    }

    /// Clamped to the indices up to the last.
    fn clamp(&mut self, dtype: DType, last: Src, a: &Parts) -> Option<Parts> {
        let zero = self.bits(is_wide(dtype), 0);
        let all = |src: Src| -> Parts { a.iter().map(|_| src).collect() };
        let both = [dtype, dtype];
        let below = self.op(Op::Min, &both, &[a.clone(), all(last)])?;
        self.op(Op::Max, &both, &[below, all(zero)])
    }
}
