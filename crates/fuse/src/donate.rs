//! Arguments whose memory a result may take over.
//!
//! A result is written into the memory of an argument that the caller gives away, if nothing is lost: the
//! argument is no result itself, no later step reads it, and the launch that writes the result reads the
//! argument only at the index at which it then stores.

use tracewell_kernel::{BufferId, Index, Kernel, Program, Region, Role, Slot, SlotId, Step, Stmt};

/// Names for each output of a program an input that it may reuse. Each input is given away once.
pub(crate) fn donate(program: &mut Program, donated: &[bool]) {
    let lives = lives(program);
    let mut taken = vec![false; program.slots.len()];
    for output in 0..program.slots.len() {
        let Role::Output { reuse: None } = program.slots[output].role else { continue };
        let is_given = |input: usize| {
            let Role::Input(number) = program.slots[input].role else { return None };
            let is_free = donated.get(number).copied().unwrap_or(false) && !taken[input];
            (is_free && loses_nothing(program, &lives, output, input)).then_some((input, number))
        };
        let Some((input, number)) = (0..program.slots.len()).find_map(is_given) else { continue };
        taken[input] = true;
        program.slots[output].role = Role::Output { reuse: Some(number) };
    }
}

/// Whether a result may be made in the memory of the input of that number.
pub(crate) fn may_take(program: &Program, result: SlotId, number: usize) -> bool {
    let output = result.0 as usize;
    let is_input = |slot: &Slot| slot.role == Role::Input(number);
    let Some(input) = program.slots.iter().position(is_input) else { return false };
    matches!(program.slots[output].role, Role::Output { .. })
        && loses_nothing(program, &lives(program), output, input)
}

/// Whether nothing is lost if an output is made in the memory of an input.
fn loses_nothing(program: &Program, lives: &[Option<(usize, usize)>], output: usize, input: usize) -> bool {
    let (to, from) = (&program.slots[output], &program.slots[input]);
    let Some((written, _)) = lives[output] else { return false };
    let last_read = lives[input].map(|(_, last)| last);
    (to.dtype, to.len) == (from.dtype, from.len)
        && !program.results.contains(&SlotId(input as u32))
        && last_read.is_none_or(|last| {
            last < written || last == written && reads_where_it_stores(program, written, input, output)
        })
}

/// For each slot, the first and last step that touches it.
fn lives(program: &Program) -> Vec<Option<(usize, usize)>> {
    let mut lives = vec![None; program.slots.len()];
    for (at, step) in program.steps.iter().enumerate() {
        for slot in step.slots() {
            lives[slot.0 as usize].get_or_insert((at, at)).1 = at;
        }
    }
    lives
}

fn reads_where_it_stores(program: &Program, step: usize, input: usize, output: usize) -> bool {
    let (kernel, slots) = match &program.steps[step] {
        Step::Launch { kernel, slots, .. } => (kernel, slots),
        Step::Copy { .. } => return true,
        Step::Call { .. } => return false,
    };
    let params = |slot: usize| -> Vec<BufferId> {
        let is_it = |i: &usize| slots[*i].0 as usize == slot;
        (0..slots.len()).filter(is_it).map(|i| BufferId(i as u32)).collect()
    };
    reads_where_stored(&program.kernels[*kernel], &params(input), &params(output))
}

/// Whether a kernel reads some buffers only at the index at which it then stores to others.
pub(crate) fn reads_where_stored(kernel: &Kernel, read: &[BufferId], written: &[BufferId]) -> bool {
    let of = |b: BufferId| read.contains(&b) || written.contains(&b);
    let mut seen = Seen { index: None, stored: false };
    same_index(&kernel.body, &of, &|b| written.contains(&b), &mut seen)
}

/// What was seen of the accesses so far.
struct Seen<'r> {
    /// The index of all of them.
    index: Option<&'r Index>,
    /// Whether something was stored.
    stored: bool,
}

/// Whether all accesses of some buffers have one index, and loads come before stores. In loops whose turns follow each
/// other, and in branches, that is not looked into.
fn same_index<'r>(
    region: &'r Region,
    of: &dyn Fn(BufferId) -> bool,
    is_written: &dyn Fn(BufferId) -> bool,
    seen: &mut Seen<'r>,
) -> bool {
    region.stmts.iter().all(|stmt| match stmt {
        Stmt::Load { buffer, index, .. } => {
            !of(*buffer)
                || (*seen.index.get_or_insert(index) == index && (!seen.stored || is_written(*buffer)))
        }
        Stmt::Store { buffer, index, .. } => {
            seen.stored |= of(*buffer);
            !of(*buffer) || *seen.index.get_or_insert(index) == index
        }
        Stmt::Op { .. } | Stmt::Poll => true,
        Stmt::Each { body, .. } | Stmt::Reduce { body, .. } => same_index(body, of, is_written, seen),
        Stmt::For { body, .. } => !touches(body, of),
        Stmt::While { cond, body, .. } => !touches(cond, of) && !touches(body, of),
        Stmt::If { then, otherwise, .. } => !touches(then, of) && !touches(otherwise, of),
        Stmt::Call { windows, .. } => !windows.iter().any(|window| of(window.buffer)),
    })
}

/// Whether a region uses some buffers.
fn touches(region: &Region, of: &dyn Fn(BufferId) -> bool) -> bool {
    region.stmts.iter().any(|stmt| match stmt {
        Stmt::Load { buffer, .. } | Stmt::Store { buffer, .. } => of(*buffer),
        Stmt::Op { .. } | Stmt::Poll => false,
        Stmt::Each { body, .. } | Stmt::Reduce { body, .. } | Stmt::For { body, .. } => touches(body, of),
        Stmt::While { cond, body, .. } => touches(cond, of) || touches(body, of),
        Stmt::If { then, otherwise, .. } => touches(then, of) || touches(otherwise, of),
        Stmt::Call { windows, .. } => windows.iter().any(|window| of(window.buffer)),
    })
}
