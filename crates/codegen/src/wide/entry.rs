//! A kernel that is one wide loop and nothing else. Its entry is written here too: all it does is to load some addresses
//! and to call the loop, for which a compiler is not needed.

use cranelift_codegen::isa::CallConv;
use rustc_hash::FxHashMap;
use tracewell_array::DType;
use tracewell_kernel::steps::Fault;
use tracewell_kernel::{BufferId, Index, Kernel, Op, Size, Stmt, Value};

use super::Level;
use super::ahead::FAR;
use super::body::{Body, Number};
use super::encode::{Assembler, General, Jump, Place, RAX, RCX, RDI, RDX, RSI, RSP, When};
use super::leaf::{Leaf, LeafCode, MOST_STACK};
use super::map::Maps;
use super::uncached::{MANY, Stored};
use crate::hoist::{Iterations, invariant, is_straight};
use crate::plan::laned;
use crate::target::Target;

/// What a launch hands to an entry: the tables of addresses and sizes, and which iterations are meant.
const BUFFERS: General = RDI;
const SIZES: General = RSI;
const START: General = RDX;
const END: General = RCX;

/// Where each call of an entry ends, and the number of the function.
type Calls = Vec<(usize, usize)>;

/// An entry, and the functions that it calls.
pub(crate) struct Whole {
    pub(crate) entry: Vec<u8>,
    pub(crate) calls: Calls,
    pub(crate) leaves: Vec<LeafCode>,
}

/// What is the same in every iteration.
enum Same {
    Constant(u64),
    /// An element of an array, by its place in bytes.
    Element(BufferId, DType, i32),
}

/// A kernel without Cranelift; `None` if it is more than a loop.
pub(crate) fn whole(kernel: &Kernel, target: &Target) -> Option<Whole> {
    // With shorter vectors, the last iterations are Cranelift's.
    let level = target.features().wide.filter(|level| *level == Level::Avx512)?;
    if target.isa().default_call_conv() != CallConv::SystemV {
        return None;
    }
    let [Stmt::Each { var, extent, body: region }] = kernel.body.stmts.as_slice() else { return None };
    if !is_straight(region) || !kernel.locals.is_empty() {
        return None;
    }
    let hoisted = invariant(kernel, region, &[*var], Iterations::Independent);
    let laned = laned(kernel, *var, region);
    let mut same: FxHashMap<Value, Same> = FxHashMap::default();
    for (stmt, _) in region.stmts.iter().zip(&hoisted).filter(|(_, hoisted)| **hoisted) {
        let (out, known) = match stmt {
            Stmt::Op { out, op: Op::Const(literal), .. } => (out, Same::Constant(literal.bits() as u64)),
            Stmt::Load { out, buffer, index } => {
                let dtype = kernel.buffer_dtype(*buffer);
                let place = first(index, *var, dtype).filter(|_| dtype.size() >= 4)?;
                (out, Same::Element(*buffer, dtype, place))
            }
            _ => return None,
        };
        same.insert(*out, known);
    }
    let literal = |value: Value| match same.get(&value) {
        Some(Same::Constant(bits)) => Some(*bits),
        _ => None,
    };
    let mut body = Body::new(kernel, level, *var, region, &hoisted, &laned)?;
    if body.ramp_stmts().next().is_some() || body.assume() {
        return None;
    }
    let stored = body.stored().unwrap_or_default();
    let broken = target.broken() == Some(Fault::Wide);
    let maps = Maps { kernel, level, extent: None, broken, literal: &literal };
    let (leaf, code) = maps.leaf(&mut body, &stored)?;
    let past =
        !stored.is_empty() && !code.stores.is_empty() && !matches!(extent, Size::Const(n) if *n < MANY);
    let mut leaves = vec![code];
    if past {
        leaves.push(leaves[0].uncached());
    }
    let entry = Entry { kernel, leaf: &leaf, body: &body, extent: *extent, same: &same };
    let (entry, calls) = entry.assemble(if past { &stored } else { &[] })?;
    Some(Whole { entry, calls, leaves })
}

/// The place of an index in the first iteration, in bytes, if it depends on nothing else.
fn first(index: &Index, var: Value, dtype: DType) -> Option<i32> {
    match index.offset {
        Size::Const(offset) if index.terms.iter().all(|(value, _)| *value == var) => {
            i32::try_from(offset.checked_mul(dtype.size() as i64)?).ok()
        }
        _ => None,
    }
}

/// What an entry is made of.
struct Entry<'a> {
    kernel: &'a Kernel,
    leaf: &'a Leaf,
    body: &'a Body<'a>,
    extent: Size,
    same: &'a FxHashMap<Value, Same>,
}

impl Entry<'_> {
    /// The bytes and the calls in them, the last of which is of the function whose results, `stored`, go past caches, if
    /// there are any.
    fn assemble(&self, stored: &[Stored]) -> Option<(Vec<u8>, Calls)> {
        let mut asm = Assembler::new(self.leaf.level);
        let block = self.leaf.slot(self.body.numbers.len() as u32).max(8);
        // A function is called with a stack whose address is a multiple of 16, less the one that it returns to.
        let frame = (block + 15) / 16 * 16 + 8;
        if frame > MOST_STACK {
            return None;
        }
        asm.subtract_const(RSP, frame);
        asm.compare(START, Place::Register(END));
        let nothing = asm.jump(Some(When::NotLess));
        for (k, stream) in self.body.streams.iter().enumerate() {
            let place = first(&stream.index, self.body.var(), self.kernel.buffer_dtype(stream.buffer))?;
            asm.load(RAX, buffer(stream.buffer));
            if place != 0 {
                asm.add_const(RAX, place);
            }
            asm.store(RAX, pointer(k));
        }
        for (k, number) in self.body.numbers.iter().enumerate() {
            self.number(&mut asm, *number)?;
            asm.store(RAX, Place::Memory(RSP, None, self.leaf.slot(k as u32)));
        }
        let mut calls = Vec::new();
        let mut after = None;
        if !stored.is_empty() {
            let common = self.unless_past(&mut asm, stored);
            calls.push((call(&mut asm), 1));
            // Whoever is told that this is done must see what was stored.
            asm.fence();
            after = Some(asm.jump(None));
            common.into_iter().for_each(|jump| asm.land(jump));
        }
        calls.push((call(&mut asm), 0));
        after.into_iter().chain([nothing]).for_each(|jump| asm.land(jump));
        asm.load_const(RAX, 0);
        asm.add_const(RSP, frame);
        asm.ret();
        Some((asm.finish(&[]).0, calls))
    }

    /// Loads a number that the loop is handed.
    fn number(&self, asm: &mut Assembler, number: Number) -> Option<()> {
        match number {
            Number::Value(value) => {
                let Same::Element(from, dtype, place) = self.same.get(&value)? else { return None };
                asm.load(RAX, buffer(*from));
                let place = Place::Memory(RAX, None, *place);
                if dtype.size() == 8 { asm.load(RAX, place) } else { asm.load_half(RAX, place) }
            }
            // Above 0 where it holds.
            Number::IsFar => {
                self.iterations(asm);
                asm.subtract_const(RAX, (FAR - 1) as i32);
            }
            Number::Last(..) | Number::Size(_) => return None,
        }
        Some(())
    }

    /// How many iterations the kernel has; at least so many as matter, if that is known.
    fn iterations(&self, asm: &mut Assembler) {
        match self.extent {
            Size::Const(n) => asm.load_const(RAX, n.min(i32::MAX.into()) as i32),
            Size::Param(id) => asm.load(RAX, Place::Memory(SIZES, None, 8 * id.0 as i32)),
        }
    }

    /// Jumps where results had better not be stored past caches.
    fn unless_past(&self, asm: &mut Assembler, stored: &[Stored]) -> Vec<Jump> {
        self.iterations(asm);
        asm.compare_const(RAX, MANY as i32);
        let mut jumps = vec![asm.jump(Some(When::Less))];
        for to in stored {
            asm.multiply_const(RAX, START, to.size as i32);
            asm.add_place(RAX, pointer(to.stream));
            asm.test_const(RAX, self.leaf.level.bytes() as i32 - 1);
            jumps.push(asm.jump(Some(When::NotZero)));
            asm.load(RAX, pointer(to.stream));
            for other in (0..self.body.streams.len()).filter(|other| *other != to.stream) {
                asm.compare(RAX, pointer(other));
                jumps.push(asm.jump(Some(When::Zero)));
            }
        }
        jumps
    }
}

/// Calls a function: the block is on the stack.
fn call(asm: &mut Assembler) -> usize {
    asm.load(RDI, Place::Register(RSP));
    asm.load(RSI, Place::Register(START));
    asm.load(RDX, Place::Register(END));
    asm.call()
}

/// The address of a buffer.
fn buffer(id: BufferId) -> Place {
    Place::Memory(BUFFERS, None, 8 * id.0 as i32)
}

/// A pointer in the block.
fn pointer(stream: usize) -> Place {
    Place::Memory(RSP, None, 8 * stream as i32)
}
