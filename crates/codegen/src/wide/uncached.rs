//! Results that no cache holds are stored past them.
//!
//! A store to memory that is in no cache first reads what it overwrites, which is a third of the traffic of a kernel
//! with one operand. There are stores that do not; but what they have stored is in no cache for the next kernel either,
//! so they are for what is larger than caches anyway. They want whole vectors at addresses of whole vectors, and must
//! not go where the same kernel has just read.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder as _, Value as Clif, types};
use tracewell_kernel::{Region, Size, Stmt};

use super::Level;
use super::leaf::{Leaf, LeafCode};
use crate::lower::Lower;

/// Elements of a result from which on it is stored past caches: twice what those of a core hold, and more.
pub(crate) const MANY: i64 = 4 << 20;
/// Most instructions of a loop that is written a second time for this.
pub(crate) const LONGEST: usize = 200;
/// The opcode of such a store, where that of the common one was. All else about the two is the same.
pub(crate) const STORE_UNCACHED: u8 = 0x2b;

/// A pointer through which whole vectors are stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    pub(crate) stream: usize,
    /// The size of an element.
    pub(crate) size: i64,
}

impl LeafCode {
    /// The same function with stores past caches.
    pub(crate) fn uncached(&self) -> LeafCode {
        let mut code = self.clone();
        for &opcode in &self.stores {
            code.bytes[opcode] = STORE_UNCACHED;
        }
        code
    }
}

impl Lower<'_, '_> {
    /// How many iterations the kernel has, if it is one loop and this is its.
    pub(crate) fn iterations_of(&self, body: &Region) -> Option<Size> {
        match self.kernel.body.stmts.as_slice() {
            [Stmt::Each { extent, body: all, .. }] if std::ptr::eq(all, body) => Some(*extent),
            _ => None,
        }
    }

    /// Calls the last function, or a copy of it that stores past caches where that is better.
    pub(crate) fn call_cached_or_not(
        &mut self,
        leaf: &Leaf,
        stored: &[Stored],
        iterations: Option<Size>,
        arguments: [Clif; 3],
        streams: &[Clif],
    ) {
        let cached = self.leaves.len() - 1;
        let known_few = matches!(iterations, Some(Size::Const(n)) if n < MANY);
        let (Some(iterations), false, Level::Avx512) = (iterations, known_few, leaf.level) else {
            self.call_leaf(cached, arguments);
            return;
        };
        if stored.is_empty() || self.leaves[cached].stores.is_empty() {
            self.call_leaf(cached, arguments);
            return;
        }
        let code = self.leaves[cached].uncached();
        self.leaves.push(code);
        let iterations = self.emit.size(iterations);
        let mut is_better = self.emit.icmp_const(IntCC::SignedGreaterThanOrEqual, iterations, MANY);
        for to in stored {
            let size = self.emit.int(types::I64, to.size);
            let before = self.emit.ins().imul(arguments[1], size);
            let first = self.emit.ins().iadd(streams[to.stream], before);
            let beside = self.emit.ins().band_imm_u(first, leaf.level.bytes() as i64 - 1);
            let is_whole = self.emit.icmp_const(IntCC::Equal, beside, 0);
            is_better = self.emit.ins().band(is_better, is_whole);
            for (_, &address) in streams.iter().enumerate().filter(|(other, _)| *other != to.stream) {
                let is_apart = self.emit.ins().icmp(IntCC::NotEqual, streams[to.stream], address);
                is_better = self.emit.ins().band(is_better, is_apart);
            }
        }
        let [past, common, after] = std::array::from_fn(|_| self.emit.block(&[]));
        self.emit.branch(is_better, (past, &[]), (common, &[]));
        self.emit.switch_to(past);
        self.call_leaf(cached + 1, arguments);
        // Whoever is told that this is done must see what was stored.
        self.emit.ins().fence();
        self.emit.jump(after, &[]);
        self.emit.switch_to(common);
        self.call_leaf(cached, arguments);
        self.emit.enter(after, &[]);
    }
}
