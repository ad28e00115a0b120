//! Checks of a program: slots, what is written when, and memory that is used twice.

use std::collections::{BTreeMap, BTreeSet};

use super::{ALIGN, Place, Report, count, kernel, launch};
use crate::ir::{BufferId, Kernel};
use crate::program::{Program, Role, Slot, SlotId, Step};
use crate::text::{name, slot_name};

/// Checks a program with all its kernels.
pub(super) fn check(program: &Program, report: &mut Report) {
    let sound: Vec<bool> = program
        .kernels
        .iter()
        .enumerate()
        .map(|(i, kernel)| {
            let before = report.errors.len();
            kernel::check(kernel, i, report);
            report.errors.len() == before
        })
        .collect();
    let mut checker = Checker { program, sound, lives: vec![None; program.slots.len()], report };
    checker.slots();
    for (i, step) in program.steps.iter().enumerate() {
        checker.step(i, step);
    }
    checker.results();
    checker.overlaps();
    for (i, slot) in program.slots.iter().enumerate() {
        if let Role::Output { reuse: Some(input) } = slot.role {
            checker.reuse(i, slot, input);
        }
    }
}

/// The first and last step that uses a slot; the first one writes it, unless it is given.
type Life = (usize, usize);
/// When a temporary is in use, where it begins and ends, and its slot.
type Temp = (Life, usize, usize, usize);

struct Checker<'a, 'r> {
    program: &'a Program,
    /// Of each kernel, whether it is right in itself.
    sound: Vec<bool>,
    lives: Vec<Option<Life>>,
    report: &'r mut Report,
}

/// The slots that a step reads, and those that it writes.
fn effects(program: &Program, step: &Step) -> (Vec<SlotId>, Vec<SlotId>) {
    let (reads, writes): (Vec<_>, Vec<_>) = match step {
        Step::Launch { kernel, slots, .. } => {
            let params = program.kernels.get(*kernel).map_or(&[][..], |kernel| &kernel.params);
            let written = |i: usize| params.get(i).is_some_and(|param| param.written);
            slots.iter().enumerate().partition(|(i, _)| !written(*i))
        }
        Step::Call { call, slots } => slots.iter().enumerate().partition(|(i, _)| *i < call.inputs.len()),
        Step::Copy { from, to } => return (vec![*from], vec![*to]),
    };
    let ids = |pairs: Vec<(usize, &SlotId)>| pairs.into_iter().map(|(_, slot)| *slot).collect();
    (ids(reads), ids(writes))
}

/// The number of bytes of a slot, if a machine can have so many.
fn bytes(slot: &Slot) -> Option<usize> {
    slot.len.checked_mul(slot.dtype.size()).filter(|&bytes| isize::try_from(bytes).is_ok())
}

impl<'a> Checker<'a, '_> {
    fn error(&mut self, place: Place, message: impl Into<String>) {
        self.report.add(place, message);
    }

    fn slot(&self, id: SlotId) -> Option<&'a Slot> {
        self.program.slots.get(id.0 as usize)
    }

    fn slots(&mut self) {
        let mut inputs = BTreeSet::new();
        let mut reused = BTreeSet::new();
        for (i, slot) in self.program.slots.iter().enumerate() {
            let place = Place::Slot(i);
            let Some(bytes) = bytes(slot) else {
                self.error(place, "no machine has so much memory");
                continue;
            };
            if slot.dtype.is_complex() {
                let dtype = slot.dtype;
                self.error(place, format!("it has elements of type {dtype}; programs know their parts only"));
            }
            match &slot.role {
                Role::Input(number) if !inputs.insert(*number) => {
                    self.error(place, format!("another slot is input {number} already"));
                }
                Role::Output { reuse: Some(input) } if !reused.insert(*input) => {
                    self.error(place, format!("another output may reuse input {input} already"));
                }
                Role::Input(_) | Role::Output { .. } => {}
                Role::Temp { of, offset } => {
                    if !offset.is_multiple_of(ALIGN) {
                        self.error(place, format!("the offset is not a multiple of {ALIGN}"));
                    }
                    let (room, name) = match of {
                        None => (Some(self.program.arena), "the arena".to_owned()),
                        Some(id) => (self.room(*id), format!("`{}`", slot_name(*id))),
                    };
                    let end = offset.checked_add(bytes);
                    match room {
                        None => self.error(place, format!("{name} is no output that reuses nothing")),
                        Some(room) if end.is_none_or(|end| end > room) => {
                            self.error(place, format!("{bytes} bytes at {offset} are not inside {name}"));
                        }
                        Some(_) => {}
                    }
                }
                Role::Constant(tensor) => {
                    if tensor.dtype() != slot.dtype || tensor.len() != slot.len {
                        self.error(place, "type or length is not that of the constant");
                    }
                }
            }
        }
    }

    /// Bytes of an output that has memory of its own.
    fn room(&self, id: SlotId) -> Option<usize> {
        let slot = self.slot(id).filter(|slot| slot.role == Role::Output { reuse: None })?;
        bytes(slot)
    }

    fn step(&mut self, number: usize, step: &Step) {
        let place = Place::Step(number);
        let slots = step.slots();
        if let Some(slot) = slots.iter().find(|slot| self.slot(**slot).is_none()) {
            self.error(place, format!("there is no slot `{}`", slot_name(*slot)));
            return;
        }
        match step {
            Step::Launch { kernel, slots, sizes, .. } => self.launch(place, *kernel, slots, sizes),
            Step::Copy { from, to } => {
                let [from, to] = [from, to].map(|slot| self.program.slot(*slot));
                if (from.dtype, from.len) != (to.dtype, to.len) {
                    self.error(place, "it copies between arrays of different types");
                }
            }
            Step::Call { call, slots } => {
                let types: Vec<_> =
                    slots.iter().map(|slot| self.slot(*slot).map(|slot| slot.dtype)).collect();
                if let Err(message) = kernel::check_call(call, slots, &types) {
                    self.error(place, message);
                }
                for ((_, shape), slot) in call.memory().zip(slots) {
                    let len = self.program.slot(*slot).len;
                    if shape.checked_len() != Some(len) {
                        let name = slot_name(*slot);
                        self.error(place, format!("`{name}` has {len} elements, not those of {shape}"));
                    }
                }
            }
        }
        let (reads, writes) = effects(self.program, step);
        for slot in reads {
            let name = slot_name(slot);
            let Slot { role, len, .. } = self.program.slot(slot);
            match role {
                // An empty slot needs no writing.
                Role::Temp { .. } | Role::Output { .. }
                    if *len > 0 && self.lives[slot.0 as usize].is_none() =>
                {
                    self.error(place, format!("`{name}` is read before anything is written to it"));
                }
                _ => self.touch(slot, number),
            }
        }
        for slot in writes {
            let name = slot_name(slot);
            match self.program.slot(slot).role {
                Role::Temp { .. } | Role::Output { .. } => self.touch(slot, number),
                Role::Input(_) => self.error(place, format!("`{name}` is an input and is not written")),
                Role::Constant(_) => self.error(place, format!("`{name}` is a constant and is not written")),
            }
        }
    }

    fn touch(&mut self, slot: SlotId, step: usize) {
        let life = self.lives[slot.0 as usize].get_or_insert((step, step));
        life.1 = step;
    }

    fn launch(&mut self, place: Place, number: usize, slots: &[SlotId], sizes: &[i64]) {
        let Some(kernel) = self.program.kernels.get(number) else {
            self.error(place, format!("there is no kernel {number}"));
            return;
        };
        if slots.len() != kernel.params.len() {
            let (found, expected) = (count(slots.len(), "slot"), kernel.params.len());
            self.error(place, format!("it is given {found}, not {expected}"));
            return;
        }
        for (i, (param, slot)) in kernel.params.iter().zip(slots).enumerate() {
            let dtype = self.program.slot(*slot).dtype;
            if param.dtype != dtype {
                let slot = slot_name(*slot);
                self.error(place, format!("`{slot}` is {dtype}, `b{i}` is {}", param.dtype));
            }
        }
        if !self.sound[number] {
            return;
        }
        let same = same_slot(kernel, slots);
        for params in &same {
            if !launch::may_be_one(kernel, params) {
                let slot = slot_name(slots[params[0].0 as usize]);
                let names: Vec<String> = params.iter().map(|param| format!("`b{}`", param.0)).collect();
                self.error(place, format!("`{slot}` is {}, whose indices differ", names.join(" and ")));
            }
        }
        let lens: Vec<usize> = slots.iter().map(|slot| self.program.slot(*slot).len).collect();
        let in_place = self.in_place(kernel, slots);
        match launch::check(kernel, &lens, sizes, &same, &in_place) {
            Ok(faults) => {
                for fault in faults {
                    let kernel = name(&kernel.name);
                    self.error(place, format!("in {kernel}, `{}`: {}", fault.head, fault.message));
                }
            }
            Err(message) => self.error(place, message),
        }
    }

    /// The parameters of a launch that are an output and the input that it may reuse.
    fn in_place(&self, kernel: &Kernel, slots: &[SlotId]) -> Vec<launch::InPlace> {
        let mut pairs = Vec::new();
        for (i, written) in slots.iter().enumerate().filter(|(i, _)| kernel.params[*i].written) {
            let Role::Output { reuse: Some(input) } = self.program.slot(*written).role else { continue };
            for (j, read) in slots.iter().enumerate() {
                if self.program.slot(*read).role == Role::Input(input) {
                    pairs.push((BufferId(i as u32), BufferId(j as u32)));
                }
            }
        }
        pairs
    }

    fn results(&mut self) {
        for &result in &self.program.results {
            let name = slot_name(result);
            match self.slot(result).map(|slot| &slot.role) {
                None => self.error(Place::Return, format!("there is no slot `{name}`")),
                Some(Role::Temp { .. }) => {
                    self.error(Place::Return, format!("`{name}` is a temporary and cannot be a result"));
                }
                Some(_) => {}
            }
        }
        for (i, slot) in self.program.slots.iter().enumerate() {
            if slot.len > 0 && matches!(slot.role, Role::Output { .. }) && self.lives[i].is_none() {
                self.error(Place::Slot(i), "the output is never written");
            }
        }
    }

    /// Checks that temporaries in use at the same time do not overlap, nor those in an output with its use.
    fn overlaps(&mut self) {
        let mut temps: BTreeMap<Option<SlotId>, Vec<Temp>> = BTreeMap::new();
        for (i, (slot, life)) in self.program.slots.iter().zip(&self.lives).enumerate() {
            let (Role::Temp { of, offset }, &Some(life), Some(bytes @ 1..)) = (&slot.role, life, bytes(slot))
            else {
                continue;
            };
            temps.entry(*of).or_default().push((life, *offset, offset.saturating_add(bytes), i));
        }
        for (of, temps) in temps {
            let of_life = of.and_then(|id| *self.lives.get(id.0 as usize)?);
            for &((_, last), _, _, slot) in &temps {
                if let (Some(id), Some((first, _))) = (of, of_life)
                    && first <= last
                {
                    let message = format!("is in use when `{}` is touched", slot_name(id));
                    self.error(Place::Slot(slot), message);
                }
            }
            self.overlaps_in(temps);
        }
    }

    /// The same for those of one piece of memory: steps in order, the temporaries in use by their place, where a new one
    /// can only meet its neighbours.
    fn overlaps_in(&mut self, mut temps: Vec<Temp>) {
        temps.sort();
        let mut in_use: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        let mut ends: BTreeSet<(usize, usize)> = BTreeSet::new();
        for ((first, last), start, end, slot) in temps {
            while let Some(&(ended, at)) = ends.first().filter(|(ended, _)| *ended < first) {
                ends.remove(&(ended, at));
                in_use.remove(&at);
            }
            // The last one that starts before our end.
            match in_use.range(..end).next_back() {
                Some((_, &(other_end, other))) if other_end > start => {
                    let message = format!("overlaps `${other}`, which is in use at the same time");
                    self.error(Place::Slot(slot), message);
                }
                _ => {
                    in_use.insert(start, (end, slot));
                    ends.insert((last, start));
                }
            }
        }
    }

    /// Checks that nothing is lost when an output takes over the memory of an input.
    fn reuse(&mut self, output: usize, slot: &Slot, input: usize) {
        let place = Place::Slot(output);
        let mut slots = self.program.slots.iter().enumerate();
        let Some((from, source)) = slots.find(|(_, slot)| slot.role == Role::Input(input)) else {
            self.error(place, format!("there is no input {input}"));
            return;
        };
        if source.len != slot.len || source.dtype.size() != slot.dtype.size() {
            self.error(place, format!("input {input} has another number or size of elements"));
        }
        if self.program.results.iter().any(|result| result.0 as usize == from) {
            self.error(place, format!("input {input} is a result itself"));
        }
        let Some((first, _)) = self.lives[output] else { return };
        if self.lives[from].is_some_and(|(_, last)| last > first) {
            self.error(place, format!("input {input} is read after the output is written"));
        }
        let fine = match &self.program.steps[first] {
            Step::Launch { kernel, slots, .. } => {
                let Some(kernel) =
                    self.program.kernels.get(*kernel).filter(|k| k.params.len() == slots.len())
                else {
                    return;
                };
                let mut pairs = self.in_place(kernel, slots);
                pairs.retain(|(stored, _)| slots[stored.0 as usize].0 as usize == output);
                let one: Vec<BufferId> =
                    pairs.iter().flat_map(|&(stored, loaded)| [stored, loaded]).collect();
                launch::may_be_one(kernel, &one)
                    && pairs.iter().all(|&pair| launch::loads_before_stores(kernel, pair))
            }
            Step::Copy { .. } => true,
            step @ Step::Call { .. } => !effects(self.program, step).0.iter().any(|s| s.0 as usize == from),
        };
        if !fine {
            self.error(
                place,
                format!("input {input} is not read only at the index where the output is stored"),
            );
        }
    }
}

/// Parameters that are bound to one slot, if one of them is written: that one first.
fn same_slot(kernel: &Kernel, slots: &[SlotId]) -> Vec<Vec<BufferId>> {
    let mut by_slot: BTreeMap<SlotId, Vec<usize>> = BTreeMap::new();
    for (i, slot) in slots.iter().enumerate() {
        by_slot.entry(*slot).or_default().push(i);
    }
    let mut groups = Vec::new();
    for params in by_slot.into_values().filter(|params| params.len() > 1) {
        if let Some(&written) = params.iter().find(|i| kernel.params[**i].written) {
            let others = params.iter().filter(|i| **i != written);
            groups.push(std::iter::once(&written).chain(others).map(|i| BufferId(*i as u32)).collect());
        }
    }
    groups
}
