//! Statements outside of the innermost loops: they are done once, in the lowest lanes of vectors.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tracewell_array::{DType, Literal};
use tracewell_kernel::{BufferId, Index, Kernel, Op, Size, Stmt, Value};

use super::Level;
use super::body::{Number, Stream};
use super::inst::{Line, Memory, Src, Steadies, Steady};
use super::select::{Parts, Select};
use crate::lanes::is_wide;

/// A straight line of statements.
pub(crate) struct Stretch<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) level: Level,
    pub(crate) broken: bool,
    /// The bits of values that are constants.
    pub(crate) literal: &'a dyn Fn(Value) -> Option<u64>,
    /// What it loads and stores, after a first pointer, which is to the homes of values.
    pub(crate) streams: Vec<Stream>,
    pub(crate) numbers: Vec<Number>,
    pub(crate) steadies: Steadies,
}

impl Stretch<'_> {
    /// The instructions of statements; values that others need go to their `homes`.
    pub(crate) fn line(&mut self, stmts: &[&Stmt], homes: &[(Value, i32)]) -> Option<Line> {
        let mut steadies = std::mem::take(&mut self.steadies);
        let mut select = Select::new(self.level, &mut steadies, true, self.broken);
        let mut values: FxHashMap<Value, Parts> = FxHashMap::default();
        for stmt in stmts {
            match stmt {
                Stmt::Op { op: Op::Const(_), .. } => {}
                Stmt::Op { out, op, args } => {
                    let dtypes: SmallVec<[DType; 3]> =
                        args.iter().map(|&arg| self.kernel.dtype(arg)).collect();
                    let args: SmallVec<[Parts; 3]> =
                        args.iter().map(|&arg| self.value(&mut select, &values, arg)).collect();
                    let parts = match *op {
                        Op::Size(id) => {
                            select.same(DType::I64, None, || self.number(Number::Size(Size::Param(id))))
                        }
                        Op::Clamp(size) => {
                            let last = select.last(dtypes[0], size, |number| self.number(number));
                            select.clamp(dtypes[0], last, &args[0])?
                        }
                        Op::Rarely => args[0].clone(),
                        op => select.op(op, &dtypes, &args)?,
                    };
                    values.insert(*out, parts);
                }
                Stmt::Load { out, buffer, index } => {
                    let memory = self.memory(*buffer, index);
                    let parts = select.load(self.kernel.buffer_dtype(*buffer), memory)?;
                    values.insert(*out, parts);
                }
                Stmt::Store { buffer, index, value } => {
                    let memory = self.memory(*buffer, index);
                    let parts = self.value(&mut select, &values, *value);
                    select.store(self.kernel.buffer_dtype(*buffer), &parts, memory)?;
                }
                _ => unreachable!("a stretch is straight"),
            }
        }
        for &(value, home) in homes {
            let dtype = self.kernel.dtype(value);
            let parts = self.value(&mut select, &values, value);
            let parts = if dtype.is_bool() { select.mask_to_lanes(&parts)? } else { parts };
            select.keep(is_wide(dtype), parts[0], home);
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

    /// A pointer of its own for each access: there are few.
    fn memory(&mut self, buffer: BufferId, index: &Index) -> Memory {
        self.streams.push(Stream { buffer, index: index.clone() });
        Memory { stream: self.streams.len() as u32, scale: 0, offset: 0 }
    }

    fn number(&mut self, number: Number) -> u32 {
        let known = self.numbers.iter().position(|&known| known == number);
        known.unwrap_or_else(|| {
            self.numbers.push(number);
            self.numbers.len() - 1
        }) as u32
    }
}

impl Select<'_> {
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

    /// The last index below a size.
    pub(crate) fn last(&mut self, dtype: DType, size: Size, slot: impl FnOnce(Number) -> u32) -> Src {
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
    pub(crate) fn clamp(&mut self, dtype: DType, last: Src, a: &Parts) -> Option<Parts> {
        let zero = self.bits(is_wide(dtype), 0);
        let all = |src: Src| -> Parts { a.iter().map(|_| src).collect() };
        let both = [dtype, dtype];
        let below = self.op(Op::Min, &both, &[a.clone(), all(last)])?;
        self.op(Op::Max, &both, &[below, all(zero)])
    }
}
