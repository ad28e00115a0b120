//! Where scratch lies: in the memory of results that are not written yet, else in one arena. Arrays that are not needed at
//! the same time share bytes.
//!
//! A step of descent computes its gradients first and its results last: until then the memory of the results is there for
//! nothing.

use tracewell_kernel::{Program, Role, Slot, SlotId};

use crate::donate::{Life, lives};

/// Alignment of arrays: a cache line.
const ALIGN: usize = 64;
/// Arrays of fewer bytes are in the arena, which caches hold.
const LITTLE: usize = 4096;
/// Results that take scratch, the largest ones: few are enough, and time stays linear.
const MOST_HOSTS: usize = 16;

/// A temporary slot that has no place yet.
struct Temp {
    slot: usize,
    bytes: usize,
    life: Life,
}

/// Gives every temporary slot its place: the lowest that is free from its first use to its last.
pub(crate) fn place(program: &mut Program) {
    let lives = lives(program);
    let slots = &mut program.slots;
    let bytes = |slot: &Slot| slot.len * slot.dtype.size();
    let temp = |(slot, data): (usize, &Slot)| {
        // What is not used is last, and in nobody's way.
        let life = lives[slot].unwrap_or((usize::MAX, usize::MAX));
        let temp = Temp { slot, bytes: bytes(data).next_multiple_of(ALIGN), life };
        matches!(data.role, Role::Temp { .. }).then_some(temp)
    };
    let mut temps: Vec<Temp> = slots.iter().enumerate().filter_map(temp).collect();
    temps.sort_by_key(|temp| temp.life.0);
    // An output that may have the memory of an argument takes nothing: that memory is still read.
    let is_host = |slot: &usize| slots[*slot].role == Role::Output { reuse: None };
    let mut hosts: Vec<usize> = (0..slots.len()).filter(is_host).collect();
    hosts.sort_by_key(|&slot| std::cmp::Reverse(bytes(&slots[slot])));
    hosts.truncate(MOST_HOSTS);
    for host in hosts {
        let Some((first, _)) = lives[host] else { continue };
        let mut memory = Memory { used: Vec::new(), room: bytes(&slots[host]), end: 0 };
        temps.retain(|temp| {
            let may_go = temp.bytes >= LITTLE && temp.life.1 < first;
            let Some(offset) = may_go.then(|| memory.place(temp)).flatten() else { return true };
            slots[temp.slot].role = Role::Temp { of: Some(SlotId(host as u32)), offset };
            false
        });
    }
    let mut arena = Memory { used: Vec::new(), room: usize::MAX, end: 0 };
    for temp in temps {
        let offset = arena.place(&temp).expect("the arena grows");
        slots[temp.slot].role = Role::Temp { of: None, offset };
    }
    program.arena = arena.end;
}

/// A piece of memory.
struct Memory {
    /// What is in use, by where it begins: that, where it ends, and its last use.
    used: Vec<(usize, usize, usize)>,
    /// Its size.
    room: usize,
    /// How much of it is ever used.
    end: usize,
}

impl Memory {
    /// Finds a place for the next one, in the order of their first uses.
    fn place(&mut self, temp: &Temp) -> Option<usize> {
        self.used.retain(|&(_, _, last)| last >= temp.life.0);
        let mut offset = 0;
        let mut at = 0;
        for &(start, end, _) in &self.used {
            if start >= offset + temp.bytes {
                break;
            }
            offset = offset.max(end);
            at += 1;
        }
        let end = offset.checked_add(temp.bytes).filter(|&end| end <= self.room)?;
        self.used.insert(at, (offset, end, temp.life.1));
        self.end = self.end.max(end);
        Some(offset)
    }
}
