//! Arguments whose memory a result may take over.
//!
//! A result is written into the memory of an argument that the caller gives away, if nothing is lost: the
//! argument is no result itself, no later step reads it, and the launch that writes the result reads the
//! argument only at the index at which it then stores, or a row of it before it stores that row.

use tracewell_kernel::{
    BufferId, Index, Kernel, Program, Region, Role, Size, Slot, SlotId, Step, Stmt, Value,
};

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
fn loses_nothing(program: &Program, lives: &[Option<Life>], output: usize, input: usize) -> bool {
    let (to, from) = (&program.slots[output], &program.slots[input]);
    let Some((written, _)) = lives[output] else { return false };
    let last_read = lives[input].map(|(_, last)| last);
    (to.dtype, to.len) == (from.dtype, from.len)
        && !program.results.contains(&SlotId(input as u32))
        && last_read.is_none_or(|last| {
            last < written || last == written && reads_where_it_stores(program, written, input, output)
        })
}

/// The first and the last step that touches a slot.
pub(crate) type Life = (usize, usize);

/// The life of each slot that is used.
pub(crate) fn lives(program: &Program) -> Vec<Option<Life>> {
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

/// Whether a kernel may store to some buffers where others are that it reads: it reads them at the index at which it then
/// stores, or in statements before, if these read what the same turn of the loops around all of them overwrites.
pub(crate) fn reads_where_stored(kernel: &Kernel, read: &[BufferId], written: &[BufferId]) -> bool {
    let of = |b: BufferId| read.contains(&b) || written.contains(&b);
    let is_written = |b: BufferId| written.contains(&b);
    let mut around = Vec::new();
    let mut region = &kernel.body;
    let uses = loop {
        let uses: Vec<&Stmt> = region.stmts.iter().filter(|stmt| touches(stmt, &of)).collect();
        let &[Stmt::Each { var, body, .. }] = &uses[..] else { break uses };
        around.push(*var);
        region = body;
    };
    let Some((last, before)) = uses.split_last() else { return true };
    let places = |stmt: &Stmt| {
        let mut places = Vec::new();
        Place::all(stmt, &of, &around, &mut Vec::new(), &mut places).then_some(places)
    };
    let mut seen = Seen { index: None, stored: false };
    if !same_index(last, &of, &is_written, &mut seen) {
        return false;
    }
    before.is_empty() || {
        let stored = places(last).and_then(|places| places.into_iter().next());
        before.iter().all(|stmt| {
            let is_same = |place: &Place| Some(place) == stored.as_ref();
            !touches(stmt, &is_written) && places(stmt).is_some_and(|places| places.iter().all(is_same))
        })
    }
}

/// All that an index reaches in one turn of the loops around.
#[derive(PartialEq)]
struct Place {
    offset: Size,
    /// Along the loops around by their variables, along those inside by their lengths: with strides, in order.
    terms: Vec<(Result<Value, Size>, Size)>,
}

impl Place {
    /// Adds those of some buffers in a statement; `false` if one depends on more than loops.
    fn all(
        stmt: &Stmt,
        of: &dyn Fn(BufferId) -> bool,
        around: &[Value],
        inside: &mut Vec<(Value, Size)>,
        places: &mut Vec<Place>,
    ) -> bool {
        match stmt {
            Stmt::Load { buffer, index, .. } | Stmt::Store { buffer, index, .. } if of(*buffer) => {
                let place = Place::new(index, around, inside);
                let is_known = place.is_some();
                places.extend(place);
                is_known
            }
            Stmt::Each { var, extent, body } | Stmt::Reduce { var, extent, body, .. } => {
                inside.push((*var, *extent));
                let is_known = body.stmts.iter().all(|stmt| Place::all(stmt, of, around, inside, places));
                inside.pop();
                is_known
            }
            other => !touches(other, of),
        }
    }

    fn new(index: &Index, around: &[Value], inside: &[(Value, Size)]) -> Option<Place> {
        let term = |&(value, stride): &(Value, Size)| {
            let length = || inside.iter().find(|(var, _)| *var == value).map(|(_, extent)| Err(*extent));
            let along = around.contains(&value).then_some(Ok(value)).or_else(length)?;
            Some((along, stride))
        };
        let mut terms: Vec<_> = index.terms.iter().map(term).collect::<Option<_>>()?;
        terms.sort();
        Some(Place { offset: index.offset, terms })
    }
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
    stmt: &'r Stmt,
    of: &dyn Fn(BufferId) -> bool,
    is_written: &dyn Fn(BufferId) -> bool,
    seen: &mut Seen<'r>,
) -> bool {
    match stmt {
        Stmt::Load { buffer, index, .. } => {
            !of(*buffer)
                || (*seen.index.get_or_insert(index) == index && (!seen.stored || is_written(*buffer)))
        }
        Stmt::Store { buffer, index, .. } => {
            seen.stored |= of(*buffer);
            !of(*buffer) || *seen.index.get_or_insert(index) == index
        }
        Stmt::Each { body, .. } | Stmt::Reduce { body, .. } => {
            body.stmts.iter().all(|stmt| same_index(stmt, of, is_written, seen))
        }
        other => !touches(other, of),
    }
}

/// Whether a statement uses some buffers.
fn touches(stmt: &Stmt, of: &dyn Fn(BufferId) -> bool) -> bool {
    let any = |region: &Region| region.stmts.iter().any(|stmt| touches(stmt, of));
    match stmt {
        Stmt::Load { buffer, .. } | Stmt::Store { buffer, .. } => of(*buffer),
        Stmt::Op { .. } | Stmt::Poll => false,
        Stmt::Each { body, .. } | Stmt::Reduce { body, .. } | Stmt::For { body, .. } => any(body),
        Stmt::While { cond, body, .. } => any(cond) || any(body),
        Stmt::If { then, otherwise, .. } => any(then) || any(otherwise),
        Stmt::Call { windows, .. } => windows.iter().any(|window| of(window.buffer)),
    }
}
