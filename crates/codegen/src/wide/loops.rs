//! Which loops become wide code, and how Cranelift's code calls it.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, ExtFuncData, ExternalName, FuncRef, InstBuilder as _, Signature, UserExternalName,
    Value as Clif, types,
};
use cranelift_codegen::isa::CallConv;
use tracewell_array::DType;
use tracewell_kernel::steps::Fault;
use tracewell_kernel::{Combine, Kernel, Region, Size, Value};

use super::Level;
use super::ahead::{FAR, walk};
use super::body::{Body, Number};
use super::leaf::Leaf;
use super::map::Maps;
use super::sum::Summed;
use crate::abi::{POINTER, WIDE_FUNCTIONS};
use crate::emit::memory;
use crate::hoist::is_straight;
use crate::lower::{Lower, Lowered};
use crate::plan::laned;
use crate::vector::Bound;

/// Most instructions of a function; a body that needs more is left to others.
pub(crate) const LIMIT: usize = 4000;

/// What a reduction makes.
pub(crate) struct Sums<'a> {
    pub(crate) accumulators: &'a [(Combine, DType)],
    /// How many lanes each has.
    pub(crate) lanes: usize,
    /// The address of their memory.
    pub(crate) results: Option<Clif>,
}

/// Whether a loop whose body is straight may become wide code: what is known of it from its accesses.
pub(crate) fn takes(kernel: &Kernel, level: Level, var: Value, region: &Region, hoisted: &[bool]) -> bool {
    Body::new(kernel, level, var, region, hoisted, &laned(kernel, var, region)).is_some()
}

impl Lower<'_, '_> {
    /// The iterations of an `each` as wide code; returns where it stops, `None` if it is left to others.
    pub(crate) fn wide_each(
        &mut self,
        var: Value,
        [start, end]: [Clif; 2],
        extent: Option<Size>,
        region: &Region,
        hoisted: &[bool],
    ) -> Lowered<Option<Clif>> {
        let Some(level) = self.wide_level(extent, region) else { return Ok(None) };
        let before = self.leaves.len();
        let Some(block) = self.wide_block(level, var, extent, region, hoisted, true)? else {
            return Ok(None);
        };
        let stop = match level {
            Level::Avx512 => end,
            Level::Avx2 => self.whole_steps(start, end, level.lanes() as i64),
        };
        if self.leaves.len() > before + 1 {
            self.call_short_or_long(block, [start, stop], level.lanes() as i64);
        } else {
            self.call_leaf(before, [block, start, stop]);
        }
        Ok(Some(stop))
    }

    /// The function that does all iterations of an `each`, with its block; `None` if there is none.
    pub(crate) fn wide_function(
        &mut self,
        var: Value,
        extent: Size,
        region: &Region,
        hoisted: &[bool],
    ) -> Lowered<Option<[Clif; 2]>> {
        let level = self.wide_level(Some(extent), region).filter(|level| *level == Level::Avx512);
        let Some(level) = level else { return Ok(None) };
        let block = self.wide_block(level, var, Some(extent), region, hoisted, false)?;
        Ok(block.map(|block| {
            let function = self.leaf(self.leaves.len() - 1);
            [self.emit.ins().func_addr(POINTER, function), block]
        }))
    }

    /// Makes the function of an `each` and fills its block. If it may be `short`, another one may follow, for turns in
    /// which nothing happens that hardly ever does.
    fn wide_block(
        &mut self,
        level: Level,
        var: Value,
        extent: Option<Size>,
        region: &Region,
        hoisted: &[bool],
        short: bool,
    ) -> Lowered<Option<Clif>> {
        let laned = laned(self.kernel, var, region);
        let Some(mut body) = Body::new(self.kernel, level, var, region, hoisted, &laned) else {
            return Ok(None);
        };
        let literal = |value: Value| self.literal_of(value);
        let broken = self.broken == Some(Fault::Wide);
        let maps = Maps { kernel: self.kernel, level, extent, broken, literal: &literal };
        let Some(leaf) = maps.leaf(&mut body, &[]) else { return Ok(None) };
        let Some(code) = leaf.function() else { return Ok(None) };
        let short = if short && body.assume() { maps.leaf(&mut body, &[]) } else { None };
        self.leaves.push(code);
        self.leaves.extend(short.and_then(|leaf| leaf.function()));
        self.fill_block(&body, &leaf, None).map(Some)
    }

    /// A reduction as wide code, up to its lanes; returns where it stops, `None` if it is left to others.
    pub(crate) fn wide_reduce(
        &mut self,
        var: Value,
        [start, end]: [Clif; 2],
        extent: Size,
        sums: &Sums<'_>,
        region: &Region,
        hoisted: &[bool],
    ) -> Lowered<Option<Clif>> {
        let Some(level) = self.wide_level(Some(extent), region) else { return Ok(None) };
        let laned = laned(self.kernel, var, region);
        let Some(mut body) = Body::new(self.kernel, level, var, region, hoisted, &laned) else {
            return Ok(None);
        };
        let literal = |value: Value| self.literal_of(value);
        let broken = self.broken == Some(Fault::Wide);
        let &Sums { accumulators, lanes, .. } = sums;
        let summed =
            Summed { kernel: self.kernel, level, broken, literal: &literal, accumulators, lanes, extent };
        let Some(leaf) = summed.leaf(&mut body) else { return Ok(None) };
        let Some(code) = leaf.function() else { return Ok(None) };
        let stop = match level {
            Level::Avx512 => end,
            Level::Avx2 => self.whole_steps(start, end, sums.lanes as i64),
        };
        self.leaves.push(code);
        let block = self.fill_block(&body, &leaf, sums.results)?;
        self.call_leaf(self.leaves.len() - 1, [block, start, stop]);
        Ok(Some(stop))
    }

    /// The level at which a loop is worth a function of its own.
    fn wide_level(&self, extent: Option<Size>, region: &Region) -> Option<Level> {
        let level = self.emit.features.wide?;
        let long = !matches!(extent, Some(Size::Const(n)) if n < level.lanes() as i64);
        (long && !self.lanes_around && is_straight(region)).then_some(level)
    }

    /// The bits of a value that is a constant here.
    fn literal_of(&self, value: Value) -> Option<u64> {
        match self.bound(value) {
            Bound::One(value) => self.emit.constant_bits(value),
            _ => None,
        }
    }

    /// The block of a function, filled.
    fn fill_block(&mut self, body: &Body<'_>, leaf: &Leaf, results: Option<Clif>) -> Lowered<Clif> {
        let size = leaf.slot(body.numbers.len() as u32).max(8);
        let block = self.emit.stack(size as usize);
        let block = self.emit.stack_address(block, 0);
        for (k, number) in body.numbers.iter().enumerate() {
            let (dtype, value) = match *number {
                Number::Value(value) => {
                    let Bound::One(clif) = self.bound(value) else {
                        unreachable!("a value that is the same in every lane")
                    };
                    (self.kernel.dtype(value), clif)
                }
                Number::Last(dtype, size) => (dtype, self.emit.last_of(dtype, size)),
                Number::Size(size) => (DType::I64, self.emit.size(size)),
                Number::IsFar => {
                    let mut elements = self.emit.int(types::I64, 1);
                    for size in walk(self.kernel, body) {
                        let size = self.emit.size(size);
                        elements = self.emit.ins().imul(elements, size);
                    }
                    let is_far = self.emit.icmp_const(IntCC::SignedGreaterThanOrEqual, elements, FAR);
                    (DType::I64, self.emit.ins().uextend(types::I64, is_far))
                }
            };
            let address = self.emit.add_const(block, i64::from(leaf.slot(k as u32)));
            self.emit.store_lane(dtype, value, address);
        }
        // Pointers are those of iteration 0, and so is whatever depends on its number.
        let zero = self.emit.int(types::I64, 0);
        self.bind(body.var(), Bound::One(zero));
        for stmt in body.ramp_stmts() {
            self.stmt(stmt)?;
        }
        for (k, stream) in body.streams.iter().enumerate() {
            let address = self.element_address(stream.buffer, &stream.index);
            self.emit.ins().store(memory(), address, block, 8 * k as i32);
        }
        if let Some(results) = results {
            self.emit.ins().store(memory(), results, block, leaf.results_at());
        }
        Ok(block)
    }

    /// Calls the last function, which leaves before a turn that it was not made for; such a turn is for the one before
    /// it.
    fn call_short_or_long(&mut self, block: Clif, [start, end]: [Clif; 2], lanes: i64) {
        let short = self.leaves.len() - 1;
        let again = self.emit.block(&[types::I64]);
        let [long, after] = std::array::from_fn(|_| self.emit.block(&[]));
        let from = self.emit.enter(again, &[start])[0];
        let at = self.call_leaf(short, [block, from, end]);
        let is_done = self.emit.ins().icmp(IntCC::SignedGreaterThanOrEqual, at, end);
        self.emit.branch(is_done, (after, &[]), (long, &[]));
        self.emit.switch_to(long);
        let next = self.emit.add_const(at, lanes);
        let until = self.emit.ins().smin(next, end);
        self.call_leaf(short - 1, [block, at, until]);
        self.emit.jump(again, &[next]);
        self.emit.switch_to(after);
    }

    /// Calls a function by its number with a block, where its loop starts and where it ends; returns where it stopped.
    pub(crate) fn call_leaf(&mut self, number: usize, arguments: [Clif; 3]) -> Clif {
        let function = self.leaf(number);
        let call = self.emit.ins().call(function, &arguments);
        self.emit.builder.inst_results(call)[0]
    }

    /// A function by its number.
    fn leaf(&mut self, number: usize) -> FuncRef {
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params = [POINTER, types::I64, types::I64].map(AbiParam::new).to_vec();
        signature.returns = vec![AbiParam::new(types::I64)];
        let signature = self.emit.builder.import_signature(signature);
        let name = UserExternalName { namespace: WIDE_FUNCTIONS, index: number as u32 };
        let name = self.emit.builder.func.declare_imported_user_function(name);
        self.emit.builder.import_function(ExtFuncData {
            name: ExternalName::user(name),
            signature,
            // Behind this function, in the same bytes.
            colocated: true,
            patchable: false,
        })
    }
}
