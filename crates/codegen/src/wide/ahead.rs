//! Memory that is wanted soon is asked for early.
//!
//! The machine looks ahead by itself, but not farther than the instructions it holds: the more a loop computes with what
//! it loads, the fewer loads are on their way at a time. Arithmetic on arrays that no cache holds is faster if each line
//! of memory is named some turns before it is loaded. A loop that computes much does so always. One that computes little
//! would be slower by it where a cache holds the array, and has a copy for arrays that are walked far. One with
//! fewer than two instructions for each load, such as a product of two vectors, has nothing of it.

use tracewell_kernel::{Kernel, Region, Size, Stmt, Value};

use super::body::Body;
use super::inst::{Form, Inst, Line};
use super::opcode::LOAD;

/// How far ahead, in bytes: beyond the instructions that are held, on a page that is soon needed anyway.
const DISTANCE: i32 = 2048;
/// Elements of an array from which on what a loop walks through is taken to be in no cache of the core.
pub(crate) const FAR: i64 = 1 << 18;
/// Instructions for each load of a loop that has something of it, and of one that asks always.
const SOME: usize = 2;
const MUCH: usize = 8;
/// Bytes of a line of memory.
const LINE: i32 = 64;

/// The lines of memory that one turn of a loop has asked for.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    pays: bool,
    asked: Vec<(u32, i32)>,
}

impl Ahead {
    /// For a loop, and whether it is for arrays that are walked far.
    pub(crate) fn new(line: &Line, far: bool) -> Ahead {
        let (insts, loads) = (line.insts.len(), loads(line));
        Ahead { pays: loads > 0 && (far || insts >= MUCH * loads), asked: Vec::new() }
    }

    /// How far behind what an instruction loads memory is asked for, if it is.
    pub(crate) fn of(&mut self, inst: &Inst) -> Option<i32> {
        let memory = inst.memory.filter(|_| self.pays && is_load(inst))?;
        let line = (memory.stream, memory.offset.div_euclid(LINE));
        if self.asked.contains(&line) {
            return None;
        }
        self.asked.push(line);
        Some(DISTANCE)
    }
}

/// Whether a loop has a copy for arrays that are walked far, which asks ahead.
pub(crate) fn is_better_far(line: &Line) -> bool {
    let (insts, loads) = (line.insts.len(), loads(line));
    loads > 0 && (SOME * loads..MUCH * loads).contains(&insts)
}

fn loads(line: &Line) -> usize {
    line.insts.iter().filter(|inst| is_load(inst)).count()
}

/// Whether an instruction loads a whole vector.
pub(crate) fn is_load(inst: &Inst) -> bool {
    inst.form == Form::Load && [LOAD.of(false), LOAD.of(true)].contains(&inst.op)
}

/// The lengths of the loops along which the array is walked that is walked along most.
pub(crate) fn walk(kernel: &Kernel, body: &Body<'_>) -> Vec<Size> {
    let loops = loops_to(&kernel.body, body.region()).unwrap_or_default();
    let along = |terms: &[(Value, Size)]| -> Vec<Size> {
        let is_walked = |var: Value| var == body.var() || terms.iter().any(|(value, _)| *value == var);
        loops.iter().filter(|(var, _)| is_walked(*var)).map(|(_, extent)| *extent).collect()
    };
    let walks = body.streams.iter().map(|stream| along(&stream.index.terms));
    walks.max_by_key(Vec::len).unwrap_or_default()
}

/// Whether an array may be so long that no cache holds what is walked through, in one go.
pub(crate) fn may_be_far(kernel: &Kernel, body: &Body<'_>) -> bool {
    let known = walk(kernel, body).iter().try_fold(1i64, |all, size| match size {
        Size::Const(n) => Some(all.saturating_mul(*n)),
        Size::Param(_) => None,
    });
    goes_on(kernel, body) && known.is_none_or(|elements| elements >= FAR)
}

/// Whether what is behind the end of a loop is what the next iteration of the one around it begins with. Otherwise,
/// as where an array is walked down some of its columns, much would be asked for that nobody wants soon.
fn goes_on(kernel: &Kernel, body: &Body<'_>) -> bool {
    let loops = loops_to(&kernel.body, body.region()).unwrap_or_default();
    let [.., (outer, _), (_, extent)] = loops[..] else { return true };
    let terms = body.streams.iter().flat_map(|stream| &stream.index.terms);
    let mut steps = terms.filter(|(value, _)| *value == outer).map(|(_, scale)| *scale).peekable();
    steps.peek().is_none() || steps.any(|step| step == extent)
}

/// The variables and lengths of the loops down to a region, its own last; nothing if it is not inside.
fn loops_to(region: &Region, wanted: &Region) -> Option<Vec<(Value, Size)>> {
    if std::ptr::eq(region, wanted) {
        return Some(Vec::new());
    }
    region.stmts.iter().find_map(|stmt| match stmt {
        Stmt::Each { var, extent, body }
        | Stmt::Reduce { var, extent, body, .. }
        | Stmt::For { var, extent, body, .. } => {
            let mut inner = loops_to(body, wanted)?;
            inner.insert(0, (*var, *extent));
            Some(inner)
        }
        Stmt::While { cond, body, .. } => loops_to(cond, wanted).or_else(|| loops_to(body, wanted)),
        Stmt::If { then, otherwise, .. } => loops_to(then, wanted).or_else(|| loops_to(otherwise, wanted)),
        Stmt::Op { .. } | Stmt::Load { .. } | Stmt::Store { .. } | Stmt::Call { .. } | Stmt::Poll => None,
    })
}
