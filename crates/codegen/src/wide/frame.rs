//! What a kernel without Cranelift keeps on the stack: its stack buffers, what the launch hands over, and values.

use rustc_hash::FxHashMap;
use tracewell_kernel::{BufferId, Kernel, Size, Value};

use super::body::Number;
use super::encode::{Assembler, Place, RAX, RSP};
use super::registers::BLOCK;

/// The smallest page of memory, and therefore how far apart the stack must be touched.
const PAGE: i32 = 4096;

/// Where everything is, from the address in the register of blocks on.
pub(crate) struct Frame {
    params: usize,
    locals: Vec<i32>,
    /// Where stack buffers end, and what the launch hands over begins.
    launch: i32,
    /// Where the next thing will be.
    next: i32,
    homes: FxHashMap<Value, i32>,
    /// Numbers that depend on sizes only, with these sizes.
    numbers: Vec<(Number, Vec<Size>, i32)>,
}

impl Frame {
    /// Stack buffers start at lines of the cache.
    pub(crate) const ALIGN: i32 = 64;

    pub(crate) fn new(kernel: &Kernel) -> Frame {
        let mut launch = 0;
        let place = |local: &tracewell_kernel::Local| {
            let at = launch;
            launch += (local.dtype.size() * local.len).next_multiple_of(Frame::ALIGN as usize) as i32;
            at
        };
        let locals = kernel.locals.iter().map(place).collect();
        let next = launch + 32;
        let (homes, numbers) = (FxHashMap::default(), Vec::new());
        Frame { params: kernel.params.len(), locals, launch, next, homes, numbers }
    }

    /// Touches every page that stack buffers are on, so that a stack that is full is noticed.
    pub(crate) fn touch(&self, asm: &mut Assembler) {
        for page in 1..=(self.launch + PAGE - 1) / PAGE {
            asm.store(RAX, Place::Memory(RSP, None, -page * PAGE));
        }
    }

    /// The table of addresses.
    pub(crate) fn buffers(&self) -> Place {
        Place::Memory(BLOCK, None, self.launch)
    }

    /// The table of sizes.
    pub(crate) fn sizes(&self) -> Place {
        Place::Memory(BLOCK, None, self.launch + 8)
    }

    /// Where the iterations of the launch start.
    pub(crate) fn start(&self) -> Place {
        Place::Memory(BLOCK, None, self.launch + 16)
    }

    /// Where they end.
    pub(crate) fn end(&self) -> Place {
        Place::Memory(BLOCK, None, self.launch + 24)
    }

    /// A stack buffer.
    pub(crate) fn local(&self, buffer: BufferId) -> Option<i32> {
        (buffer.0 as usize).checked_sub(self.params).map(|local| self.locals[local])
    }

    /// Eight bytes for something new.
    fn room(&mut self) -> i32 {
        self.next += 8;
        self.next - 8
    }

    /// The same, as a place.
    pub(crate) fn slot(&mut self) -> Place {
        Place::Memory(BLOCK, None, self.room())
    }

    /// Where a value will be.
    pub(crate) fn home_at(&mut self, value: Value) -> i32 {
        let room = self.room();
        self.homes.insert(value, room);
        room
    }

    /// The same, as a place.
    pub(crate) fn home(&mut self, value: Value) -> Place {
        Place::Memory(BLOCK, None, self.home_at(value))
    }

    /// Where a value is.
    pub(crate) fn known(&self, value: Value) -> Option<i32> {
        self.homes.get(&value).copied()
    }

    /// The values that have a home by now.
    pub(crate) fn at_home(&self) -> impl Iterator<Item = Value> + '_ {
        self.homes.keys().copied()
    }

    /// Where a number is that depends on these sizes.
    pub(crate) fn number(&mut self, number: Number, sizes: Vec<Size>) -> i32 {
        let known = |(known, of, _): &&(Number, Vec<Size>, i32)| *known == number && *of == sizes;
        if let Some((_, _, at)) = self.numbers.iter().find(known) {
            return *at;
        }
        let room = self.room();
        self.numbers.push((number, sizes, room));
        room
    }

    /// All of them, with where they are.
    pub(crate) fn numbers(&self) -> Vec<(Number, Vec<Size>, i32)> {
        self.numbers.clone()
    }

    /// How much it takes, with what aligning it may cost.
    pub(crate) fn bytes(&self) -> i32 {
        (self.next + 2 * Frame::ALIGN - 1) / Frame::ALIGN * Frame::ALIGN
    }

    /// How much of that is behind stack buffers.
    pub(crate) fn beside_locals(&self) -> i32 {
        self.bytes() - self.launch
    }
}
