//! Arguments whose memory a result may take over.
//!
//! A result is written into the memory of an argument that the caller gives away, if nothing is lost: the
//! argument is no result itself, no later step reads it, and the launch that writes the result reads the
//! argument only at the index at which it then stores.

use tracewell_kernel::{BufferId, Index, Program, Region, Role, SlotId, Step, Stmt};

use crate::buffers::step_slots;

/// Names for each output of a program an input that it may reuse. Each input is given away once.
pub(crate) fn donate(program: &mut Program, donated: &[bool]) {
    let lives = lives(program);
    let mut taken = vec![false; program.slots.len()];
    for output in 0..program.slots.len() {
        let slot = &program.slots[output];
        // Written by one launch, which is the first to touch it.
        let (Role::Output { reuse: None }, Some((writer, _))) = (&slot.role, lives[output]) else { continue };
        if writes(program, output) != 1 {
            continue;
        }
        let fits = |input: usize| {
            let other = &program.slots[input];
            let Role::Input(number) = other.role else { return false };
            donated.get(number).copied().unwrap_or(false)
                && !taken[input]
                && other.dtype == slot.dtype
                && other.len == slot.len
                && !program.results.contains(&SlotId(input as u32))
                && lives[input].is_some_and(|(_, last)| last == writer)
                && reads_where_it_stores(program, writer, input, output)
        };
        let Some(input) = step_slots(&program.steps[writer]).iter().map(|s| s.0 as usize).find(|&i| fits(i))
        else {
            continue;
        };
        taken[input] = true;
        if let Role::Input(number) = program.slots[input].role {
            program.slots[output].role = Role::Output { reuse: Some(number) };
        }
    }
}

/// For each slot, the first and last step that touches it.
fn lives(program: &Program) -> Vec<Option<(usize, usize)>> {
    let mut lives = vec![None; program.slots.len()];
    for (at, step) in program.steps.iter().enumerate() {
        for slot in step_slots(step) {
            lives[slot.0 as usize].get_or_insert((at, at)).1 = at;
        }
    }
    lives
}

/// How many steps write a slot.
fn writes(program: &Program, slot: usize) -> usize {
    let is_written = |step: &Step| match step {
        Step::Launch { kernel, slots, .. } => {
            let params = &program.kernels[*kernel].params;
            params.iter().zip(slots).any(|(param, s)| param.written && s.0 as usize == slot)
        }
        Step::Call { call, slots } => slots[call.inputs.len()..].iter().any(|s| s.0 as usize == slot),
    };
    program.steps.iter().filter(|step| is_written(step)).count()
}

fn reads_where_it_stores(program: &Program, step: usize, input: usize, output: usize) -> bool {
    let Step::Launch { kernel, slots, .. } = &program.steps[step] else { return false };
    let params = |slot: usize| -> Vec<BufferId> {
        let is_it = |i: &usize| slots[*i].0 as usize == slot;
        (0..slots.len()).filter(is_it).map(|i| BufferId(i as u32)).collect()
    };
    let (read, written) = (params(input), params(output));
    let mut seen: Option<&Index> = None;
    same_index(&program.kernels[*kernel].body, &|b| read.contains(&b) || written.contains(&b), &mut seen)
}

/// Whether all accesses of some buffers have one index.
fn same_index<'r>(region: &'r Region, of: &dyn Fn(BufferId) -> bool, seen: &mut Option<&'r Index>) -> bool {
    region.stmts.iter().all(|stmt| match stmt {
        Stmt::Load { buffer, index, .. } | Stmt::Store { buffer, index, .. } => {
            !of(*buffer) || *seen.get_or_insert(index) == index
        }
        Stmt::Op { .. } => true,
        Stmt::Each { body, .. } | Stmt::For { body, .. } | Stmt::Reduce { body, .. } => {
            same_index(body, of, seen)
        }
        Stmt::While { cond, body, .. } => same_index(cond, of, seen) && same_index(body, of, seen),
        Stmt::If { then, otherwise, .. } => same_index(then, of, seen) && same_index(otherwise, of, seen),
        Stmt::Call { buffers, .. } => !buffers.iter().any(|b| of(*b)),
    })
}
