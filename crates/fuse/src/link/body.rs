//! A program between the loops of a linked kernel: its slots get places, its kernels are copied, its calls made.

use tracewell_kernel::{KernelBuilder, Program, Role, SlotId, Step};

use super::inline::inline;
use super::place::{Place, call_on, copy};

/// A kernel that is being linked.
pub(crate) struct Linker {
    pub(crate) b: KernelBuilder,
    /// How many buffers are the kernel's parameters.
    pub(crate) params: usize,
    /// For each program, the place of each constant slot.
    pub(crate) constants: Vec<Vec<Option<Place>>>,
    /// Whether iterations of an `each` are around.
    pub(crate) in_each: bool,
}

impl Linker {
    /// Memory for an array: a stack buffer, unless `spill` finds something better.
    pub(crate) fn memory(&mut self, like: &Place) -> Place {
        Place::whole(self.b.local(like.dtype, like.len), like.dtype, like.len)
    }

    /// Runs program number `number` on arrays at these places. Result `i` is put where `wanted` says, if it is made
    /// there; the place where each result is found afterwards is returned.
    pub(crate) fn run(
        &mut self,
        number: usize,
        program: &Program,
        inputs: &[Place],
        wanted: &[Option<Place>],
    ) -> Vec<Place> {
        let places = self.places(number, program, inputs, wanted);
        for step in &program.steps {
            let place = |slot: &SlotId| places[slot.0 as usize].clone();
            match step {
                Step::Launch { kernel, slots, sizes, .. } => {
                    let params: Vec<Place> = slots.iter().map(place).collect();
                    inline(&mut self.b, &program.kernels[*kernel], &params, sizes, self.in_each);
                }
                Step::Copy { from, to } => copy(&mut self.b, &place(from), &place(to)),
                Step::Call { call, slots } => {
                    // Buffers made inside belong to one iteration.
                    let is_shared = |place: &Place| self.in_each && (place.buffer.0 as usize) < self.params;
                    let places = slots.iter().map(place).map(|place| (place.clone(), is_shared(&place)));
                    let places = places.collect();
                    call_on(&mut self.b, call, places);
                }
            }
        }
        program.results.iter().map(|slot| places[slot.0 as usize].clone()).collect()
    }

    fn places(
        &mut self,
        number: usize,
        program: &Program,
        inputs: &[Place],
        wanted: &[Option<Place>],
    ) -> Vec<Place> {
        let mut places = Vec::with_capacity(program.slots.len());
        for (i, slot) in program.slots.iter().enumerate() {
            let result = program.results.iter().position(|id| id.0 as usize == i);
            places.push(match &slot.role {
                Role::Input(number) => inputs[*number].clone(),
                Role::Constant(_) => {
                    self.constants[number][i].clone().expect("every constant of a program has a place")
                }
                Role::Output { .. } | Role::Temp { .. } => {
                    let given = result.and_then(|r| wanted[r].clone());
                    given.unwrap_or_else(|| {
                        Place::whole(self.b.local(slot.dtype, slot.len), slot.dtype, slot.len)
                    })
                }
            });
        }
        places
    }
}
