//! Building kernels: values get numbers and types as they are made, regions close where their closure ends.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tracewell_array::{DType, Element, Literal};

use crate::ir::{
    Accumulator, BufferId, Carry, Index, Kernel, Local, Param, Region, Size, SizeId, Stmt, Value, Window,
};
use crate::op::{Combine, Comparison, Op};

/// A kernel under construction.
///
/// Expansions (`math`, a primitive's lowering) receive it as `b` and write `b.op(Op::Add, &[x, y])`. An
/// operation on types it is not defined on is a bug of the caller and panics with the operation and types.
#[derive(Debug, Default)]
pub struct KernelBuilder {
    params: Vec<Param>,
    locals: Vec<Local>,
    sizes: usize,
    values: Vec<DType>,
    open: Vec<Open>,
}

/// A region under construction.
#[derive(Debug, Default)]
struct Open {
    stmts: Vec<Stmt>,
    /// What was computed in it: the same again is the same value. Expansions share much, such as what sine and cosine
    /// of one number do first.
    known: FxHashMap<(Op, SmallVec<[Value; 3]>), Value>,
}

impl KernelBuilder {
    /// An empty kernel.
    pub fn new() -> KernelBuilder {
        KernelBuilder { open: vec![Open::default()], ..KernelBuilder::default() }
    }

    /// Adds a buffer parameter. All parameters come before the first stack buffer.
    pub fn param(&mut self, dtype: DType, written: bool) -> BufferId {
        assert!(self.locals.is_empty(), "buffer parameters come before stack buffers");
        self.params.push(Param { dtype, written, own: false });
        BufferId((self.params.len() - 1) as u32)
    }

    /// Adds a buffer parameter that the kernel writes and reads again.
    pub fn own_param(&mut self, dtype: DType) -> BufferId {
        let buffer = self.param(dtype, true);
        self.params[buffer.0 as usize].own = true;
        buffer
    }

    /// Adds a stack buffer.
    pub fn local(&mut self, dtype: DType, len: usize) -> BufferId {
        self.locals.push(Local { dtype, len });
        BufferId((self.params.len() + self.locals.len() - 1) as u32)
    }

    /// Adds a run-time size.
    pub fn size(&mut self) -> Size {
        self.sizes += 1;
        Size::Param(SizeId((self.sizes - 1) as u32))
    }

    /// The type of a value.
    pub fn dtype(&self, value: Value) -> DType {
        self.values[value.0 as usize]
    }

    /// A new value, defined by whatever statement the caller adds next.
    fn value(&mut self, dtype: DType) -> Value {
        self.values.push(dtype);
        Value((self.values.len() - 1) as u32)
    }

    fn region_here(&mut self) -> &mut Open {
        self.open.last_mut().expect("a region is open")
    }

    fn push(&mut self, stmt: Stmt) {
        self.region_here().stmts.push(stmt);
    }

    /// `op args`
    #[track_caller]
    pub fn op(&mut self, op: Op, args: &[Value]) -> Value {
        let key = (op, SmallVec::from_slice(args));
        if let Some(&known) = self.region_here().known.get(&key) {
            return known;
        }
        let types: SmallVec<[DType; 3]> = args.iter().map(|&a| self.dtype(a)).collect();
        let Some(dtype) = op.result(&types) else {
            panic!("kernel operation `{}` is not defined on {types:?}", op.name())
        };
        let out = self.value(dtype);
        self.push(Stmt::Op { out, op, args: args.into() });
        self.region_here().known.insert(key, out);
        out
    }

    /// A literal.
    pub fn literal(&mut self, literal: Literal) -> Value {
        self.op(Op::Const(literal), &[])
    }

    /// A literal of a Rust type.
    pub fn constant<T: Element>(&mut self, value: T) -> Value {
        self.literal(Literal::new(value))
    }

    /// A number as a literal of the type of `like`.
    pub fn like(&mut self, like: Value, number: f64) -> Value {
        let dtype = self.dtype(like);
        self.literal(Literal::from_f64(dtype, number))
    }

    /// `a ? b`
    pub fn compare(&mut self, comparison: Comparison, a: Value, b: Value) -> Value {
        self.op(Op::Compare(comparison), &[a, b])
    }

    /// `condition ? a : b`
    pub fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        self.op(Op::Select, &[condition, a, b])
    }

    /// The element type of a buffer.
    pub fn buffer_dtype(&self, buffer: BufferId) -> DType {
        let i = buffer.0 as usize;
        match self.params.get(i) {
            Some(param) => param.dtype,
            None => self.locals[i - self.params.len()].dtype,
        }
    }

    /// `buffer[index]`
    pub fn load(&mut self, buffer: BufferId, index: Index) -> Value {
        let dtype = self.buffer_dtype(buffer);
        let out = self.value(dtype);
        self.push(Stmt::Load { out, buffer, index });
        out
    }

    /// `buffer[index] = value`
    pub fn store(&mut self, buffer: BufferId, index: Index, value: Value) {
        self.push(Stmt::Store { buffer, index, value });
    }

    /// Builds a region of its own; what `body` returns is yielded.
    fn region(&mut self, body: impl FnOnce(&mut Self) -> SmallVec<[Value; 2]>) -> Region {
        self.open.push(Open::default());
        let yields = body(self);
        let Open { stmts, .. } = self.open.pop().expect("the region opened above");
        Region { stmts, yields }
    }

    /// Independent iterations.
    pub fn each(&mut self, extent: Size, body: impl FnOnce(&mut Self, Value)) {
        let var = self.value(DType::I64);
        let body = self.region(|b| {
            body(b, var);
            SmallVec::new()
        });
        self.push(Stmt::Each { var, extent, body });
    }

    /// Iterations in order: `body` gets the loop variable and the carried values, and returns the next ones.
    pub fn for_loop(
        &mut self,
        extent: Size,
        init: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> SmallVec<[Value; 2]>,
    ) -> Vec<Value> {
        let var = self.value(DType::I64);
        let carries = self.carries(init);
        let inside: Vec<Value> = carries.iter().map(|c| c.inside).collect();
        let body = self.region(|b| body(b, var, &inside));
        let outs = carries.iter().map(|c| c.out).collect();
        self.push(Stmt::For { var, extent, carries, body });
        outs
    }

    /// Combines what `body` returns over all iterations.
    pub fn reduce(
        &mut self,
        extent: Size,
        combines: &[Combine],
        body: impl FnOnce(&mut Self, Value) -> SmallVec<[Value; 2]>,
    ) -> Vec<Value> {
        let var = self.value(DType::I64);
        let body = self.region(|b| body(b, var));
        assert_eq!(combines.len(), body.yields.len(), "one combination for each yielded value");
        let accumulators: Vec<Accumulator> = combines
            .iter()
            .zip(body.yields.clone())
            .map(|(&combine, value)| Accumulator { combine, out: self.value(self.values[value.0 as usize]) })
            .collect();
        let outs = accumulators.iter().map(|a| a.out).collect();
        self.push(Stmt::Reduce { var, extent, accumulators, body });
        outs
    }

    /// Repeats `body` while `cond` returns true; both get the carried values.
    pub fn while_loop(
        &mut self,
        init: &[Value],
        cond: impl FnOnce(&mut Self, &[Value]) -> Value,
        body: impl FnOnce(&mut Self, &[Value]) -> SmallVec<[Value; 2]>,
    ) -> Vec<Value> {
        let carries = self.carries(init);
        let inside: Vec<Value> = carries.iter().map(|c| c.inside).collect();
        let cond = self.region(|b| SmallVec::from_slice(&[cond(b, &inside)]));
        let body = self.region(|b| body(b, &inside));
        let outs = carries.iter().map(|c| c.out).collect();
        self.push(Stmt::While { carries, cond, body });
        outs
    }

    /// Runs one of two regions, which return as many values of the same types.
    pub fn if_else(
        &mut self,
        cond: Value,
        then: impl FnOnce(&mut Self) -> SmallVec<[Value; 2]>,
        otherwise: impl FnOnce(&mut Self) -> SmallVec<[Value; 2]>,
    ) -> Vec<Value> {
        let then = self.region(then);
        let otherwise = self.region(otherwise);
        let outs: Vec<Value> = then.yields.iter().map(|&v| self.value(self.values[v.0 as usize])).collect();
        self.push(Stmt::If { cond, outs: outs.clone(), then, otherwise });
        outs
    }

    fn carries(&mut self, init: &[Value]) -> Vec<Carry> {
        init.iter()
            .map(|&init| {
                let dtype = self.dtype(init);
                Carry { init, inside: self.value(dtype), out: self.value(dtype) }
            })
            .collect()
    }

    /// Calls a library function.
    pub fn call(&mut self, call: crate::library::LibraryCall, windows: Vec<Window>) {
        self.push(Stmt::Call { call, windows });
    }

    /// Leaves the kernel if somebody asked for that.
    pub fn poll(&mut self) {
        self.push(Stmt::Poll);
    }

    /// The finished kernel.
    pub fn finish(mut self, name: impl Into<String>) -> Kernel {
        let stmts = self.open.pop().expect("the body is open").stmts;
        assert!(self.open.is_empty(), "a region was left open");
        Kernel {
            name: name.into(),
            params: self.params,
            locals: self.locals,
            sizes: self.sizes,
            values: self.values,
            body: Region { stmts, yields: SmallVec::new() },
        }
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;
    use crate::verify_kernel;

    /// The same is computed once in each region, and what is computed in one is not there after it.
    #[test]
    fn equal_operations_are_one() {
        let mut b = KernelBuilder::new();
        let to = b.param(DType::F32, true);
        let x = b.constant(2f32);
        assert_eq!(b.constant(2f32), x);
        assert_ne!(b.constant(-2f32), x);
        let product = b.op(Op::Mul, &[x, x]);
        assert_eq!(b.op(Op::Mul, &[x, x]), product);
        assert_ne!(b.op(Op::Add, &[x, x]), product);
        let condition = b.compare(Comparison::Lt, x, product);
        let root = |b: &mut KernelBuilder| smallvec![b.op(Op::Sqrt, &[product])];
        let chosen = b.if_else(condition, root, root)[0];
        let root = b.op(Op::Sqrt, &[product]);
        let sum = b.op(Op::Add, &[chosen, root]);
        b.store(to, Index { offset: Size::Const(0), terms: smallvec![] }, sum);
        let kernel = b.finish("once");
        verify_kernel(&kernel).unwrap();
        assert_eq!(kernel.to_string().matches("sqrt").count(), 3);
    }
}
