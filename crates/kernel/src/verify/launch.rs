//! Checks that need the lengths of buffers and the values of sizes: bounds, and iterations that do not meet.

use std::collections::BTreeMap;

use tracewell_array::{DType, Literal};

use super::{Access, Names, all_accesses, count, own_accesses};
use crate::ir::{BufferId, Index, Kernel, Region, Size, Stmt, Value, Window};
use crate::op::Op;
use crate::text::{buffer_name, inner_regions};

/// More accesses of one buffer with different indices are not compared with each other, but refused.
const MAX_COMPARED: usize = 2000;

/// An error at a statement.
pub(super) struct Fault {
    /// The number of the statement, in the order of the text.
    pub(super) stmt: usize,
    /// The first line of the statement.
    pub(super) head: String,
    pub(super) message: String,
}

/// A parameter that a launch stores to and one that it loads from, which may be the same memory although they
/// are different slots: nothing may be loaded that was stored.
pub(super) type InPlace = (BufferId, BufferId);

/// Checks a kernel that is right in itself, of which some parameters are the same memory, or may be. The error is one of
/// the launch as a whole.
pub(super) fn check(
    kernel: &Kernel,
    lens: &[usize],
    sizes: &[i64],
    same: &[Vec<BufferId>],
    in_place: &[InPlace],
) -> Result<Vec<Fault>, String> {
    if lens.len() != kernel.params.len() {
        return Err(format!("it is given {}, not {}", count(lens.len(), "buffer"), kernel.params.len()));
    }
    if sizes.len() != kernel.sizes {
        return Err(format!("it is given {}, not {}", count(sizes.len(), "size"), kernel.sizes));
    }
    let lens: Vec<usize> = lens.iter().copied().chain(kernel.locals.iter().map(|local| local.len)).collect();
    let mut uses = vec![0; lens.len()];
    for access in all_accesses(&kernel.body.stmts) {
        uses[access.buffer.0 as usize] += 1;
    }
    let mut memory: Vec<BufferId> = (0..lens.len() as u32).map(BufferId).collect();
    let pairs = same.iter().flat_map(|group| group.iter().map(|&other| (group[0], other)));
    for (a, b) in pairs.chain(in_place.iter().copied()) {
        let (one, other) = (memory[a.0 as usize], memory[b.0 as usize]);
        memory.iter_mut().filter(|memory| **memory == other).for_each(|memory| *memory = one);
    }
    let mut checker = Checker {
        kernel,
        names: Names::of(kernel),
        lens,
        memory,
        uses,
        sizes,
        in_place,
        count: 0,
        order: vec![0; kernel.values.len()],
        defined: 0,
        ranges: vec![None; kernel.values.len()],
        accesses: Vec::new(),
        faults: Vec::new(),
    };
    checker.region(&kernel.body, true);
    Ok(checker.faults)
}

/// Whether some buffers may be one piece of memory as far as one turn of the loops around all their uses goes: all
/// accesses have the same index from the first statement on that stores. That turns do not meet is checked with the
/// launch.
pub(super) fn may_be_one(kernel: &Kernel, buffers: &[BufferId]) -> bool {
    let is_shared = |access: &Access<'_>| buffers.contains(&access.buffer);
    let mut stmts = &kernel.body.stmts[..];
    let shared = |stmt: &Stmt| all_accesses(std::slice::from_ref(stmt)).iter().any(is_shared);
    loop {
        let mut uses = (0..stmts.len()).filter(|&i| shared(&stmts[i]));
        match (uses.next().map(|i| &stmts[i]), uses.next()) {
            (Some(Stmt::Each { body, .. }), None) => stmts = &body.stmts,
            _ => break,
        }
    }
    let stores = |stmt: &Stmt| {
        all_accesses(std::slice::from_ref(stmt)).iter().any(|access| is_shared(access) && access.stores)
    };
    let Some(first) = stmts.iter().position(stores) else { return true };
    let accesses = all_accesses(&stmts[first..]);
    let is_element = |access: &Access<'_>| !matches!(access.stmt, Stmt::Call { .. });
    let mut shared = accesses.iter().filter(|access| is_shared(access));
    let index = shared.clone().next().map(|access| access.index);
    shared.all(|access| is_element(access) && Some(access.index) == index)
}

/// Whether every load of a buffer stands before every store to another.
pub(super) fn loads_before_stores(kernel: &Kernel, (stored, loaded): InPlace) -> bool {
    let accesses = all_accesses(&kernel.body.stmts);
    let last_load = accesses.iter().filter(|a| a.buffer == loaded).map(|a| a.number).max();
    let first_store = accesses.iter().filter(|a| a.buffer == stored && a.stores).map(|a| a.number).min();
    !matches!((last_load, first_store), (Some(load), Some(store)) if load >= store)
}

/// All values from the first to the second, both included.
type Range = (i128, i128);

struct Checker<'a> {
    kernel: &'a Kernel,
    names: Names<'a>,
    /// Of all buffers.
    lens: Vec<usize>,
    /// For each buffer, one that stands for all that are the same memory, or may be.
    memory: Vec<BufferId>,
    /// How many accesses each buffer has in the whole kernel.
    uses: Vec<usize>,
    sizes: &'a [i64],
    in_place: &'a [InPlace],
    /// How many statements have been seen.
    count: usize,
    /// When each value was defined, counted by definitions.
    order: Vec<usize>,
    defined: usize,
    /// What is known about each value.
    ranges: Vec<Option<Range>>,
    /// Every access so far, and whether it can be reached.
    accesses: Vec<(Access<'a>, bool)>,
    faults: Vec<Fault>,
}

/// An index under the sizes of this launch: `offset + Σ stride × value`, each value once, no stride 0.
struct Affine {
    offset: i128,
    terms: BTreeMap<Value, i128>,
}

impl<'a> Checker<'a> {
    fn fault(&mut self, stmt: &Stmt, number: usize, message: String) {
        let head = self.names.head(stmt);
        self.faults.push(Fault { stmt: number, head, message });
    }

    fn define(&mut self, value: Value, range: Option<Range>) {
        self.defined += 1;
        self.order[value.0 as usize] = self.defined;
        self.ranges[value.0 as usize] = range;
    }

    fn size(&self, size: Size) -> i128 {
        i128::from(size.get(self.sizes))
    }

    fn region(&mut self, region: &'a Region, reached: bool) {
        for stmt in &region.stmts {
            let number = self.count;
            self.count += 1;
            self.stmt(stmt, number, reached);
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt, number: usize, reached: bool) {
        for access in own_accesses(stmt, number) {
            if reached && !matches!(stmt, Stmt::Call { .. }) {
                self.bounds(stmt, number, access.buffer, access.index);
            }
            self.accesses.push((access, reached));
        }
        match stmt {
            Stmt::Op { out, op, args } => {
                let range = self.op_range(*op, args);
                self.define(*out, range);
            }
            Stmt::Load { out, .. } => self.define(*out, None),
            Stmt::Store { .. } => {}
            Stmt::Each { var, extent, body } | Stmt::Reduce { var, extent, body, .. } => {
                let parallel = matches!(stmt, Stmt::Each { .. });
                self.counted(stmt, number, *var, self.size(*extent), body, reached, parallel);
            }
            Stmt::For { var, extent, carries, body } => {
                carries.iter().for_each(|carry| self.define(carry.inside, None));
                self.counted(stmt, number, *var, self.size(*extent), body, reached, false);
            }
            Stmt::While { .. } | Stmt::If { .. } => {
                let start = self.accesses.len();
                if let Stmt::While { carries, .. } = stmt {
                    carries.iter().for_each(|carry| self.define(carry.inside, None));
                }
                for inner in inner_regions(stmt) {
                    self.region(inner, reached);
                }
                if reached && matches!(stmt, Stmt::While { .. }) && !self.shared_in_place(start).is_empty() {
                    self.fault(stmt, number, "a `while` loads what it stored in place".to_owned());
                }
            }
            Stmt::Call { call, windows } if reached => {
                for ((_, shape), window) in call.memory().zip(windows) {
                    if let Err(message) = self.window_fits(window, shape.checked_len()) {
                        self.fault(stmt, number, message);
                    }
                }
            }
            Stmt::Call { .. } | Stmt::Poll => {}
        }
        match stmt {
            Stmt::For { carries, .. } | Stmt::While { carries, .. } => {
                carries.iter().for_each(|carry| self.define(carry.out, None));
            }
            Stmt::Reduce { accumulators, .. } => {
                accumulators.iter().for_each(|accumulator| self.define(accumulator.out, None));
            }
            Stmt::If { outs, .. } => outs.iter().for_each(|&out| self.define(out, None)),
            _ => {}
        }
    }

    /// What is known about the result of an operation: as much as indices need, not as much as could be.
    fn op_range(&self, op: Op, args: &[Value]) -> Option<Range> {
        match op {
            Op::Const(literal) if literal.dtype() == DType::I64 => exactly(literal),
            Op::Size(id) => Some(self.size(Size::Param(id))).map(|n| (n, n)),
            Op::Clamp(size) => Some((0, (self.size(size) - 1).max(0))),
            // What is known is known of integers, which have room in an `i64`.
            Op::Convert(DType::I64) => self.ranges[args[0].0 as usize],
            _ => None,
        }
    }

    /// A loop over `0..extent`.
    #[expect(clippy::too_many_arguments, reason = "the parts of three kinds of statement")]
    fn counted(
        &mut self,
        stmt: &'a Stmt,
        number: usize,
        var: Value,
        extent: i128,
        body: &'a Region,
        reached: bool,
        parallel: bool,
    ) {
        let start = self.accesses.len();
        self.define(var, Some((0, (extent - 1).max(0))));
        let outside = self.defined;
        self.region(body, reached && extent > 0);
        if !reached || extent < 2 {
            return;
        }
        let this = Loop { var, extent, outside };
        if parallel {
            self.independent(&this, start);
        } else if self.shared_in_place(start).into_iter().any(|buffer| !self.apart(&this, start, buffer)) {
            self.fault(stmt, number, "an iteration loads what another one stored in place".to_owned());
        }
    }

    /// The affine form of an index.
    fn affine(&self, index: &Index) -> Option<Affine> {
        let mut affine = Affine { offset: self.size(index.offset), terms: BTreeMap::new() };
        for &(value, stride) in &index.terms {
            let sum = affine.terms.entry(value).or_insert(0);
            *sum = sum.checked_add(self.size(stride))?;
        }
        affine.terms.retain(|_, stride| *stride != 0);
        Some(affine)
    }

    /// The values an index takes; the error names what is not known.
    fn index_range(&self, index: &Index) -> Result<Range, String> {
        let overflow = || "the index overflows".to_owned();
        let affine = self.affine(index).ok_or_else(overflow)?;
        let mut sum = (affine.offset, affine.offset);
        for (value, stride) in affine.terms {
            let Some(range) = self.ranges[value.0 as usize] else {
                let name = self.names.value(value);
                return Err(format!("the index is not proved to be inside: clamp `{name}`"));
            };
            sum = scaled(range, stride).and_then(|term| plus(sum, term)).ok_or_else(overflow)?;
        }
        Ok(sum)
    }

    fn bounds(&mut self, stmt: &Stmt, number: usize, buffer: BufferId, index: &Index) {
        let len = self.lens[buffer.0 as usize];
        let message = match self.index_range(index) {
            Err(message) => message,
            Ok((low, high)) => {
                let outside = if low < 0 { low } else { high };
                match usize::try_from(outside) {
                    Ok(high) if high < len => return,
                    _ => format!("reaches element {outside} of `{}`, which has {len}", buffer_name(buffer)),
                }
            }
        };
        self.fault(stmt, number, message);
    }

    /// Whether a window of so many elements is inside its buffer.
    fn window_fits(&self, window: &Window, len: Option<usize>) -> Result<(), String> {
        let all = self.lens[window.buffer.0 as usize];
        let (low, high) = self.index_range(&window.start)?;
        let end = len.and_then(|len| high.checked_add(len as i128));
        // An empty window is inside wherever it begins: nothing of it is touched.
        if len == Some(0) || low >= 0 && end.is_some_and(|end| end <= all as i128) {
            return Ok(());
        }
        Err(format!("`{}` has {all} elements, not those of the call", buffer_name(window.buffer)))
    }

    /// Checks that the iterations of an `each` do not meet in any buffer.
    fn independent(&mut self, each: &Loop, start: usize) {
        let mut buffers: Vec<BufferId> =
            self.accesses[start..].iter().filter(|(a, _)| a.stores).map(|(a, _)| a.buffer).collect();
        buffers.sort();
        buffers.dedup();
        for buffer in buffers {
            let mut inside = self.accesses[start..].iter().filter(|(a, _)| a.buffer == buffer);
            let private = buffer.0 as usize >= self.kernel.params.len()
                && inside.clone().count() == self.uses[buffer.0 as usize];
            if private || self.apart(each, start, buffer) {
                continue;
            }
            if let Some((store, _)) = inside.find(|(a, reached)| a.stores && *reached) {
                let (stmt, number) = (store.stmt, store.number);
                let (var, name) = (self.names.value(each.var), buffer_name(buffer));
                self.fault(stmt, number, format!("iterations of `each {var}` may meet in `{name}`"));
            }
        }
    }

    /// The buffers loaded in place whose partner is stored to since `start`.
    fn shared_in_place(&self, start: usize) -> Vec<BufferId> {
        let accesses = &self.accesses[start..];
        let uses = |buffer, stores| accesses.iter().any(|(a, _)| a.buffer == buffer && a.stores == stores);
        self.in_place.iter().filter(|(s, l)| uses(*s, true) && uses(*l, false)).map(|(s, _)| *s).collect()
    }

    /// Whether no two iterations touch the same place of a buffer where one of them stores.
    fn apart(&self, this: &Loop, start: usize, buffer: BufferId) -> bool {
        let mut accesses: Vec<&Access<'_>> = Vec::new();
        let memory = |buffer: BufferId| self.memory[buffer.0 as usize];
        let is_it = |access: &Access<'_>| memory(access.buffer) == memory(buffer);
        for (access, _) in self.accesses[start..].iter().filter(|(a, reached)| *reached && is_it(a)) {
            if !accesses
                .iter()
                .any(|a| a.index == access.index && a.len == access.len && a.stores >= access.stores)
            {
                accesses.push(access);
            }
            if accesses.len() > MAX_COMPARED {
                return false;
            }
        }
        accesses.iter().enumerate().all(|(i, a)| {
            accesses[i..].iter().all(|b| !(a.stores || b.stores) || self.never_meet(this, a, b) == Some(true))
        })
    }

    /// Whether two accesses in different iterations of a loop never touch the same place. `None` if the
    /// numbers are too large to tell. An index without a proof has an error of its own and none here.
    fn never_meet(&self, this: &Loop, a: &Access<'_>, b: &Access<'_>) -> Option<bool> {
        let (a_len, b_len) = (a.len? as i128, b.len? as i128);
        if a_len == 0 || b_len == 0 {
            return Some(true);
        }
        let (a, b) = (self.affine(a.index)?, self.affine(b.index)?);
        // They meet where b's index minus a's is 0. The terms of that difference, by stride.
        let mut constant = b.offset.checked_sub(a.offset)?;
        let mut terms: BTreeMap<i128, Range> = BTreeMap::new();
        let mut term = |stride: i128, range: Range| {
            let range = if stride < 0 { (-range.1, -range.0) } else { range };
            let sum = terms.entry(stride.checked_abs()?).or_insert((0, 0));
            *sum = plus(*sum, range)?;
            Some(())
        };
        // Some element of one, some element of the other.
        term(1, (1 - a_len, b_len - 1))?;
        let mut distance = None;
        let mut values: Vec<Value> = a.terms.keys().chain(b.terms.keys()).copied().collect();
        values.sort();
        values.dedup();
        for value in values {
            let stride = |of: &Affine| of.terms.get(&value).copied().unwrap_or(0);
            let (in_a, in_b) = (stride(&a), stride(&b));
            let Some(range) = self.ranges[value.0 as usize] else { return Some(true) };
            if value == this.var && in_a == in_b {
                distance = Some(in_a.checked_abs()?);
            } else if value == this.var || self.order[value.0 as usize] > this.outside {
                // Each iteration has its own.
                term(in_b, range)?;
                term(in_a.checked_neg()?, range)?;
            } else {
                // The same value in both.
                term(in_b.checked_sub(in_a)?, range)?;
            }
        }
        terms.remove(&0);
        // Terms with a single value belong to the constant.
        for (stride, (low, high)) in &mut terms {
            if low == high {
                constant = constant.checked_add(stride.checked_mul(*low)?)?;
                (*low, *high) = (0, 0);
            }
        }
        let mut terms: Vec<Term> =
            terms.into_iter().map(|(stride, range)| Term { stride, range, distance: false }).collect();
        if let Some(stride) = distance {
            terms.push(Term { stride, range: (1 - this.extent, this.extent - 1), distance: true });
        }
        Some(!solvable(constant, terms)?)
    }
}

/// A loop whose iterations are compared.
struct Loop {
    var: Value,
    extent: i128,
    /// Values defined later than this are defined inside.
    outside: usize,
}

/// `stride × x` for an `x` in a range; not 0 if it is the distance of two iterations.
struct Term {
    stride: i128,
    range: Range,
    distance: bool,
}

/// Whether the distance of two iterations is never a multiple of the number of which all else, the constant too, is one.
fn differ_by_remainder(constant: i128, terms: &[Term]) -> bool {
    let Some(distance) = terms.iter().find(|term| term.distance && term.stride > 0) else { return false };
    let others = terms.iter().filter(|term| !term.distance && term.range != (0, 0));
    let divisor = others.map(|term| term.stride).fold(constant.abs(), common_divisor);
    // The distances that are multiples too are those of `divisor / common`.
    let common = common_divisor(divisor, distance.stride);
    divisor > 0 && divisor / common > distance.range.1
}

/// The greatest common divisor; that of 0 and a number is the number.
fn common_divisor(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Whether `constant + Σ terms = 0` may have a solution: `false` is a proof that there is none.
///
/// From the largest stride to the smallest: what the smaller terms can reach leaves few values for the
/// largest. If none, there is no solution; if one, it is put in; if several, we give up. With row-major
/// indices the smaller terms reach less than the larger stride, so one value is left each time. Indices of the last
/// axis, of which the others are multiples, are told apart by what is left when they are divided.
fn solvable(mut constant: i128, mut terms: Vec<Term>) -> Option<bool> {
    if differ_by_remainder(constant, &terms) {
        return Some(false);
    }
    terms.sort_by_key(|term| term.stride);
    while let Some(Term { stride, range, distance }) = terms.pop() {
        let mut rest = (constant, constant);
        for term in &terms {
            rest = plus(rest, scaled(term.range, term.stride)?)?;
        }
        let mut low = range.0.max(rest.1.checked_neg()?.div_euclid(stride));
        // Rounded up.
        if low.checked_mul(stride)? < rest.1.checked_neg()? {
            low += 1;
        }
        let mut high = range.1.min(rest.0.checked_neg()?.div_euclid(stride));
        if distance {
            low += i128::from(low == 0);
            high -= i128::from(high == 0);
        }
        if low > high {
            return Some(false);
        }
        if low < high {
            return Some(true);
        }
        constant = constant.checked_add(stride.checked_mul(low)?)?;
    }
    Some(constant == 0)
}

fn exactly(literal: Literal) -> Option<Range> {
    let n = i128::from(literal.as_i64());
    Some((n, n))
}

fn plus(a: Range, b: Range) -> Option<Range> {
    Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?))
}

fn scaled(range: Range, by: i128) -> Option<Range> {
    let (a, b) = (range.0.checked_mul(by)?, range.1.checked_mul(by)?);
    Some((a.min(b), a.max(b)))
}
