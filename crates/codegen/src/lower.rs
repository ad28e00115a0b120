//! Regions and statements to Cranelift's intermediate code.
//!
//! A value of the kernel is bound to what it is at this place of the function: a scalar, or, inside a vector
//! loop, lanes. Control flow is the same in every lane, so the walk is the same in both cases.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Function, InstBuilder as _, Signature, StackSlot, Type, UserFuncName, Value as Clif, types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use smallvec::SmallVec;
use tracewell_array::DType;
use tracewell_kernel::steps::Fault;
use tracewell_kernel::{BothSides, BufferId, Carry, Kernel, Op, Region, Size, Stmt, Value, Window};

use crate::abi::{POINTER, STOP_AT, STOPPED, entry_signature, handler_signature};
use crate::emit::{Emit, memory, scalar_type};
use crate::error::CodegenError;
use crate::hoist::{Iterations, invariant};
use crate::lanes::Lanes;
use crate::target::{Loops, Target};
use crate::vector::{Bound, operand_dtype};
use crate::wide::LeafCode;

/// Compile time grows faster than linearly beyond this.
const LIMIT: usize = 200_000;

/// A kernel on its way to a function.
pub(crate) struct Lower<'k, 'f> {
    pub(crate) kernel: &'k Kernel,
    pub(crate) emit: Emit<'f>,
    /// What each value is here, and how many loops are around its definition.
    bound: Vec<Option<(Bound, u32)>>,
    /// Which values differ between the lanes of the vector loop we are in.
    pub(crate) laned: Vec<bool>,
    /// Whether we are inside a vector loop.
    pub(crate) lanes_around: bool,
    /// The lanes that are meant, where that is not all of them.
    pub(crate) mask: Option<Clif>,
    params: Vec<Clif>,
    locals: Vec<StackSlot>,
    context: Clif,
    /// Functions of wide code that this one calls.
    pub(crate) leaves: Vec<LeafCode>,
    depth: u32,
    calls: i64,
    pub(crate) loops: Loops,
    pub(crate) broken: Option<Fault>,
    /// Whether we are in the rest of a loop, after its vectors.
    pub(crate) in_tail: bool,
}

/// The result of lowering a part: only the limit can stop it.
pub(crate) type Lowered<T = ()> = Result<T, CodegenError>;

/// The function of a kernel, and the functions of wide code that it calls by their numbers.
pub(crate) fn lower(kernel: &Kernel, target: &Target) -> Lowered<(Function, Vec<LeafCode>)> {
    let convention = target.isa().default_call_conv();
    let mut function = Function::with_name_signature(UserFuncName::default(), entry_signature(convention));
    let mut scratch = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut function, &mut scratch);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let arguments: Vec<Clif> = builder.block_params(entry).to_vec();
    let [buffers, sizes, start, end, context] = arguments[..] else {
        unreachable!("the signature of an entry")
    };

    let mut emit = Emit::new(builder, target.features(), convention);
    // The tables of a launch do not change while it runs.
    let table = memory().with_readonly().with_can_move();
    let word = |k: usize| i32::try_from(8 * k).expect("a table of less than 2 GiB");
    let params =
        (0..kernel.params.len()).map(|k| emit.ins().load(POINTER, table, buffers, word(k))).collect();
    emit.sizes = (0..kernel.sizes).map(|k| emit.ins().load(types::I64, table, sizes, word(k))).collect();
    let locals = kernel.locals.iter().map(|local| emit.stack(local.dtype.size() * local.len)).collect();
    let count = kernel.values.len();
    let mut lower = Lower {
        kernel,
        emit,
        bound: vec![None; count],
        laned: vec![false; count],
        lanes_around: false,
        mask: None,
        params,
        locals,
        context,
        leaves: Vec::new(),
        depth: 0,
        calls: 0,
        loops: target.loops(),
        broken: target.broken(),
        in_tail: false,
    };
    match kernel.body.stmts.as_slice() {
        [Stmt::Each { var, body, .. }] => lower.each(*var, start, end, None, body)?,
        _ => lower.region(&kernel.body)?,
    }
    let ok = lower.emit.int(types::I64, 0);
    lower.emit.ins().return_(&[ok]);
    let leaves = lower.leaves;
    let mut builder = lower.emit.builder;
    builder.seal_all_blocks();
    builder.finalize(target.isa().frontend_config());
    Ok((function, leaves))
}

impl Lower<'_, '_> {
    pub(crate) fn bound(&self, value: Value) -> Bound {
        self.bound[value.0 as usize].expect("values are defined before they are used").0
    }

    /// How many loops are around the definition of a value.
    pub(crate) fn depth_of(&self, value: Value) -> u32 {
        self.bound[value.0 as usize].map_or(0, |(_, depth)| depth)
    }

    pub(crate) fn bind(&mut self, value: Value, bound: Bound) {
        self.bound[value.0 as usize] = Some((bound, self.depth));
    }

    /// A value that is the same in every lane.
    fn one(&self, value: Value) -> Clif {
        match self.bound(value) {
            Bound::One(value) => value,
            Bound::Ramp(..) | Bound::Lanes(_) => unreachable!("control flow is the same in every lane"),
        }
    }

    pub(crate) fn buffer_address(&mut self, buffer: BufferId) -> Clif {
        let k = buffer.0 as usize;
        match self.params.get(k) {
            Some(&address) => address,
            None => self.emit.stack_address(self.locals[k - self.params.len()], 0),
        }
    }

    pub(crate) fn region(&mut self, region: &Region) -> Lowered {
        self.stmts(&region.stmts.iter().collect::<Vec<_>>())
    }

    /// The statements of a loop's body that were not hoisted.
    pub(crate) fn rest(&mut self, region: &Region, hoisted: &[bool]) -> Lowered {
        let stmts = region.stmts.iter().zip(hoisted).filter(|(_, hoisted)| !**hoisted);
        self.stmts(&stmts.map(|(stmt, _)| stmt).collect::<Vec<_>>())
    }

    fn stmts(&mut self, stmts: &[&Stmt]) -> Lowered {
        let mut left = stmts;
        while let [stmt, rest @ ..] = left {
            let both = if self.lanes_around { None } else { BothSides::of(left) };
            left = match both {
                Some(both) => {
                    self.both_sides(&both)?;
                    &left[BothSides::STATEMENTS..]
                }
                None => {
                    self.stmt(stmt)?;
                    rest
                }
            };
        }
        Ok(())
    }

    /// Does before a loop what can be done there, and says what that was.
    pub(crate) fn hoist(
        &mut self,
        body: &Region,
        varying: &[Value],
        iterations: Iterations,
    ) -> Lowered<Vec<bool>> {
        let hoisted = invariant(self.kernel, body, varying, iterations);
        let mut stmts = body.stmts.iter().zip(&hoisted);
        stmts.try_for_each(|(stmt, hoisted)| if *hoisted { self.stmt(stmt) } else { Ok(()) })?;
        Ok(hoisted)
    }

    pub(crate) fn stmt(&mut self, stmt: &Stmt) -> Lowered {
        if self.emit.builder.func.dfg.num_insts() > LIMIT {
            return Err(CodegenError::TooLarge { kernel: self.kernel.name.clone(), limit: LIMIT });
        }
        match stmt {
            Stmt::Op { out, op, args } => {
                let dtypes: SmallVec<[DType; 3]> = args.iter().map(|&arg| self.kernel.dtype(arg)).collect();
                let bounds: SmallVec<[Bound; 3]> = args.iter().map(|&arg| self.bound(arg)).collect();
                let mut scalars: Option<SmallVec<[Clif; 3]>> = bounds
                    .iter()
                    .map(|bound| if let Bound::One(value) = bound { Some(*value) } else { None })
                    .collect();
                if self.broken == Some(Fault::Tail) && self.in_tail && *op == Op::Sub {
                    scalars.as_mut().into_iter().for_each(|args| args.reverse());
                }
                if self.broken == Some(Fault::CodegenPanics) && *op == Op::Sub {
                    panic!("a difference, broken on purpose");
                }
                let result = match scalars {
                    Some(args) => Bound::One(self.emit.scalar(*op, operand_dtype(*op, &dtypes), &args)),
                    None => self.emit.vector(*op, &dtypes, &bounds),
                };
                self.bind(*out, result);
            }
            Stmt::Load { out, buffer, index } => {
                let value = self.load(*buffer, index);
                self.bind(*out, value);
            }
            Stmt::Store { buffer, index, value } => {
                let value = self.bound(*value);
                self.store(*buffer, index, value);
            }
            Stmt::Each { var, extent, body } => {
                let start = self.emit.int(types::I64, 0);
                let end = self.emit.size(*extent);
                self.each(*var, start, end, Some(*extent), body)?;
            }
            Stmt::For { var, extent, carries, body } => self.for_loop(*var, *extent, carries, body)?,
            Stmt::Reduce { var, extent, accumulators, body } => {
                self.reduce(*var, *extent, accumulators, body)?
            }
            Stmt::While { carries, cond, body } => self.while_loop(carries, cond, body)?,
            Stmt::If { cond, outs, then, otherwise } => self.if_else(*cond, outs, then, otherwise)?,
            Stmt::Call { windows, .. } => self.call(windows),
            Stmt::Poll => self.poll(),
        }
        Ok(())
    }

    /// A loop over `start`, `start + step`, … below `end`. `before` runs once, if there is an iteration, and
    /// hands to each iteration what it returns; `body` returns the carried values of the next one.
    pub(crate) fn counted<T>(
        &mut self,
        [start, end]: [Clif; 2],
        step: i64,
        init: &[Clif],
        before: impl FnOnce(&mut Self) -> Lowered<T>,
        body: impl FnOnce(&mut Self, Clif, &[Clif], T) -> Lowered<Vec<Clif>>,
    ) -> Lowered<Vec<Clif>> {
        let carried: Vec<Type> = init.iter().map(|&value| self.emit.type_of(value)).collect();
        let mut params = vec![types::I64];
        params.extend(&carried);
        let enter = self.emit.block(&[]);
        let repeat = self.emit.block(&params);
        let exit = self.emit.block(&carried);

        let any = self.emit.ins().icmp(IntCC::SignedLessThan, start, end);
        self.emit.branch(any, (enter, &[]), (exit, init));
        self.emit.switch_to(enter);
        let prepared = before(self)?;
        let mut args = vec![start];
        args.extend(init);
        let params = self.emit.enter(repeat, &args);
        let yields = self.in_loop(|lower| body(lower, params[0], &params[1..], prepared))?;
        let next = self.emit.add_const(params[0], step);
        let more = self.emit.ins().icmp(IntCC::SignedLessThan, next, end);
        let mut args = vec![next];
        args.extend(&yields);
        self.emit.branch(more, (repeat, &args), (exit, &yields));
        Ok(self.emit.switch_to(exit))
    }

    fn for_loop(&mut self, var: Value, extent: Size, carries: &[Carry], body: &Region) -> Lowered {
        let bounds = [self.emit.int(types::I64, 0), self.emit.size(extent)];
        let init = self.pack(carries.iter().map(|c| (c.init, c.out)));
        let mut varying: Vec<Value> = carries.iter().map(|c| c.inside).collect();
        varying.push(var);
        let outs = self.counted(
            bounds,
            1,
            &init,
            |lower| lower.hoist(body, &varying, Iterations::InOrder),
            |lower, i, carried, hoisted| {
                lower.bind(var, Bound::One(i));
                lower.unpack(carries.iter().map(|c| c.inside), carried);
                lower.rest(body, &hoisted)?;
                Ok(lower.pack(body.yields.iter().copied().zip(carries.iter().map(|c| c.out))))
            },
        )?;
        self.unpack(carries.iter().map(|c| c.out), &outs);
        Ok(())
    }

    /// Lowers something inside a loop.
    pub(crate) fn in_loop<T>(&mut self, inside: impl FnOnce(&mut Self) -> Lowered<T>) -> Lowered<T> {
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    fn while_loop(&mut self, carries: &[Carry], cond: &Region, body: &Region) -> Lowered {
        if self.laned[cond.yields[0].0 as usize] {
            return self.while_masked(carries, cond, body);
        }
        let init = self.pack(carries.iter().map(|c| (c.init, c.out)));
        let types: Vec<Type> = init.iter().map(|&value| self.emit.type_of(value)).collect();
        let repeat = self.emit.block(&types);
        let again = self.emit.block(&[]);
        let exit = self.emit.block(&[]);
        let carried = self.emit.enter(repeat, &init);
        self.in_loop(|lower| {
            lower.unpack(carries.iter().map(|c| c.inside), &carried);
            lower.region(cond)?;
            let holds = lower.one(cond.yields[0]);
            lower.emit.branch(holds, (again, &[]), (exit, &[]));
            lower.emit.switch_to(again);
            lower.region(body)?;
            let next = lower.pack(body.yields.iter().copied().zip(carries.iter().map(|c| c.out)));
            lower.emit.jump(repeat, &next);
            Ok(())
        })?;
        self.emit.switch_to(exit);
        self.unpack(carries.iter().map(|c| c.out), &carried);
        Ok(())
    }

    fn if_else(&mut self, cond: Value, outs: &[Value], then: &Region, otherwise: &Region) -> Lowered {
        let Bound::One(cond) = self.bound(cond) else { return self.if_masked(cond, outs, then, otherwise) };
        let (yes, no) = (self.emit.block(&[]), self.emit.block(&[]));
        let types: Vec<Type> = outs.iter().flat_map(|&out| self.packed_types(out)).collect();
        let join = self.emit.block(&types);
        self.emit.branch(cond, (yes, &[]), (no, &[]));
        for (block, region) in [(yes, then), (no, otherwise)] {
            self.emit.switch_to(block);
            self.region(region)?;
            let yields = self.pack(region.yields.iter().copied().zip(outs.iter().copied()));
            self.emit.jump(join, &yields);
        }
        let joined = self.emit.switch_to(join);
        self.unpack(outs.iter().copied(), &joined);
        Ok(())
    }

    pub(crate) fn call(&mut self, windows: &[Window]) {
        let (number, table) = (self.next_call(), self.table(windows));
        let signature = handler_signature(self.emit.convention);
        self.call_handler(0, signature, &[number, table]);
    }

    /// The number of the next call.
    pub(crate) fn next_call(&mut self) -> Clif {
        self.calls += 1;
        self.emit.int(types::I64, self.calls - 1)
    }

    /// The addresses of windows, in memory.
    pub(crate) fn table(&mut self, windows: &[Window]) -> Clif {
        let table = self.emit.stack(8 * windows.len().max(1));
        let table = self.emit.stack_address(table, 0);
        for (k, window) in windows.iter().enumerate() {
            let address = self.element_address(window.buffer, &window.start);
            self.emit.ins().store(memory(), address, table, 8 * k as i32);
        }
        table
    }

    /// Calls what is `at` a place of the context with that and these arguments, and leaves the kernel if it fails.
    pub(crate) fn call_handler(&mut self, at: i32, signature: Signature, arguments: &[Clif]) {
        let handler = self.emit.ins().load(POINTER, memory(), self.context, at);
        let signature = self.emit.builder.import_signature(signature);
        let arguments = [&[self.context], arguments].concat();
        let call = self.emit.ins().call_indirect(signature, handler, &arguments);
        let status = self.emit.builder.inst_results(call)[0];
        let (failed, go_on) = (self.emit.block(&[]), self.emit.block(&[]));
        self.emit.builder.set_cold_block(failed);
        self.emit.branch(status, (failed, &[]), (go_on, &[]));
        self.emit.switch_to(failed);
        self.emit.ins().return_(&[status]);
        self.emit.switch_to(go_on);
    }

    /// Leaves the kernel if the flag of the context is set.
    fn poll(&mut self) {
        let flag = self.emit.ins().load(POINTER, memory().with_readonly(), self.context, STOP_AT);
        // Not read-only: somebody else sets it while the kernel runs.
        let stop = self.emit.ins().load(types::I8, memory(), flag, 0);
        let (leave, go_on) = (self.emit.block(&[]), self.emit.block(&[]));
        self.emit.builder.set_cold_block(leave);
        self.emit.branch(stop, (leave, &[]), (go_on, &[]));
        self.emit.switch_to(leave);
        let status = self.emit.int(types::I64, STOPPED);
        self.emit.ins().return_(&[status]);
        self.emit.switch_to(go_on);
    }

    /// The types that a value has between blocks.
    fn packed_types(&self, value: Value) -> Vec<Type> {
        let dtype = self.kernel.dtype(value);
        if self.laned[value.0 as usize] { Emit::lane_types(dtype) } else { vec![scalar_type(dtype)] }
    }

    /// Values as arguments of a block, each in the form of the value it becomes there.
    pub(crate) fn pack(&mut self, values: impl Iterator<Item = (Value, Value)>) -> Vec<Clif> {
        let mut packed = Vec::new();
        for (from, to) in values {
            let dtype = self.kernel.dtype(to);
            if !self.laned[to.0 as usize] {
                packed.push(self.one(from));
                continue;
            }
            let bound = self.bound(from);
            let lanes = self.emit.lanes(dtype, bound);
            packed.extend_from_slice(self.emit.mask_for(dtype, lanes).parts());
        }
        packed
    }

    /// Binds values to the parameters of a block.
    pub(crate) fn unpack(&mut self, values: impl Iterator<Item = Value>, mut packed: &[Clif]) {
        for value in values {
            let (first, rest) = packed.split_at(self.packed_types(value).len());
            packed = rest;
            let laned = self.laned[value.0 as usize];
            self.bind(
                value,
                if laned { Bound::Lanes(Lanes::from_parts(first)) } else { Bound::One(first[0]) },
            );
        }
    }
}
