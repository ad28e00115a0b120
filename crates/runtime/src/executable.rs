//! Running a program: memory for every slot, then its steps in order.
//!
//! Everything that does not depend on the inputs is decided when the executable is made. A run checks the
//! inputs, makes one table of addresses, and calls machine code.
#![allow(unsafe_code, reason = "machine code works on addresses")]

use std::sync::Arc;

use smallvec::SmallVec;
use tracewell_array::{Blank, DType, Literal, Shape, Tensor, Together};
use tracewell_codegen::Target;
use tracewell_kernel::{Kernel, LibraryCall, Program, Role, SlotId, Step, in_memory, verify_program};

use crate::cache::{CompiledKernel, compiled, compiled_for};
use crate::copy::copy;
use crate::error::{BuildError, RunError};
use crate::launch::{Addresses, FEW, Launch};
use crate::library;
use crate::memory::{Arenas, Near, allocated_scratch, scratch};
use crate::stop::Stop;

/// An argument of a run.
#[derive(Debug)]
pub enum Input<'a> {
    /// Only read.
    Lent(&'a Tensor),
    /// Given away: if nobody else refers to its memory, a result may take it over. Few are, and the others are moved
    /// about without its size.
    Given(Box<Tensor>),
    /// A single real number, for which nothing is allocated: its bits, in the first bytes.
    Number(u64, DType),
    /// What a run leaves in place of a tensor whose memory a result took over.
    Taken,
}

impl Input<'_> {
    /// A tensor that is given away.
    pub fn given(tensor: Tensor) -> Input<'static> {
        Input::Given(Box::new(tensor))
    }

    /// A single number.
    pub fn number(literal: Literal) -> Input<'static> {
        match u64::try_from(literal.bits()) {
            Ok(bits) if !literal.dtype().is_complex() => Input::Number(bits.to_le(), literal.dtype()),
            _ => Input::given(Tensor::full(literal, Shape::scalar())),
        }
    }

    /// The array, if it was not taken over.
    pub fn to_tensor(&self) -> Option<Tensor> {
        match self {
            Input::Lent(tensor) => Some((*tensor).clone()),
            Input::Given(tensor) => Some(Tensor::clone(tensor)),
            Input::Number(bits, dtype) => {
                let literal = Literal::from_bits(*dtype, u64::from_le(*bits).into());
                Some(Tensor::full(literal, Shape::scalar()))
            }
            Input::Taken => None,
        }
    }

    /// Where it is, its type and how many bytes it has.
    fn place(&self) -> Option<(*const u8, DType, usize)> {
        let of = |tensor: &Tensor| (tensor.as_ptr(), tensor.dtype(), tensor.size_bytes());
        match self {
            Input::Lent(tensor) => Some(of(tensor)),
            Input::Given(tensor) => Some(of(tensor)),
            Input::Number(bits, dtype) => Some(((&raw const *bits).cast(), *dtype, dtype.size())),
            Input::Taken => None,
        }
    }
}

/// What a run makes. Most make one array, for which no list is allocated.
pub type Results = SmallVec<[Tensor; 1]>;

/// How one step of a run went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StepTime {
    /// How long it took.
    pub nanoseconds: u64,
    /// Into how many parts it was split, each for a thread. A library call decides for itself, and counts as one.
    pub threads: usize,
    /// The size of all arrays that it touches.
    pub bytes: usize,
}

/// A program with machine code for its kernels. Runs may overlap.
#[derive(Debug)]
pub struct Executable {
    program: Program,
    /// What is asked of each input, by its number; nothing of one that is not used.
    inputs: Vec<Option<Wanted>>,
    /// The slots that each run makes.
    outputs: Vec<Output>,
    /// How many of them are so small that they share memory.
    small_outputs: usize,
    temps: Vec<Temp>,
    constants: Vec<(usize, Tensor)>,
    steps: Vec<Action>,
    results: Vec<Answer>,
    /// Whether the results are the outputs, in their order.
    is_plain: bool,
    arenas: Arenas,
    guard: bool,
    /// Keeps the machine code that `steps` points into.
    kernels: Vec<Arc<CompiledKernel>>,
}

/// The slot of an input, and what must be in it.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    slot: usize,
    dtype: DType,
    bytes: usize,
}

/// A slot made by each run.
#[derive(Debug)]
struct Output {
    slot: usize,
    blank: Blank,
    reuse: Option<usize>,
    /// Whether it shares memory with others that are as small. One that may take over that of an input does not: whoever
    /// gives arrays away wants to do so with the next, too.
    is_small: bool,
}

#[derive(Debug)]
struct Temp {
    slot: usize,
    dtype: DType,
    len: usize,
    /// The slot in whose memory it is; without one it is in the arena.
    of: Option<usize>,
    offset: usize,
}

/// Where a result comes from.
#[derive(Debug)]
enum Answer {
    /// The output of that number.
    Output(usize, Shape),
    Input(usize, Shape),
    Constant(Tensor),
}

/// A step, ready to run.
#[derive(Debug)]
enum Action {
    Launch(Launch),
    Copy { from: usize, to: usize, bytes: usize },
    Call { call: LibraryCall, slots: Vec<usize> },
}

impl Executable {
    /// Checks a program and compiles its kernels. Results get these types: the program has the parts of complex ones.
    pub fn new(program: Program, result_types: Vec<(DType, Shape)>) -> Result<Executable, BuildError> {
        Executable::with(program, result_types, compiled)
    }

    /// The same with code for a target that is not the machine as it is: for finding what broke a result.
    pub fn on(
        program: Program,
        result_types: Vec<(DType, Shape)>,
        target: &Target,
    ) -> Result<Executable, BuildError> {
        Executable::with(program, result_types, |kernels| compiled_for(kernels, target))
    }

    fn with(
        program: Program,
        result_types: Vec<(DType, Shape)>,
        compiled: impl FnOnce(&[Arc<Kernel>]) -> Result<Vec<Arc<CompiledKernel>>, BuildError>,
    ) -> Result<Executable, BuildError> {
        verify_program(&program).map_err(BuildError::Invalid)?;
        if result_types.len() != program.results.len() {
            return Err(BuildError::Shapes { result: program.results.len(), shape: None });
        }
        for (result, (&slot, (dtype, shape))) in program.results.iter().zip(&result_types).enumerate() {
            let (part, parts) = in_memory(*dtype, shape);
            let slot = program.slot(slot);
            if part != slot.dtype || parts.checked_len() != Some(slot.len) {
                return Err(BuildError::Shapes { result, shape: Some(shape.clone()) });
            }
        }
        let kernels = compiled(&program.kernels)?;
        let mut made = Executable {
            inputs: Vec::new(),
            outputs: Vec::new(),
            small_outputs: 0,
            temps: Vec::new(),
            constants: Vec::new(),
            steps: Vec::new(),
            results: Vec::new(),
            is_plain: false,
            arenas: Arenas::default(),
            guard: std::env::var_os("TRACEWELL_GUARD").is_some_and(|value| value == "1"),
            kernels,
            program,
        };
        made.plan_slots(&result_types);
        made.small_outputs = made.outputs.iter().filter(|output| output.is_small).count();
        made.steps = made.program.steps.iter().map(|step| made.plan_step(step)).collect();
        made.results = made.plan_results(result_types);
        let is_output = |(k, answer): (usize, &Answer)| matches!(answer, Answer::Output(n, _) if *n == k);
        made.is_plain =
            made.results.len() == made.outputs.len() && made.results.iter().enumerate().all(is_output);
        Ok(made)
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The machine code of each kernel of the program.
    pub fn kernels(&self) -> &[Arc<CompiledKernel>] {
        &self.kernels
    }

    fn plan_slots(&mut self, types: &[(DType, Shape)]) {
        for (slot, data) in self.program.slots.iter().enumerate() {
            match &data.role {
                Role::Input(number) => {
                    self.inputs.resize(self.inputs.len().max(number + 1), None);
                    self.inputs[*number] =
                        Some(Wanted { slot, dtype: data.dtype, bytes: data.len * data.dtype.size() });
                }
                Role::Output { reuse } => {
                    let mut results = self.program.results.iter().zip(types);
                    let ty = results.find(|(id, _)| id.0 as usize == slot).map(|(_, ty)| ty.clone());
                    let (dtype, shape) = ty.unwrap_or_else(|| (data.dtype, Shape::from([data.len])));
                    let blank = Blank::new(dtype, shape);
                    let (reuse, is_small) = (*reuse, reuse.is_none() && Together::suits(&blank));
                    self.outputs.push(Output { slot, blank, reuse, is_small });
                }
                Role::Temp { of, offset } => {
                    let of = of.map(|id| id.0 as usize);
                    self.temps.push(Temp { slot, dtype: data.dtype, len: data.len, of, offset: *offset });
                }
                Role::Constant(tensor) => self.constants.push((slot, tensor.clone())),
            }
        }
    }

    fn plan_step(&self, step: &Step) -> Action {
        let slots = |slots: &[SlotId]| slots.iter().map(|id| id.0 as usize).collect::<Vec<_>>();
        match step {
            Step::Copy { from, to } => {
                let bytes = self.bytes(*from);
                Action::Copy { from: from.0 as usize, to: to.0 as usize, bytes }
            }
            Step::Call { call, slots: ids } => Action::Call { call: call.clone(), slots: slots(ids) },
            Step::Launch { kernel, slots: ids, sizes, cost } => {
                let bytes = ids.iter().map(|id| self.bytes(*id)).sum();
                let slots = slots(ids).into();
                // Under guard what is read is where the guard is.
                let made = |slot: usize| match self.program.slots[slot].role {
                    _ if self.guard => None,
                    Role::Output { .. } | Role::Temp { .. } => Some(self.bytes(SlotId(slot as u32))),
                    Role::Input(_) | Role::Constant(_) => None,
                };
                let code = &self.kernels[*kernel];
                Action::Launch(Launch::new(*kernel, code, slots, (sizes, *cost), bytes, made))
            }
        }
    }

    fn bytes(&self, slot: SlotId) -> usize {
        let slot = self.program.slot(slot);
        slot.len * slot.dtype.size()
    }

    fn plan_results(&self, types: Vec<(DType, Shape)>) -> Vec<Answer> {
        let plan = |(id, (dtype, shape)): (&SlotId, (DType, Shape))| {
            let slot = id.0 as usize;
            match &self.program.slots[slot].role {
                Role::Output { .. } => {
                    let number = self.outputs.iter().position(|output| output.slot == slot);
                    Answer::Output(number.expect("every output slot was planned"), shape)
                }
                Role::Input(number) => Answer::Input(*number, shape),
                Role::Constant(tensor) => Answer::Constant(typed(tensor, dtype, &shape)),
                Role::Temp { .. } => unreachable!("the verifier refuses scratch as a result"),
            }
        };
        self.program.results.iter().zip(types).map(plan).collect()
    }

    /// Runs the program.
    ///
    /// A result takes over the memory of a given input where the program allows it and nobody else refers to
    /// it; [`Input::Taken`] is left in its place.
    pub fn run(&self, inputs: &mut [Input<'_>]) -> Result<Results, RunError> {
        let mut results = Results::new();
        self.run_into(&mut results, inputs)?;
        Ok(results)
    }

    /// The same, with results where they are wanted, which is a list without any: handing it on from function to function
    /// takes as long as a small program.
    pub fn run_into(&self, results: &mut Results, inputs: &mut [Input<'_>]) -> Result<(), RunError> {
        self.run_watched(results, inputs, 1, |_| {})
    }

    /// Runs the steps so many times, at least once, on the same memory: what they take without what is around them.
    /// Inputs are lent, for the next time reads them again.
    pub fn repeat(&self, inputs: &[Tensor], times: usize) -> Result<Results, RunError> {
        let mut lent: Vec<Input<'_>> = inputs.iter().map(Input::Lent).collect();
        let mut results = Results::new();
        self.run_watched(&mut results, &mut lent, times.max(1), |_| {})?;
        Ok(results)
    }

    /// Runs the program and says how long each step took.
    pub fn profile(&self, inputs: &mut [Input<'_>]) -> Result<(Results, Vec<StepTime>), RunError> {
        let mut times = Vec::with_capacity(self.steps.len());
        let mut last = std::time::Instant::now();
        let mut results = Results::new();
        self.run_watched(&mut results, inputs, 1, |step| {
            let now = std::time::Instant::now();
            let threads = match &self.steps[step] {
                Action::Launch(launch) => launch.parts(),
                Action::Copy { .. } | Action::Call { .. } => 1,
            };
            let bytes = self.program.steps[step].slots().iter().map(|id| self.bytes(*id)).sum();
            let nanoseconds = now.duration_since(last).as_nanos() as u64;
            times.push(StepTime { nanoseconds, threads, bytes });
            last = std::time::Instant::now();
        })?;
        Ok((results, times))
    }

    /// Runs the program, its steps so many times; `done` is told the number of each when it has ended.
    fn run_watched(
        &self,
        results: &mut Results,
        inputs: &mut [Input<'_>],
        times: usize,
        mut done: impl FnMut(usize),
    ) -> Result<(), RunError> {
        let (mut few, mut many) = ([std::ptr::null_mut(); FEW], Vec::new());
        let addresses = match few.get_mut(..self.program.slots.len()) {
            Some(few) => few,
            None => {
                many.resize(self.program.slots.len(), std::ptr::null_mut());
                many.as_mut_slice()
            }
        };
        self.place_inputs(inputs, addresses)?;
        // Results that are inputs are shared now, so that none of them is taken over.
        let through = self.handed_through(inputs);
        self.place_outputs(results, inputs, addresses);
        for (slot, constant) in &self.constants {
            // Never written: a rule of the verifier.
            addresses[*slot] = constant.as_ptr().cast_mut();
        }
        let mut near = Near::new();
        let scratch = self.place_temps(&mut near, addresses);
        let stop = Stop::current();
        // A kernel that is all there is is launched again and again, without what is between steps.
        let (times, alone) = match self.steps[..] {
            [Action::Launch(_)] => (1, times),
            _ => (times, 1),
        };
        let mut run = |(number, step): (usize, &Action)| {
            stop.check()?;
            let outcome = match step {
                Action::Launch(launch) => {
                    // SAFETY: the program verified with this launch, and `addresses` are those of its slots.
                    unsafe { launch.run(&self.kernels[launch.kernel], addresses, &stop, alone) }
                }
                Action::Copy { from, to, bytes } => {
                    // SAFETY: the program verified: both slots have so many bytes, the first was written before. They
                    // are the same memory or do not overlap.
                    unsafe { copy(addresses[*from], addresses[*to], *bytes) };
                    Ok(())
                }
                Action::Call { call, slots } => {
                    let buffers: Addresses = slots.iter().map(|&slot| addresses[slot]).collect();
                    // SAFETY: the program verified: buffers have the types of the call, inputs were written before,
                    // outputs are not shared with anything that is read now.
                    unsafe { library::call(call, &buffers) }
                }
            };
            done(number);
            outcome
        };
        let outcome = (0..times).try_for_each(|_| self.steps.iter().enumerate().try_for_each(&mut run));
        self.keep(scratch);
        if let Err(error) = outcome {
            results.clear();
            return Err(*error);
        }
        if !self.is_plain {
            *results = self.answer(results, through);
        }
        Ok(())
    }

    fn place_inputs(&self, inputs: &[Input<'_>], addresses: &mut [*mut u8]) -> Result<(), RunError> {
        // Inputs after the last one that is used may be left out or not.
        if inputs.len() < self.inputs.len() {
            return Err(RunError::Count { expected: self.inputs.len(), found: inputs.len() });
        }
        for (number, (input, wanted)) in inputs.iter().zip(&self.inputs).enumerate() {
            let Some(Wanted { slot, dtype, bytes }) = *wanted else { continue };
            match input.place() {
                // So many elements, or parts of complex ones.
                Some((address, found, size)) if found.real() == dtype && size == bytes => {
                    // Read only, unless an output takes it over.
                    addresses[slot] = address.cast_mut();
                }
                place => {
                    let found = place.map(|(_, dtype, bytes)| (dtype, bytes / dtype.size()));
                    let expected = (dtype, bytes / dtype.size());
                    return Err(RunError::Input { input: number, expected, found });
                }
            }
        }
        Ok(())
    }

    /// Makes the slots that the program writes, in their order.
    fn place_outputs(&self, made: &mut Results, inputs: &mut [Input<'_>], addresses: &mut [*mut u8]) {
        let mut together = (self.small_outputs > 1).then(|| Together::new(self.small_outputs));
        made.reserve(self.outputs.len());
        for output in &self.outputs {
            // Each is pushed where it is made: one that comes from several places is put together in memory first, and
            // moving it from there takes as long as a small kernel.
            let address = if let Some((tensor, address)) = taken_over(output, inputs) {
                made.push(tensor);
                address
            } else if let Some(together) = together.as_mut().filter(|_| output.is_small) {
                // SAFETY: the program writes every output before it ends, or the run fails and nobody sees it.
                let (tensor, address) = unsafe { together.uninit(&output.blank) };
                made.push(tensor);
                address
            } else {
                // SAFETY: as above.
                let (tensor, address) = unsafe { output.blank.uninit() };
                made.push(tensor);
                address
            };
            addresses[output.slot] = address;
        }
    }

    /// Scratch for all temporaries. Under guard each gets memory of its own, so that none can reach into another.
    fn place_temps(&self, near: &mut Near, addresses: &mut [*mut u8]) -> SmallVec<[Tensor; 1]> {
        if self.temps.is_empty() {
            return SmallVec::new();
        }
        if self.guard {
            let place = |temp: &Temp| {
                let (tensor, address) = scratch(temp.dtype, temp.len);
                addresses[temp.slot] = address;
                tensor
            };
            return self.temps.iter().map(place).collect();
        }
        let (arena, address) = match allocated_scratch(&self.program) {
            0 => (SmallVec::new(), near.address()),
            bytes => {
                let (arena, address) = self.arenas.take(bytes);
                (SmallVec::from_buf([arena]), address)
            }
        };
        for temp in &self.temps {
            let start = temp.of.map_or(address, |output| addresses[output]);
            addresses[temp.slot] = start.wrapping_add(temp.offset);
        }
        arena
    }

    fn keep(&self, scratch: SmallVec<[Tensor; 1]>) {
        if !self.guard && !scratch.is_empty() {
            scratch.into_iter().for_each(|arena| self.arenas.give(arena));
        }
    }

    fn handed_through(&self, inputs: &[Input<'_>]) -> Results {
        if self.is_plain {
            return Results::new();
        }
        let input = |answer: &Answer| match answer {
            Answer::Input(number, shape) => {
                inputs[*number].to_tensor().map(|tensor| reshaped(&tensor, shape))
            }
            Answer::Output(..) | Answer::Constant(_) => None,
        };
        self.results.iter().filter_map(input).collect()
    }

    /// The results, which are not just what was made.
    fn answer(&self, made: &Results, through: Results) -> Results {
        let mut through = through.into_iter();
        let answer = |answer: &Answer| match answer {
            Answer::Output(number, shape) => reshaped(&made[*number], shape),
            Answer::Input(..) => through.next().expect("every input handed through was cloned"),
            Answer::Constant(tensor) => tensor.clone(),
        };
        self.results.iter().map(answer).collect()
    }
}

/// The memory of a given input that nobody else refers to, as the memory of an output.
fn taken_over(output: &Output, inputs: &mut [Input<'_>]) -> Option<(Tensor, *mut u8)> {
    let input = &mut inputs[output.reuse?];
    let Input::Given(tensor) = input else { return None };
    if tensor.dtype() != output.blank.dtype() || tensor.size_bytes() != output.blank.bytes() {
        return None;
    }
    tensor.unique_ptr()?;
    let Input::Given(tensor) = std::mem::replace(input, Input::Taken) else { return None };
    let shape = output.blank.shape();
    let mut tensor = if tensor.shape() == shape { *tensor } else { owned_reshape(*tensor, shape) };
    let address = tensor.unique_ptr()?;
    Some((tensor, address))
}

/// The same memory in another shape; the old tensor is gone afterwards.
fn owned_reshape(tensor: Tensor, shape: &Shape) -> Tensor {
    reshaped(&tensor, shape)
}

/// A constant of a program as a result: complex again, if it is.
fn typed(tensor: &Tensor, dtype: DType, shape: &Shape) -> Tensor {
    let (_, parts) = in_memory(dtype, shape);
    let tensor = reshaped(tensor, &parts);
    if dtype.is_complex() { Tensor::from_parts(tensor) } else { tensor }
}

fn reshaped(tensor: &Tensor, shape: &Shape) -> Tensor {
    if tensor.shape() == shape {
        return tensor.clone();
    }
    tensor.reshape(shape).expect("shapes were checked when the executable was made")
}
