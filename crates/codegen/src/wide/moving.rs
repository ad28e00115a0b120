//! Pointers that move along with a loop around others.
//!
//! Where all that a loop holds are innermost loops and what is between them, hardly an address is made anew in each of
//! its iterations: from one to the next it grows by a known number of bytes. Such pointers are made before the first
//! iteration and stay in registers, as does the counter.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tracewell_kernel::{BufferId, Region, Size, Stmt, Value};

use super::body::{Body, Stream};
use super::encode::{General, Place, RAX, When};
use super::leaf::POINTERS;
use super::nest::{Around, Iterated, Nest};
use crate::hoist::is_straight;

/// What an address is the sum of, the variable of an innermost loop being 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    pub(crate) buffer: BufferId,
    pub(crate) offset: Size,
    /// Values, what each is multiplied by, in elements, and whether that is subtracted.
    pub(crate) parts: SmallVec<[(Value, Size, bool); 2]>,
}

impl Origin {
    pub(crate) fn new(stream: &Stream, body: Option<&Body<'_>>) -> Origin {
        let mut parts = SmallVec::new();
        for &(value, scale) in &stream.index.terms {
            let mut values = Vec::new();
            match body {
                Some(body) => body.parts_at_0(value, false, &mut values),
                None => values.push((value, false)),
            }
            parts.extend(values.into_iter().map(|(value, is_negative)| (value, scale, is_negative)));
        }
        Origin { buffer: stream.buffer, offset: stream.index.offset, parts }
    }
}

/// A pointer of such a loop.
#[derive(Clone, Debug)]
struct Pointer {
    origin: Origin,
    /// Whether it moves along; otherwise it is made where it is needed.
    moves: bool,
    register: General,
}

/// A loop around others, with what it keeps in registers.
#[derive(Debug)]
pub(crate) struct Moving {
    var: Value,
    /// Values that are at home before the loop.
    before: FxHashSet<Value>,
    pointers: Vec<Pointer>,
    /// Whether the counter is read at its home too.
    is_read: bool,
}

/// Where the counter is.
pub(crate) const COUNTER: General = POINTERS[0];

impl Moving {
    /// The register of a pointer, and whether it is there already.
    pub(crate) fn register(
        &mut self,
        origin: &Origin,
        constants: &FxHashMap<Value, u64>,
    ) -> Option<(General, bool)> {
        if let Some(known) = self.pointers.iter().find(|known| known.origin == *origin) {
            return Some((known.register, known.moves));
        }
        let is_before = |value: &Value| {
            *value == self.var || constants.contains_key(value) || self.before.contains(value)
        };
        let moves = origin.parts.iter().all(|(value, ..)| is_before(value));
        let register = *POINTERS[1..].get(self.pointers.len())?;
        self.pointers.push(Pointer { origin: origin.clone(), moves, register });
        Some((register, moves))
    }

    /// Whether the counter is read at its home.
    pub(crate) fn is_read(&self) -> bool {
        self.is_read
    }

    /// Whether a value is at home before the loop.
    pub(crate) fn is_before(&self, value: Value) -> bool {
        self.before.contains(&value)
    }

    /// The register of a pointer that moves along.
    pub(crate) fn pointer(&self, origin: &Origin) -> Option<General> {
        let known = self.pointers.iter().find(|known| known.moves && known.origin == *origin)?;
        Some(known.register)
    }

    /// The registers of pointers that move along, and by how much.
    pub(crate) fn steps(&self, step: impl Fn(&Origin) -> Option<i32>) -> Option<Vec<(General, i32)>> {
        let moving = self.pointers.iter().filter(|pointer| pointer.moves);
        moving.map(|pointer| Some((pointer.register, step(&pointer.origin)?))).collect()
    }

    /// Somebody reads a value at its home.
    pub(crate) fn read(&mut self, value: Value) {
        self.is_read |= value == self.var;
    }
}

/// How many registers the loop around a region takes; `None` if that is more than there are, or if there are loops around
/// loops inside.
pub(crate) fn registers(region: &Region) -> Option<usize> {
    let mut origins = Vec::new();
    collect(region, None, &mut origins)?;
    (origins.len() < POINTERS.len()).then_some(1 + origins.len())
}

/// Notes what is loaded from and stored to. Where it is inside an innermost loop does not matter.
fn collect(region: &Region, inner: Option<Value>, origins: &mut Vec<Origin>) -> Option<()> {
    for stmt in &region.stmts {
        match stmt {
            Stmt::Op { .. } => {}
            Stmt::Load { buffer, index, .. } | Stmt::Store { buffer, index, .. } => {
                let outer = index.terms.iter().filter(|(value, _)| Some(*value) != inner);
                let parts = outer.map(|&(value, scale)| (value, scale, false)).collect();
                let offset = match index.offset {
                    Size::Const(_) => Size::Const(0),
                    offset @ Size::Param(_) => offset,
                };
                let origin = Origin { buffer: *buffer, offset, parts };
                if !origins.contains(&origin) {
                    origins.push(origin);
                }
            }
            Stmt::Each { var, body, .. } | Stmt::Reduce { var, body, .. } if is_straight(body) => {
                collect(body, Some(*var), origins)?;
            }
            _ => return None,
        }
    }
    Some(())
}

impl<'k> Nest<'k> {
    /// The iterations of such a loop, of which there is one at least.
    pub(crate) fn moving_loop(&mut self, around: Around<'k, '_>) -> Option<()> {
        let Around { var, iterated, region, hoisted, .. } = around;
        let home = self.frame.home(var);
        let before = self.frame.at_home().collect();
        self.moving = Some(Moving { var, before, pointers: Vec::new(), is_read: false });
        // Which pointers there are is known behind the loop only.
        let begin = self.asm.jump(None);
        let again = self.asm.bytes.len();
        self.region(region, hoisted)?;
        let moving = self.moving.take()?;
        let pointers = || moving.pointers.iter().filter(|pointer| pointer.moves);
        for pointer in pointers() {
            self.move_along(var, pointer)?;
        }
        self.asm.add_const(COUNTER, 1);
        if moving.is_read {
            self.asm.store(COUNTER, home);
        }
        self.compare_with_end(COUNTER, iterated)?;
        self.asm.jump_back(Some(When::Less), again);
        let after = self.asm.jump(None);
        self.asm.land(begin);
        match iterated {
            Iterated::Given(_) => self.asm.load(COUNTER, self.frame.start()),
            Iterated::All(_) => self.asm.load_const(COUNTER, 0),
        }
        self.asm.store(COUNTER, home);
        for pointer in pointers() {
            self.address(pointer.register, &pointer.origin)?;
        }
        match self.pair(around, &moving) {
            Some(pair) => self.pairs(&pair, around, again)?,
            None => self.asm.jump_back(None, again),
        }
        self.asm.land(after);
        Some(())
    }

    /// A pointer of the next iteration.
    fn move_along(&mut self, var: Value, pointer: &Pointer) -> Option<()> {
        let size = self.kernel.buffer_dtype(pointer.origin.buffer).size() as i64;
        if let Some(bytes) = self.bytes_along(var, &pointer.origin) {
            if bytes != 0 {
                self.asm.add_const(pointer.register, bytes);
            }
            return Some(());
        }
        for &(_, scale, is_negative) in pointer.origin.parts.iter().filter(|(value, ..)| *value == var) {
            self.size(RAX, scale)?;
            self.asm.multiply_const(RAX, RAX, size as i32);
            match is_negative {
                true => self.asm.subtract(pointer.register, RAX),
                false => self.asm.add(pointer.register, RAX),
            }
        }
        Some(())
    }

    /// How many bytes an address is further in the next iteration, if that is known.
    pub(crate) fn bytes_along(&self, var: Value, origin: &Origin) -> Option<i32> {
        let size = self.kernel.buffer_dtype(origin.buffer).size() as i64;
        let mut bytes = 0i64;
        for &(_, scale, is_negative) in origin.parts.iter().filter(|(value, ..)| *value == var) {
            let Size::Const(scale) = scale else { return None };
            let step = scale.checked_mul(size)?;
            bytes = bytes.checked_add(if is_negative { -step } else { step })?;
        }
        i32::try_from(bytes).ok()
    }

    /// Where a value is at home, for one who reads it there.
    pub(crate) fn home_of(&mut self, value: Value) -> Option<Place> {
        self.home_at(value).map(|at| Place::Memory(super::registers::BLOCK, None, at))
    }

    /// The same, as a number of bytes.
    pub(crate) fn home_at(&mut self, value: Value) -> Option<i32> {
        if let Some(moving) = &mut self.moving {
            moving.read(value);
        }
        self.frame.known(value)
    }
}
