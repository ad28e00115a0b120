//! The function under construction, as the operations see it: instructions, sizes and helpers.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, ExtFuncData, ExternalName, FuncRef, InstBuilder as _, InstructionData,
    MemFlagsData, Opcode, Signature, StackSlot, StackSlotData, StackSlotKind, Type, UserExternalName, Value,
    types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FuncInstBuilder, FunctionBuilder};
use tracewell_array::{DType, Literal};
use tracewell_kernel::Size;

use crate::abi::{POINTER, Symbol};
use crate::target::Features;

/// The function under construction.
pub(crate) struct Emit<'f> {
    pub(crate) builder: FunctionBuilder<'f>,
    pub(crate) features: Features,
    pub(crate) convention: CallConv,
    /// The value of every run-time size.
    pub(crate) sizes: Vec<Value>,
    helpers: Vec<(Symbol, FuncRef)>,
}

/// How a value of a dtype is held outside vectors. A bool is 0 or 1 in a byte, as in memory.
pub(crate) fn scalar_type(dtype: DType) -> Type {
    match dtype {
        DType::Bool | DType::U8 => types::I8,
        DType::U32 | DType::I32 => types::I32,
        DType::I64 => types::I64,
        DType::F32 => types::F32,
        DType::F64 => types::F64,
        DType::C64 | DType::C128 => unreachable!("the verifier refuses complex numbers"),
    }
}

/// Accesses are inside their buffers, so none of them traps. Nothing is promised about aliasing: a launch may
/// bind one slot to a parameter that is read and to one that is written.
pub(crate) fn memory() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

impl<'f> Emit<'f> {
    pub(crate) fn new(builder: FunctionBuilder<'f>, features: Features, convention: CallConv) -> Emit<'f> {
        Emit { builder, features, convention, sizes: Vec::new(), helpers: Vec::new() }
    }

    pub(crate) fn ins(&mut self) -> FuncInstBuilder<'_, 'f> {
        self.builder.ins()
    }

    pub(crate) fn type_of(&self, value: Value) -> Type {
        self.builder.func.dfg.value_type(value)
    }

    /// An integer constant, truncated to the width of `ty`.
    pub(crate) fn int(&mut self, ty: Type, value: i64) -> Value {
        let unused = 64 - ty.bits();
        let bits = (value as u64) << unused >> unused;
        self.ins().iconst(ty, bits as i64)
    }

    /// A literal as a scalar.
    pub(crate) fn literal(&mut self, literal: Literal) -> Value {
        let bits = literal.bits() as u64;
        match literal.dtype() {
            DType::F32 => self.ins().f32const(f32::from_bits(bits as u32)),
            DType::F64 => self.ins().f64const(f64::from_bits(bits)),
            dtype => self.int(scalar_type(dtype), bits as i64),
        }
    }

    /// The bits of a value that is a constant.
    pub(crate) fn constant_bits(&self, value: Value) -> Option<u64> {
        let dfg = &self.builder.func.dfg;
        match dfg.insts[dfg.value_def(value).inst()?] {
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => Some(imm.bits() as u64),
            InstructionData::UnaryIeee32 { opcode: Opcode::F32const, imm } => Some(u64::from(imm.bits())),
            InstructionData::UnaryIeee64 { opcode: Opcode::F64const, imm } => Some(imm.bits()),
            _ => None,
        }
    }

    /// A size as an `i64`.
    pub(crate) fn size(&mut self, size: Size) -> Value {
        match size {
            Size::Const(n) => self.int(types::I64, n),
            Size::Param(id) => self.sizes[id.0 as usize],
        }
    }

    pub(crate) fn icmp_const(&mut self, code: IntCC, a: Value, b: i64) -> Value {
        let ty = self.type_of(a);
        let b = self.int(ty, b);
        self.ins().icmp(code, a, b)
    }

    /// `value + constant`, nothing where the constant is 0.
    pub(crate) fn add_const(&mut self, value: Value, constant: i64) -> Value {
        if constant == 0 {
            return value;
        }
        let ty = self.type_of(value);
        let constant = self.int(ty, constant);
        self.ins().iadd(value, constant)
    }

    /// `value × constant`, as a shift where it can be one.
    pub(crate) fn mul_const(&mut self, value: Value, constant: i64) -> Value {
        let ty = self.type_of(value);
        if constant == 1 {
            return value;
        }
        if constant > 0 && (constant as u64).is_power_of_two() {
            let shift = self.int(types::I32, i64::from(constant.trailing_zeros()));
            return self.ins().ishl(value, shift);
        }
        let constant = self.int(ty, constant);
        self.ins().imul(value, constant)
    }

    pub(crate) fn is_nan(&mut self, value: Value) -> Value {
        self.ins().fcmp(FloatCC::Unordered, value, value)
    }

    /// Reserves stack memory, aligned for vectors.
    pub(crate) fn stack(&mut self, bytes: usize) -> StackSlot {
        let bytes = u32::try_from(bytes).expect("the verifier limits stack buffers");
        self.builder.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4))
    }

    pub(crate) fn stack_address(&mut self, slot: StackSlot, offset: i32) -> Value {
        self.ins().stack_addr(POINTER, slot, offset)
    }

    /// Calls a helper whose parameters and result all have the type of its first argument.
    pub(crate) fn call_helper(&mut self, symbol: Symbol, args: &[Value]) -> Value {
        let function = match self.helpers.iter().find(|(known, _)| *known == symbol) {
            Some(&(_, function)) => function,
            None => {
                let ty = self.type_of(args[0]);
                let mut signature = Signature::new(self.convention);
                signature.params.extend(args.iter().map(|_| AbiParam::new(ty)));
                signature.returns.push(AbiParam::new(ty));
                let signature = self.builder.import_signature(signature);
                let name = UserExternalName { namespace: 0, index: symbol.index() };
                let name = self.builder.func.declare_imported_user_function(name);
                let function = self.builder.import_function(ExtFuncData {
                    name: ExternalName::user(name),
                    signature,
                    // Helpers may be anywhere in the address space.
                    colocated: false,
                    patchable: false,
                });
                self.helpers.push((symbol, function));
                function
            }
        };
        let call = self.ins().call(function, args);
        self.builder.inst_results(call)[0]
    }

    /// A block with parameters of these types.
    pub(crate) fn block(&mut self, params: &[Type]) -> Block {
        let block = self.builder.create_block();
        for &ty in params {
            self.builder.append_block_param(block, ty);
        }
        block
    }

    /// Jumps to `block`, then continues there; returns its parameters.
    pub(crate) fn enter(&mut self, block: Block, args: &[Value]) -> Vec<Value> {
        self.jump(block, args);
        self.switch_to(block)
    }

    /// Continues in `block`; returns its parameters.
    pub(crate) fn switch_to(&mut self, block: Block) -> Vec<Value> {
        self.builder.switch_to_block(block);
        self.builder.block_params(block).to_vec()
    }

    pub(crate) fn jump(&mut self, block: Block, args: &[Value]) {
        let args: Vec<BlockArg> = args.iter().map(|&value| value.into()).collect();
        self.ins().jump(block, &args);
    }

    pub(crate) fn branch(&mut self, condition: Value, then: (Block, &[Value]), otherwise: (Block, &[Value])) {
        let then_args: Vec<BlockArg> = then.1.iter().map(|&value| value.into()).collect();
        let else_args: Vec<BlockArg> = otherwise.1.iter().map(|&value| value.into()).collect();
        self.ins().brif(condition, then.0, &then_args, otherwise.0, &else_args);
    }
}
