//! The body of a loop as wide code: which loops are taken, and the walk over their statements.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use tracewell_array::DType;
use tracewell_kernel::{BufferId, Index, Kernel, Op, Region, Size, Stmt, Value};

use super::Level;
use super::inst::{Memory, Steady};
use super::leaf::MOST_STREAMS;
use super::pick::is_picked;
use super::select::{Accumulator, Parts, Select, parts_of};
use super::uncached::Stored;
use crate::plan::is_ramp;

/// Something that the caller hands over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Number {
    /// A value of the kernel.
    Value(Value),
    /// The last index below a size, as a type has it.
    Last(DType, Size),
    /// A size, as an `i64`.
    Size(Size),
    /// Above 0 if arrays are walked so far that no cache holds them.
    IsFar,
}

/// Where a pointer points to: an element, the loop variable being 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stream {
    pub(crate) buffer: BufferId,
    pub(crate) index: Index,
}

/// How an access changes from one iteration to the next.
#[derive(Clone, Debug)]
enum Step {
    /// By this many elements.
    Fixed(i64),
    /// By this many elements, and by what values of each lane say.
    Anywhere(i64, SmallVec<[(Value, Size); 2]>),
    /// By what values of 32 bits say, and so near that 32 bits hold their sum: the lanes of a vector are loaded at once.
    Near(SmallVec<[(Value, i64); 2]>),
}

/// A load or a store.
#[derive(Clone, Debug)]
struct Access {
    stream: u32,
    /// In elements.
    offset: i64,
    step: Step,
}

/// A loop that wide code can do.
pub(crate) struct Body<'k> {
    kernel: &'k Kernel,
    level: Level,
    var: Value,
    region: &'k Region,
    hoisted: &'k [bool],
    laned: &'k [bool],
    /// Values that are one more in each iteration.
    ramps: Vec<Value>,
    /// Bools that hardly ever hold, and whether it is taken for granted that they do not.
    rare: Vec<Value>,
    assumes: bool,
    /// Values that something is computed from, other than addresses.
    needed: Vec<bool>,
    pub(crate) streams: Vec<Stream>,
    /// By the place of the statement.
    accesses: Vec<Option<Access>>,
    pub(crate) numbers: Vec<Number>,
    /// The lanes of values that are known now.
    literals: FxHashMap<Value, Option<u64>>,
}

impl<'k> Body<'k> {
    pub(crate) fn region(&self) -> &'k Region {
        self.region
    }

    /// The loop variable.
    pub(crate) fn var(&self) -> Value {
        self.var
    }

    /// Looks at a loop whose body is straight; `None` if it is left to others.
    pub(crate) fn new(
        kernel: &'k Kernel,
        level: Level,
        var: Value,
        region: &'k Region,
        hoisted: &'k [bool],
        laned: &'k [bool],
    ) -> Option<Body<'k>> {
        let mut body = Body {
            kernel,
            level,
            var,
            region,
            hoisted,
            laned,
            ramps: vec![var],
            rare: Vec::new(),
            assumes: false,
            needed: vec![false; kernel.values.len()],
            streams: Vec::new(),
            accesses: vec![None; region.stmts.len()],
            numbers: Vec::new(),
            literals: FxHashMap::default(),
        };
        for (at, stmt) in region.stmts.iter().enumerate().filter(|(at, _)| !hoisted[*at]) {
            match stmt {
                Stmt::Op { out, op, args } => {
                    if is_ramp(*op, args, &body.ramps, laned) {
                        body.ramps.push(*out);
                    }
                    if *op == Op::Rarely && body.is_laned(*out) {
                        body.rare.push(*out);
                    }
                }
                Stmt::Load { out, buffer, index } => {
                    // What is not hoisted although it is the same everywhere may be changed by a store.
                    if !body.is_laned(*out) {
                        return None;
                    }
                    let access = body.access(*buffer, index)?;
                    body.accesses[at] = Some(access);
                }
                Stmt::Store { buffer, index, .. } => {
                    let access = body.access(*buffer, index)?;
                    if !matches!(access.step, Step::Fixed(_)) {
                        return None;
                    }
                    body.accesses[at] = Some(access);
                }
                _ => return None,
            }
        }
        body.need();
        Some(body)
    }

    fn is_laned(&self, value: Value) -> bool {
        self.laned[value.0 as usize]
    }

    fn access(&mut self, buffer: BufferId, index: &Index) -> Option<Access> {
        let size = self.kernel.buffer_dtype(buffer).size();
        let mut start = Index { offset: Size::Const(0), terms: SmallVec::new() };
        let offset = match index.offset {
            Size::Const(n) => n,
            Size::Param(_) => {
                start.offset = index.offset;
                0
            }
        };
        let mut step = 0;
        let mut varying = SmallVec::new();
        for &(value, scale) in &index.terms {
            if !self.is_laned(value) {
                start.terms.push((value, scale));
            } else if self.ramps.contains(&value) {
                let Size::Const(n) = scale else { return None };
                step += n;
                // What it starts from is part of the pointer.
                start.terms.push((value, scale));
            } else {
                varying.push((value, scale));
            }
        }
        let new = self.level == Level::Avx512;
        let step = match (step, varying.is_empty()) {
            (1, true) => Step::Fixed(1),
            (0, true) => return None,
            (_, true) if new && size >= 4 && step.abs() < 1 << 20 => Step::Fixed(step),
            (_, false) if new && size >= 4 => match self.near(&varying) {
                Some(near) if step == 0 && size == 4 => Step::Near(near),
                _ => Step::Anywhere(step, varying),
            },
            _ => return None,
        };
        let stream = Stream { buffer, index: start };
        let known = self.streams.iter().position(|known| *known == stream);
        let stream = known.unwrap_or_else(|| {
            self.streams.push(stream);
            self.streams.len() - 1
        });
        (stream < MOST_STREAMS).then_some(Access { stream: stream as u32, offset, step })
    }

    /// The same places by values of 32 bits, if these are clamped so that no sum of theirs leaves 32 bits.
    fn near(&self, varying: &[(Value, Size)]) -> Option<SmallVec<[(Value, i64); 2]>> {
        let made_by = |value: Value, wanted: fn(Op) -> bool| {
            self.region.stmts.iter().find_map(|stmt| match stmt {
                Stmt::Op { out, op, args } if *out == value && wanted(*op) => Some((*op, args[0])),
                _ => None,
            })
        };
        let mut farthest = 0i64;
        let mut near = SmallVec::new();
        for &(value, scale) in varying {
            let (_, narrow) = made_by(value, |op| matches!(op, Op::Convert(_)))?;
            let (Op::Clamp(Size::Const(size)), _) = made_by(narrow, |op| matches!(op, Op::Clamp(_)))? else {
                return None;
            };
            let Size::Const(scale) = scale else { return None };
            if self.kernel.dtype(narrow) != DType::I32 || scale < 0 {
                return None;
            }
            farthest = farthest.checked_add(size.checked_mul(scale)?)?;
            near.push((narrow, scale));
        }
        (farthest <= i64::from(i32::MAX)).then_some(near)
    }

    /// Takes for granted that what hardly ever holds does not, if there is such a thing: copies are shorter then, and
    /// leave the function before they store something wrong. Otherwise says no.
    pub(crate) fn assume(&mut self) -> bool {
        let mut is_stored = false;
        let chooses_only = |op: Op, args: &[Value]| {
            let places = args.iter().enumerate().filter(|(_, arg)| self.rare.contains(arg));
            places.into_iter().all(|(place, _)| op == Op::Select && place == 0)
        };
        let fits =
            self.region.stmts.iter().zip(self.hoisted).filter(|(_, hoisted)| !**hoisted).all(|(stmt, _)| {
                match stmt {
                    Stmt::Op { op: Op::Rarely, args, .. } => !is_stored && chooses_only(Op::Rarely, args),
                    Stmt::Op { op, args, .. } => chooses_only(*op, args),
                    Stmt::Store { value, .. } => {
                        is_stored = true;
                        !self.rare.contains(value)
                    }
                    _ => true,
                }
            });
        self.assumes = self.level == Level::Avx512
            && !self.rare.is_empty()
            && fits
            && !self.region.yields.iter().any(|value| self.rare.contains(value));
        if self.assumes {
            self.needed.fill(false);
            self.need();
        }
        self.assumes
    }

    /// Whether copies leave the function: see [`Body::assume`].
    pub(crate) fn assumes(&self) -> bool {
        self.assumes
    }

    /// Marks what is computed from, last to first.
    fn need(&mut self) {
        let mut needed = std::mem::take(&mut self.needed);
        for value in &self.region.yields {
            needed[value.0 as usize] = true;
        }
        for (at, stmt) in self.region.stmts.iter().enumerate().rev().filter(|(at, _)| !self.hoisted[*at]) {
            let places = |needed: &mut Vec<bool>| {
                let step = self.accesses[at].as_ref().map(|access| &access.step);
                let mut need = |value: &Value| needed[value.0 as usize] = true;
                match step {
                    Some(Step::Anywhere(_, varying)) => varying.iter().for_each(|(value, _)| need(value)),
                    Some(Step::Near(varying)) => varying.iter().for_each(|(value, _)| need(value)),
                    Some(Step::Fixed(_)) | None => {}
                }
            };
            match stmt {
                Stmt::Op { out, op: Op::Rarely, args } if self.assumes && self.rare.contains(out) => {
                    needed[args[0].0 as usize] = true;
                }
                Stmt::Op { out, op: Op::Select, args }
                    if needed[out.0 as usize] && self.assumes && self.rare.contains(&args[0]) =>
                {
                    needed[args[2].0 as usize] = true;
                }
                Stmt::Op { out, args, .. } if needed[out.0 as usize] => {
                    args.iter().for_each(|arg| needed[arg.0 as usize] = true);
                }
                Stmt::Load { out, .. } if needed[out.0 as usize] => places(&mut needed),
                Stmt::Store { value, .. } => {
                    needed[value.0 as usize] = true;
                    places(&mut needed);
                }
                _ => {}
            }
        }
        self.needed = needed;
    }

    /// The statements that compute ramps: done once, with a loop variable of 0, they say where pointers start.
    pub(crate) fn ramp_stmts(&self) -> impl Iterator<Item = &'k Stmt> + '_ {
        self.region.stmts.iter().zip(self.hoisted).filter_map(|(stmt, hoisted)| match stmt {
            Stmt::Op { out, .. } if !hoisted && self.ramps.contains(out) => Some(stmt),
            _ => None,
        })
    }

    /// What a value is the sum of in iteration 0, and what of that is subtracted.
    pub(crate) fn parts_at_0(&self, value: Value, is_negative: bool, parts: &mut Vec<(Value, bool)>) {
        let ramp = self.ramp_stmts().find_map(|stmt| match stmt {
            Stmt::Op { out, op, args } if *out == value => Some((*op, args)),
            _ => None,
        });
        match ramp {
            _ if value == self.var => {}
            Some((op, args)) => {
                self.parts_at_0(args[0], is_negative, parts);
                self.parts_at_0(args[1], is_negative != (op == Op::Sub), parts);
            }
            None => parts.push((value, is_negative)),
        }
    }

    /// One copy of the body, for the iterations from `plus` on. Values that are the same in every lane are known
    /// as `literal` says. With accumulators, they take what the body yields.
    pub(crate) fn copy(
        &mut self,
        select: &mut Select<'_>,
        plus: i64,
        literal: &dyn Fn(Value) -> Option<u64>,
        accumulators: &[Accumulator],
    ) -> Option<()> {
        let mut values: FxHashMap<Value, Parts> = FxHashMap::default();
        let (region, hoisted) = (self.region, self.hoisted);
        for (at, stmt) in region.stmts.iter().enumerate().filter(|(at, _)| !hoisted[*at]) {
            match stmt {
                Stmt::Op { out, op: Op::Rarely, args } if self.assumes && self.rare.contains(out) => {
                    let condition = self.value(select, &mut values, args[0], plus, literal);
                    select.leave(&condition);
                }
                Stmt::Op { out, op: Op::Select, args }
                    if self.needed[out.0 as usize] && self.assumes && self.rare.contains(&args[0]) =>
                {
                    let parts = self.value(select, &mut values, args[2], plus, literal);
                    values.insert(*out, parts);
                }
                Stmt::Op { out, op, args } if self.needed[out.0 as usize] => {
                    let dtypes: SmallVec<[DType; 3]> =
                        args.iter().map(|&arg| self.kernel.dtype(arg)).collect();
                    let args: SmallVec<[Parts; 3]> =
                        args.iter().map(|&arg| self.value(select, &mut values, arg, plus, literal)).collect();
                    let parts = select.op_with(*op, &dtypes, &args, |number| self.number(number))?;
                    values.insert(*out, parts);
                }
                Stmt::Load { out, buffer, .. } if self.needed[out.0 as usize] => {
                    let dtype = self.kernel.buffer_dtype(*buffer);
                    let parts = self.load(select, &mut values, at, dtype, plus, literal)?;
                    values.insert(*out, parts);
                }
                Stmt::Store { buffer, value, .. } => {
                    let dtype = self.kernel.buffer_dtype(*buffer);
                    let parts = self.value(select, &mut values, *value, plus, literal);
                    let access = self.accesses[at].as_ref().expect("every store was looked at");
                    match access.step {
                        Step::Fixed(1) => select.store(dtype, &parts, memory(access, dtype, plus, 1)?)?,
                        Step::Fixed(step) => {
                            let steps = select.steady(Steady::Steps32(i32::try_from(step).ok()?));
                            let places = self.apart(access, dtype, plus, step)?;
                            select.scatter(dtype, steps, &parts, &places)?;
                        }
                        Step::Anywhere(..) | Step::Near(_) => unreachable!("such loops are left to others"),
                    }
                }
                _ => {}
            }
        }
        for (accumulator, &value) in accumulators.iter().zip(&region.yields) {
            let parts = self.value(select, &mut values, value, plus, literal);
            select.accumulate(accumulator, &parts)?;
        }
        Some(())
    }

    fn load(
        &mut self,
        select: &mut Select<'_>,
        values: &mut FxHashMap<Value, Parts>,
        at: usize,
        dtype: DType,
        plus: i64,
        literal: &dyn Fn(Value) -> Option<u64>,
    ) -> Option<Parts> {
        let access = self.accesses[at].clone().expect("every load was looked at");
        match &access.step {
            Step::Fixed(1) => select.load(dtype, memory(&access, dtype, plus, 1)?),
            // A vector that is loaded whole is part of what is wanted only if every lane is an iteration.
            Step::Fixed(step) if !select.masked && is_picked(self.level, dtype, *step) => {
                Some(select.picked(dtype, *step, &self.apart(&access, dtype, plus, *step)?))
            }
            Step::Fixed(step) => {
                // In bytes, lanes must stay within 32 bits.
                let steps = select.steady(Steady::Steps32(i32::try_from(*step).ok()?));
                let places = self.apart(&access, dtype, plus, *step)?;
                Some(select.gather(dtype, false, &smallvec![steps; places.len()], &places))
            }
            Step::Near(varying) => {
                let both = [DType::I32, DType::I32];
                let mut index: Option<Parts> = None;
                for &(value, scale) in varying {
                    let mut parts = self.value(select, values, value, plus, literal);
                    if scale != 1 {
                        let scale = select.steady(Steady::Bits32(scale as u32));
                        parts = select.op(Op::Mul, &both, &[parts, smallvec![scale]])?;
                    }
                    index = Some(match index {
                        None => parts,
                        Some(index) => select.op(Op::Add, &both, &[index, parts])?,
                    });
                }
                let bytes = i32::try_from(access.offset * dtype.size() as i64).ok()?;
                let memory = Memory { stream: access.stream, scale: 0, offset: bytes };
                Some(select.gather(dtype, false, &index?, &[memory]))
            }
            Step::Anywhere(step, varying) => {
                let mut index: Option<Parts> = None;
                let mut terms: SmallVec<[(Parts, Size); 3]> = SmallVec::new();
                if *step != 0 {
                    let ramp = self.value(select, values, self.var, plus, literal);
                    terms.push((ramp, Size::Const(*step)));
                }
                for &(value, scale) in varying {
                    terms.push((self.value(select, values, value, plus, literal), scale));
                }
                let both = [DType::I64, DType::I64];
                for (parts, scale) in terms {
                    let scaled = match scale {
                        Size::Const(1) => parts,
                        _ => {
                            let scale = match scale {
                                Size::Const(n) => Steady::Bits64(n as u64),
                                Size::Param(_) => Steady::Slot64(self.number(Number::Size(scale))),
                            };
                            let scale = select.steady(scale);
                            select.op(Op::Mul, &both, &[parts, smallvec![scale, scale]])?
                        }
                    };
                    index = Some(match index {
                        None => scaled,
                        Some(index) => select.op(Op::Add, &both, &[index, scaled])?,
                    });
                }
                let bytes = i32::try_from(access.offset * dtype.size() as i64).ok()?;
                let memory = Memory { stream: access.stream, scale: 0, offset: bytes };
                Some(select.gather(dtype, true, &index?, &[memory; 2]))
            }
        }
    }

    /// The pointers through which it stores, if all that it stores are whole vectors from where they point to, and it
    /// loads nothing there.
    pub(crate) fn stored(&self) -> Option<Vec<Stored>> {
        let accesses = || self.region.stmts.iter().zip(&self.accesses);
        let loads = |stream: u32| {
            accesses().any(|(stmt, access)| {
                matches!((stmt, access), (Stmt::Load { .. }, Some(access)) if access.stream == stream)
            })
        };
        let stores = accesses().filter_map(|(stmt, access)| match stmt {
            Stmt::Store { buffer, .. } => Some((buffer, access.as_ref()?)),
            _ => None,
        });
        let whole = stores.map(|(&buffer, access)| {
            let size = self.kernel.buffer_dtype(buffer).size() as i64;
            let is_whole = matches!(access.step, Step::Fixed(1)) && access.offset == 0 && size >= 4;
            let stored = Stored { stream: access.stream as usize, size };
            (is_whole && !loads(access.stream)).then_some(stored)
        });
        whole.collect()
    }

    /// Whether elements are loaded better where every lane is an iteration.
    pub(crate) fn picks(&self) -> bool {
        self.region.stmts.iter().zip(&self.accesses).any(|(stmt, access)| match (stmt, access) {
            (Stmt::Load { out, buffer, .. }, Some(Access { step: Step::Fixed(step), .. })) => {
                self.needed[out.0 as usize] && is_picked(self.level, self.kernel.buffer_dtype(*buffer), *step)
            }
            _ => false,
        })
    }

    /// The addresses of the first lanes of all parts of an access whose lanes are no neighbours.
    fn apart(&self, access: &Access, dtype: DType, plus: i64, step: i64) -> Option<SmallVec<[Memory; 2]>> {
        let lanes = (self.level.lanes() / parts_of(dtype)) as i64;
        (0..parts_of(dtype) as i64).map(|part| memory(access, dtype, plus + part * lanes, step)).collect()
    }

    /// The parts of a value.
    fn value(
        &mut self,
        select: &mut Select<'_>,
        values: &mut FxHashMap<Value, Parts>,
        value: Value,
        plus: i64,
        literal: &dyn Fn(Value) -> Option<u64>,
    ) -> Parts {
        if let Some(parts) = values.get(&value) {
            return parts.clone();
        }
        let parts = if value == self.var { select.ramp(plus) } else { self.steady(select, value, literal) };
        values.insert(value, parts.clone());
        parts
    }

    /// A value that is the same in every lane.
    fn steady(
        &mut self,
        select: &mut Select<'_>,
        value: Value,
        literal: &dyn Fn(Value) -> Option<u64>,
    ) -> Parts {
        let known = *self.literals.entry(value).or_insert_with(|| literal(value));
        select.same(self.kernel.dtype(value), known, || self.number(Number::Value(value)))
    }

    /// The place of a number among those that the caller hands over.
    pub(crate) fn number(&mut self, number: Number) -> u32 {
        place_of(number, &mut self.numbers)
    }
}

/// The place of a number among others, of which it is one from now on.
pub(crate) fn place_of(number: Number, numbers: &mut Vec<Number>) -> u32 {
    let known = numbers.iter().position(|&known| known == number);
    known.unwrap_or_else(|| {
        numbers.push(number);
        numbers.len() - 1
    }) as u32
}

/// The address of the first lane of an access.
fn memory(access: &Access, dtype: DType, plus: i64, step: i64) -> Option<Memory> {
    let bytes = dtype.size() as i64;
    let offset = access.offset.checked_add(plus.checked_mul(step)?)?.checked_mul(bytes)?;
    // Room for the parts of a value.
    let offset = i32::try_from(offset).ok().filter(|offset| offset.abs() < i32::MAX / 2)?;
    Some(Memory { stream: access.stream, scale: step * bytes, offset })
}
