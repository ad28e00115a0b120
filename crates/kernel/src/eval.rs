//! The reference evaluator: what a kernel or program means, one scalar at a time.
//!
//! Slow and plain on purpose, and independent of code generation, so that it can judge it. It checks while it
//! runs what the verifier proves before (bounds, and reading only what was written), so that it can judge that
//! too: what it cannot do is an error, never a panic. The order of a `reduce` is that of
//! [`reduce_lanes`](crate::reduce_lanes); a matrix product adds in order of the contraction, in its own type,
//! which is not part of the numeric contract.

use tracewell_array::{Literal, Tensor};

use crate::calls::eval_call;
use crate::cells::Cells;
use crate::ir::{BufferId, Index, Kernel, Region, Size, Stmt, Value, Window, lanes_of};
use crate::program::{Program, Role, SlotId, Step};
use crate::scalar;
use crate::text::{Names, inner_regions};
use crate::verify::verify_kernel;

/// How many elements a program may have in all, so that a wrong number is an error and not a full memory.
const MAX_CELLS: usize = 1 << 27;

/// Runs a program on its inputs; the results are flat.
pub fn eval_program(program: &Program, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
    eval_program_within(program, inputs, u64::MAX)
}

/// Runs a program on its inputs, but gives up with an error after so many statements and iterations.
pub fn eval_program_within(program: &Program, inputs: &[Tensor], steps: u64) -> Result<Vec<Tensor>, String> {
    for kernel in &program.kernels {
        verify_kernel(kernel).map_err(|errors| errors.to_string())?;
    }
    let total = program.slots.iter().fold(0usize, |sum, slot| sum.saturating_add(slot.len));
    if total > MAX_CELLS {
        return Err(format!("{total} elements are too many for the evaluator"));
    }
    let mut memory = Vec::new();
    for (i, slot) in program.slots.iter().enumerate() {
        let cells = match &slot.role {
            Role::Input(number) => {
                Cells::of(inputs.get(*number).ok_or_else(|| format!("input {number} is missing"))?)
            }
            Role::Constant(tensor) => Cells::of(tensor),
            Role::Output { .. } | Role::Temp { .. } => Cells::undefined(slot.dtype, slot.len),
        };
        if cells.dtype != slot.dtype || cells.cells.len() != slot.len {
            let (dtype, len) = (cells.dtype, cells.cells.len());
            return Err(format!("`${i}` is {}[{}], but {dtype}[{len}] is given", slot.dtype, slot.len));
        }
        memory.push(cells);
    }
    let mut budget = Budget(steps);
    for step in &program.steps {
        let bound: Vec<usize> = step.slots().iter().map(|slot| slot.0 as usize).collect();
        if bound.iter().any(|slot| *slot >= memory.len()) {
            return Err("there is no such slot".to_owned());
        }
        match step {
            Step::Launch { kernel, sizes, .. } => {
                let kernel = program.kernels.get(*kernel).ok_or("there is no such kernel")?;
                for (param, &slot) in kernel.params.iter().zip(&bound) {
                    if param.written {
                        overwrite(program, slot, &mut memory);
                    }
                }
                Run::new(kernel, &mut memory, &bound, sizes, &mut budget)?.kernel()?;
            }
            Step::Copy { .. } => {
                let cells = memory[bound[0]].clone();
                overwrite(program, bound[1], &mut memory);
                memory[bound[1]] = cells;
            }
            Step::Call { call, .. } => {
                for &slot in bound.iter().skip(call.inputs.len()) {
                    overwrite(program, slot, &mut memory);
                }
                let arguments = bound.iter().map(|slot| memory[*slot].clone()).collect();
                let results = eval_call(call, arguments, &mut budget)?;
                for (&slot, result) in bound.iter().skip(call.inputs.len()).zip(results) {
                    memory[slot] = result;
                }
            }
        }
    }
    let result = |slot: &crate::program::SlotId| {
        let cells = memory.get(slot.0 as usize).ok_or("there is no such slot")?;
        cells.tensor().ok_or_else(|| format!("not all of `${}` was written", slot.0))
    };
    program.results.iter().map(result).collect()
}

/// Forgets the slots whose memory is about to be written under another name.
fn overwrite(program: &Program, slot: usize, memory: &mut [Cells]) {
    // Which piece of memory: an output, or the arena.
    let extent = |i: usize| {
        let (of, offset) = match program.slots[i].role {
            Role::Temp { of, offset } => (of, offset),
            Role::Output { .. } => (Some(SlotId(i as u32)), 0),
            Role::Input(_) | Role::Constant(_) => return None,
        };
        let bytes = program.slots[i].len * program.slots[i].dtype.size();
        Some((of, offset, offset.saturating_add(bytes)))
    };
    let Some((of, start, end)) = extent(slot) else { return };
    let meets = |(where_to, from, to)| where_to == of && from < end && start < to;
    for (other, cells) in memory.iter_mut().enumerate() {
        if other != slot && extent(other).is_some_and(meets) {
            cells.forget();
        }
    }
}

/// Runs a kernel, one buffer for each of its parameters. Gives up after so many statements and iterations.
pub fn eval_kernel(kernel: &Kernel, buffers: &mut [Cells], sizes: &[i64], steps: u64) -> Result<(), String> {
    verify_kernel(kernel).map_err(|errors| errors.to_string())?;
    let bound: Vec<usize> = (0..buffers.len()).collect();
    Run::new(kernel, buffers, &bound, sizes, &mut Budget(steps))?.kernel()
}

/// How many statements and iterations may still be run.
pub(crate) struct Budget(u64);

impl Budget {
    pub(crate) fn spend(&mut self) -> Result<(), String> {
        self.spend_all(1)
    }

    pub(crate) fn spend_all(&mut self, steps: usize) -> Result<(), String> {
        self.0 = self.0.checked_sub(steps as u64).ok_or("the limit of steps is reached")?;
        Ok(())
    }
}

/// One launch of a kernel that has been verified.
struct Run<'a> {
    kernel: &'a Kernel,
    /// The memory of the program, and which piece of it each parameter is.
    memory: &'a mut [Cells],
    bound: &'a [usize],
    locals: Vec<Cells>,
    sizes: &'a [i64],
    values: Vec<Option<Literal>>,
    budget: &'a mut Budget,
    /// Whether the iterations of an `each` run from the last to the first: it must make no difference.
    backwards: bool,
}

impl<'a> Run<'a> {
    fn new(
        kernel: &'a Kernel,
        memory: &'a mut [Cells],
        bound: &'a [usize],
        sizes: &'a [i64],
        budget: &'a mut Budget,
    ) -> Result<Run<'a>, String> {
        if bound.len() != kernel.params.len() || sizes.len() != kernel.sizes {
            return Err("buffers or sizes are not as many as the kernel has parameters".to_owned());
        }
        if kernel.params.iter().zip(bound).any(|(param, &i)| param.dtype != memory[i].dtype) {
            return Err("a buffer does not have the type of its parameter".to_owned());
        }
        let locals = kernel.locals.iter().map(|local| Cells::undefined(local.dtype, local.len)).collect();
        let values = vec![None; kernel.values.len()];
        Ok(Run { kernel, memory, bound, locals, sizes, values, budget, backwards: false })
    }

    fn kernel(&mut self) -> Result<(), String> {
        self.region(&self.kernel.body).map(drop)
    }

    fn set(&mut self, value: Value, literal: Literal) {
        self.values[value.0 as usize] = Some(literal);
    }

    fn get(&self, value: Value) -> Literal {
        self.values[value.0 as usize].expect("a verified kernel defines before it uses")
    }

    fn size(&self, size: Size) -> i64 {
        size.get(self.sizes)
    }

    fn buffer(&mut self, buffer: BufferId) -> &mut Cells {
        let i = buffer.0 as usize;
        match self.bound.get(i) {
            Some(slot) => &mut self.memory[*slot],
            None => &mut self.locals[i - self.bound.len()],
        }
    }

    /// The position that an index is, if it can be one.
    fn position(&self, index: &Index) -> Option<usize> {
        let mut place = Some(i128::from(self.size(index.offset)));
        for &(value, stride) in &index.terms {
            let term = i128::from(self.get(value).as_i64()) * i128::from(self.size(stride));
            place = place.and_then(|place| place.checked_add(term));
        }
        place.and_then(|place| usize::try_from(place).ok())
    }

    fn outside(&self, stmt: &Stmt, len: usize) -> String {
        let head = Names::of(self.kernel).head(stmt);
        format!("`{head}` reaches outside a buffer of {len} elements")
    }

    /// The element of a buffer at an index.
    fn cell(&mut self, stmt: &Stmt, buffer: BufferId, index: &Index) -> Result<&mut Option<Literal>, String> {
        let place = self.position(index);
        let len = self.buffer(buffer).cells.len();
        match place.filter(|place| *place < len) {
            Some(place) => Ok(&mut self.buffer(buffer).cells[place]),
            None => Err(self.outside(stmt, len)),
        }
    }

    /// So many elements of a buffer from an index on, and where they start.
    fn window(&mut self, stmt: &Stmt, window: &Window, len: usize) -> Result<(usize, Cells), String> {
        let start = self.position(&window.start);
        let Cells { dtype, cells } = &*self.buffer(window.buffer);
        let (dtype, all) = (*dtype, cells.len());
        let end = start.and_then(|start| start.checked_add(len));
        match (start, end) {
            (Some(start), Some(end)) if end <= all => {
                Ok((start, Cells { dtype, cells: cells[start..end].to_vec() }))
            }
            _ => Err(self.outside(stmt, all)),
        }
    }

    /// Runs a region and says what it yields.
    fn region(&mut self, region: &'a Region) -> Result<Vec<Literal>, String> {
        for stmt in &region.stmts {
            self.budget.spend()?;
            self.stmt(stmt)?;
        }
        Ok(region.yields.iter().map(|&value| self.get(value)).collect())
    }

    fn stmt(&mut self, stmt: &'a Stmt) -> Result<(), String> {
        match stmt {
            Stmt::Op { out, op, args } => {
                let args: Vec<Literal> = args.iter().map(|&arg| self.get(arg)).collect();
                self.set(*out, scalar::eval(*op, &args, self.sizes));
            }
            Stmt::Load { out, buffer, index } => {
                let Some(literal) = *self.cell(stmt, *buffer, index)? else {
                    let head = Names::of(self.kernel).head(stmt);
                    return Err(format!("`{head}` reads what was never written"));
                };
                self.set(*out, literal);
            }
            Stmt::Store { buffer, index, value } => {
                let literal = self.get(*value);
                *self.cell(stmt, *buffer, index)? = Some(literal);
            }
            Stmt::Each { var, extent, body } => {
                let extent = self.size(*extent);
                let private = self.private(body);
                for i in 0..extent {
                    self.budget.spend()?;
                    private.iter().for_each(|local| self.locals[*local].forget());
                    self.set(*var, Literal::new(if self.backwards { extent - 1 - i } else { i }));
                    self.region(body)?;
                }
            }
            Stmt::For { var, extent, carries, body } => {
                let mut carried: Vec<Literal> = carries.iter().map(|carry| self.get(carry.init)).collect();
                for i in 0..self.size(*extent) {
                    self.budget.spend()?;
                    self.set(*var, Literal::new(i));
                    carries.iter().zip(&carried).for_each(|(carry, next)| self.set(carry.inside, *next));
                    carried = self.region(body)?;
                }
                carries.iter().zip(carried).for_each(|(carry, last)| self.set(carry.out, last));
            }
            Stmt::While { carries, cond, body } => {
                let mut carried: Vec<Literal> = carries.iter().map(|carry| self.get(carry.init)).collect();
                loop {
                    self.budget.spend()?;
                    carries.iter().zip(&carried).for_each(|(carry, next)| self.set(carry.inside, *next));
                    if self.region(cond)? != [Literal::new(true)] {
                        break;
                    }
                    carried = self.region(body)?;
                }
                carries.iter().zip(carried).for_each(|(carry, last)| self.set(carry.out, last));
            }
            Stmt::Reduce { var, extent, accumulators, body } => {
                let lanes = lanes_of(accumulators.iter().map(|a| self.kernel.dtype(a.out)));
                let mut state: Vec<Vec<Literal>> = Vec::new();
                for a in accumulators {
                    let identity = a.combine.identity(self.kernel.dtype(a.out));
                    state.push(vec![identity.expect("verified to be defined on the type"); lanes]);
                }
                for i in 0..self.size(*extent) {
                    self.budget.spend()?;
                    self.set(*var, Literal::new(i));
                    let yields = self.region(body)?;
                    let lane = i as usize % lanes;
                    for ((a, state), next) in accumulators.iter().zip(&mut state).zip(yields) {
                        state[lane] = scalar::eval(a.combine.op(), &[state[lane], next], self.sizes);
                    }
                }
                for (a, mut state) in accumulators.iter().zip(state) {
                    let mut width = lanes / 2;
                    while width > 0 {
                        for i in 0..width {
                            state[i] =
                                scalar::eval(a.combine.op(), &[state[i], state[i + width]], self.sizes);
                        }
                        width /= 2;
                    }
                    self.set(a.out, state[0]);
                }
            }
            Stmt::If { cond, outs, then, otherwise } => {
                let holds = self.get(*cond) == Literal::new(true);
                let yields = self.region(if holds { then } else { otherwise })?;
                outs.iter().zip(yields).for_each(|(out, value)| self.set(*out, value));
            }
            Stmt::Call { call, windows } => {
                let mut arguments = Vec::with_capacity(windows.len());
                for (window, (_, shape)) in windows.iter().zip(call.memory()) {
                    arguments.push(self.window(stmt, window, shape.len())?.1);
                }
                let results = eval_call(call, arguments, self.budget)?;
                for (window, result) in windows.iter().skip(call.inputs.len()).zip(results) {
                    let start = self.window(stmt, window, result.cells.len())?.0;
                    let cells = &mut self.buffer(window.buffer).cells;
                    cells[start..start + result.cells.len()].copy_from_slice(&result.cells);
                }
            }
            // Nobody asks while the evaluator runs.
            Stmt::Poll => {}
        }
        Ok(())
    }

    /// The stack buffers that are used nowhere but in this body: each iteration of an `each` has its own.
    fn private(&self, body: &Region) -> Vec<usize> {
        let all = |local: usize| BufferId((self.kernel.params.len() + local) as u32);
        let private = |local: &usize| uses(body, all(*local)) == uses(&self.kernel.body, all(*local));
        (0..self.locals.len()).filter(private).collect()
    }
}

/// How many statements use a buffer.
fn uses(region: &Region, buffer: BufferId) -> usize {
    let count = |stmt: &Stmt| {
        let own = match stmt {
            Stmt::Load { buffer: b, .. } | Stmt::Store { buffer: b, .. } => *b == buffer,
            Stmt::Call { windows, .. } => windows.iter().any(|window| window.buffer == buffer),
            _ => false,
        };
        usize::from(own) + inner_regions(stmt).into_iter().map(|inner| uses(inner, buffer)).sum::<usize>()
    };
    region.stmts.iter().map(count).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tracewell_array::DType;

    use super::*;
    use crate::generate;
    use crate::library::{BufferFn, BufferMut, BufferRef, CallError, Custom};
    use crate::op::reduce_lanes;
    use crate::verify::{verify_launch, verify_program};

    fn program(text: &str) -> Program {
        let program: Program = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
        verify_program(&program).unwrap_or_else(|errors| panic!("{errors}"));
        program
    }

    fn f32s(values: &[f32]) -> Tensor {
        Tensor::from_slice(values, [values.len()]).unwrap()
    }

    #[test]
    fn rows() {
        let program = program(
            "program @normalize {
               $0: f32[6] = input 0
               $1: f32[6] = temp at 0
               $2: f32[6] = output
               arena 64
               kernel @divide_by_sum(b0: f32, b1: mut f32) sizes 2 {
                 each %0 < s0 {
                   %3: f32 = reduce add over %1 < s1 { %2: f32 = load b0[%0*s1 + %1] yield %2 }
                   each %4 < s1 {
                     %5: f32 = load b0[%0*s1 + %4]
                     %6: f32 = div %5, %3
                     store b1[%0*s1 + %4], %6
                   }
                 }
               }
               launch @divide_by_sum($0, $1) sizes 2, 3
               launch @divide_by_sum($1, $2) sizes 3, 2
               return $2, $0
             }",
        );
        let x = f32s(&[1.0, 1.0, 2.0, 3.0, 3.0, 2.0]);
        let expected = f32s(&[0.5, 0.5, 0.5 / 0.875, 0.375 / 0.875, 0.6, 0.4]);
        assert_eq!(eval_program(&program, std::slice::from_ref(&x)).unwrap(), [expected, x]);
    }

    /// The order of a reduction, written out once more by hand.
    #[test]
    fn reduction_order() {
        for len in [0, 1, 5, 31, 32, 33, 64, 100] {
            let values: Vec<f32> = (0..len).map(|i| ((i * 7919) % 1000) as f32 * 1.37 - 300.0).collect();
            let lanes = reduce_lanes(4);
            let mut sums = vec![0f32; lanes];
            for (i, value) in values.iter().enumerate() {
                sums[i % lanes] += value;
            }
            while sums.len() > 1 {
                let upper = sums.split_off(sums.len() / 2);
                sums.iter_mut().zip(upper).for_each(|(low, high)| *low += high);
            }
            let program = program(&format!(
                "program @sum {{
                   $0: f32[{len}] = input 0 $1: f32[1] = output
                   kernel @sum(b0: f32, b1: mut f32) sizes 1 {{
                     %2: f32 = reduce add over %0 < s0 {{ %1: f32 = load b0[%0] yield %1 }} store b1[0], %2 }}
                   launch @sum($0, $1) sizes {len} return $1 }}"
            ));
            assert_eq!(eval_program(&program, &[f32s(&values)]).unwrap(), [f32s(&sums)], "{len}");
        }
    }

    #[test]
    fn control_flow() {
        // Steps of the Collatz sequence, and the largest number met.
        let kernel: Kernel = "kernel @collatz(b0: i64, b1: mut i64) {
            each %i < 3 {
              %start: i64 = load b0[%i]
              %one: i64 = const 1
              %zero: i64 = const 0
              %last: i64, %steps: i64 = while with %n: i64 = %start, %count: i64 = %zero {
                %more: bool = gt %n, %one
                yield %more
              } do {
                %bit: i64 = and %n, %one
                %odd: bool = convert %bit
                %next: i64 = if %odd {
                  %three: i64 = const 3
                  %a: i64 = mul %n, %three
                  %b: i64 = add %a, %one
                  yield %b
                } else {
                  %half: i64 = shr %n, %one
                  yield %half
                }
                %counted: i64 = add %count, %one
                yield %next, %counted
              }
              %sum: i64 = for %k < 4 with %acc: i64 = %steps {
                %x: i64 = add %acc, %k
                yield %x
              }
              store b1[%i], %sum
            }
          }"
        .parse()
        .unwrap();
        let starts = Tensor::from_slice(&[1i64, 6, 27], [3]).unwrap();
        let mut buffers = [Cells::of(&starts), Cells::undefined(DType::I64, 3)];
        eval_kernel(&kernel, &mut buffers, &[], 100_000).unwrap();
        assert_eq!(buffers[1].tensor().unwrap().to_vec::<i64>().unwrap(), [6, 14, 117]);
        let error = eval_kernel(&kernel, &mut buffers, &[], 500).unwrap_err();
        assert_eq!(error, "the limit of steps is reached");
    }

    #[derive(Debug)]
    struct Reverse;

    impl BufferFn for Reverse {
        fn name(&self) -> &str {
            "reverse"
        }

        fn call(&self, inputs: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) -> Result<(), CallError> {
            let input = inputs[0].as_slice::<f64>()?;
            let output = outputs[0].as_mut_slice::<f64>()?;
            output.iter_mut().zip(input.iter().rev()).for_each(|(out, value)| *out = *value);
            if input[0] < 0.0 { Err("negative".into()) } else { Ok(()) }
        }
    }

    #[test]
    fn library_calls() {
        let text = "program @p {
            $0: f64[6] = input 0
            $1: f64[4] = temp at 0
            $2: f64[4] = output
            arena 64
            call gemm f64 batch [1,1] m 2 n 2 k 3 from 0 by [0,0,3,1], 0 by [0,0,1,3] ($0: f64[2,3], $0: f64[2,3]) -> ($1: f64[2,2])
            call custom \"reverse\" ($1: f64[4]) -> ($2: f64[4])
            return $2
          }";
        let reverse = Custom::new(Reverse);
        let program = crate::text::read_program(text, &|_| Some(reverse.clone())).unwrap();
        verify_program(&program).unwrap();
        let x = Tensor::from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]).unwrap();
        let results = eval_program(&program, &[x]).unwrap();
        assert_eq!(results[0].to_vec::<f64>().unwrap(), [77.0, 32.0, 32.0, 14.0]);
        let x = Tensor::full(Literal::new(f64::NAN), [6]);
        assert!(eval_program(&program, &[x]).is_ok());
    }

    #[test]
    fn what_cannot_be_done_is_an_error() {
        let copy = "kernel @copy(b0: f32, b1: mut f32) sizes 1 {
            each %0 < s0 { %1: f32 = load b0[%0] store b1[%0], %1 } }";
        let eval = |slots: &str, steps: &str| {
            let program: Program = format!("program @p {{ {slots} {copy} {steps} }}").parse().unwrap();
            eval_program(&program, &[f32s(&[1.0, 2.0])]).unwrap_err()
        };
        let io = "$0: f32[2] = input 0 $1: f32[2] = output";
        let temps =
            "$0: f32[2] = input 0 $1: f32[2] = temp at 0 $2: f32[2] = temp at 0 $3: f32[2] = output arena 64";
        let cases = [
            (eval(io, "return $1"), "not all of `$1` was written"),
            (eval(io, "launch @copy($0, $1) sizes 1 return $1"), "not all of `$1` was written"),
            (
                eval(io, "launch @copy($0, $1) sizes 3 return $1"),
                "`%1: f32 = load b0[%0]` reaches outside a buffer of 2 elements",
            ),
            (
                eval(temps, "launch @copy($0, $1) sizes 2 launch @copy($1, $2) sizes 2 return $2"),
                "`%1: f32 = load b0[%0]` reads what was never written",
            ),
            (eval("$0: f32[3] = input 0", "return $0"), "`$0` is f32[3], but f32[2] is given"),
            (eval("$0: f32[2] = input 1", "return $0"), "input 1 is missing"),
            (
                eval("$0: f32[4000000000] = output", "return $0"),
                "4000000000 elements are too many for the evaluator",
            ),
        ];
        for (found, expected) in cases {
            assert_eq!(found, expected);
        }
    }

    /// Each iteration of an `each` has its own stack buffers, if they are used nowhere else.
    #[test]
    fn stack_buffers_are_private() {
        let kernel: Kernel = "kernel @k(b0: mut f32) { local b1: f32[1] each %0 < 2 {
            %1: i64 = const 0 %2: bool = eq %0, %1
            if %2 { %3: f32 = const 1.0 store b1[0], %3 }
            %4: f32 = load b1[0] store b0[%0], %4 } }"
            .parse()
            .unwrap();
        verify_launch(&kernel, &[2], &[]).unwrap();
        let mut buffers = [Cells::undefined(DType::F32, 2)];
        let error = eval_kernel(&kernel, &mut buffers, &[], 100).unwrap_err();
        assert_eq!(error, "`%4: f32 = load b1[0]` reads what was never written");
    }

    fn run(case: &generate::Case, backwards: bool) -> Result<Vec<Cells>, String> {
        let buffer = |(tensor, len): (&Tensor, &usize)| {
            let mut cells = Cells::of(tensor);
            cells.cells.resize(*len, Some(Literal::zero(tensor.dtype())));
            cells
        };
        let mut buffers: Vec<Cells> = case.inputs.iter().zip(&case.lens).map(buffer).collect();
        let bound: Vec<usize> = (0..buffers.len()).collect();
        let mut budget = Budget(1_000_000);
        let mut run = Run::new(&case.kernel, &mut buffers, &bound, &case.sizes, &mut budget)?;
        run.backwards = backwards;
        run.kernel()?;
        Ok(buffers)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// The verifier against the evaluator: whatever lengths and sizes it accepts, no access is outside, and
        /// the order of independent iterations makes no difference.
        #[test]
        fn what_verifies_runs_in_any_order(
            seed in 0u64..300,
            which in any::<prop::sample::Index>(),
            change in -3i64..4,
            size in any::<bool>(),
        ) {
            let mut case = generate::kernel(seed);
            if size && !case.sizes.is_empty() {
                let i = which.index(case.sizes.len());
                case.sizes[i] += change;
            } else {
                let i = which.index(case.lens.len());
                case.lens[i] = case.lens[i].saturating_add_signed(change as isize);
            }
            if verify_launch(&case.kernel, &case.lens, &case.sizes).is_ok() {
                match run(&case, false) {
                    Ok(buffers) => prop_assert_eq!(Ok(buffers), run(&case, true)),
                    // A size that is a loop extent may leave part of a stack buffer unwritten.
                    Err(error) => prop_assert!(
                        error.contains("never written") || error.contains("limit"), "{}\n{}", error, case.kernel
                    ),
                }
            }
        }
    }
}
