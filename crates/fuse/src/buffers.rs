//! Where arrays live: results, arguments and constants in memory of their own, everything else in one arena
//! in which arrays that are not needed at the same time share bytes.

use tracewell_kernel::{Role, Slot, SlotId, Step};

/// Alignment of arrays in the arena: a cache line.
const ALIGN: usize = 64;

/// Gives every temporary slot its offset in the arena: the lowest that is free from its first use to its last.
/// Returns the size of the arena.
pub(crate) fn place(slots: &mut [Slot], steps: &[Step]) -> usize {
    let mut first = vec![usize::MAX; slots.len()];
    let mut last = vec![0; slots.len()];
    for (at, step) in steps.iter().enumerate() {
        for SlotId(slot) in step.slots() {
            let slot = slot as usize;
            first[slot] = first[slot].min(at);
            last[slot] = at;
        }
    }
    let is_temp = |slot: &Slot| matches!(slot.role, Role::Temp { .. });
    let mut order: Vec<usize> = (0..slots.len()).filter(|&i| is_temp(&slots[i])).collect();
    order.sort_by_key(|&i| first[i]);
    // What is in use, by offset.
    let mut used: Vec<(usize, usize, usize)> = Vec::new();
    let mut arena = 0;
    for i in order {
        used.retain(|&(_, _, slot)| last[slot] >= first[i]);
        let bytes = (slots[i].len * slots[i].dtype.size()).next_multiple_of(ALIGN);
        let mut offset = 0;
        let mut at = 0;
        for &(start, end, _) in &used {
            if start >= offset + bytes {
                break;
            }
            offset = offset.max(end);
            at += 1;
        }
        used.insert(at, (offset, offset + bytes, i));
        arena = arena.max(offset + bytes);
        slots[i].role = Role::Temp { offset };
    }
    arena
}
