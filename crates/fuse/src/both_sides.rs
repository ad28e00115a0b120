//! Products with both sides of a large matrix, and what is between them, become one kernel: it reads the matrix once.
//!
//! In a loop they are statements of one kernel anyway.

use std::ops::RangeInclusive;
use std::sync::Arc;

use tracewell_kernel::{
    BothSides, Gemm, Kernel, KernelBuilder, Library, LibraryCall, Program, Role, SlotId, Step,
};

use crate::link::{Place, call_on, inline};

/// Elements of a matrix from which on it counts how often it is read: smaller ones stay in caches.
const LARGE: usize = 1 << 18;
/// Elements of a row that is read with others before the next ones.
const LONG: RangeInclusive<usize> = 64..=2048;

/// Joins steps of a program, and what is known of each.
pub(crate) fn both_sides(program: &mut Program, groups: &mut Vec<Vec<usize>>) {
    let (mut at, kernels) = (0, program.kernels.len());
    while at + 2 < program.steps.len() {
        if let Some((kernel, slots)) = joined(program, at) {
            let (number, sizes) = (program.kernels.len(), Vec::new());
            program.kernels.push(Arc::new(kernel));
            let launch = Step::Launch { kernel: number, slots, sizes, cost: 1 };
            program.steps.splice(at..at + 3, [launch]);
            let mut group: Vec<usize> = groups.drain(at + 1..at + 3).flatten().collect();
            group.append(&mut groups[at]);
            group.sort_unstable();
            group.dedup();
            groups[at] = group;
        }
        at += 1;
    }
    if program.kernels.len() > kernels {
        drop_unused(program);
    }
}

/// Three steps as a kernel, and the slots of its parameters.
fn joined(program: &Program, at: usize) -> Option<(Kernel, Vec<SlotId>)> {
    let [first, between, second] = program.steps.get(at..at + 3)? else { return None };
    let (Some((of_first, first)), Some((of_second, second))) = (product(first), product(second)) else {
        return None;
    };
    let Step::Launch { kernel, slots: of_between, sizes, cost } = between else { return None };
    let Library::Gemm(gemm) = first.library else { return None };
    let is_large = gemm.m.saturating_mul(gemm.n).saturating_mul(gemm.k) >= LARGE && LONG.contains(&gemm.k);
    // Where it is no function of its own, what is between them is done on one thread.
    let is_little = *cost as usize <= gemm.k;
    let is_taken_over = |slot: &SlotId| matches!(program.slot(*slot).role, Role::Output { reuse: Some(_) });
    let all = || of_first.iter().chain(of_between).chain(of_second);
    if !is_large || !is_little || all().any(is_taken_over) {
        return None;
    }
    let between = &program.kernels[*kernel];
    let mut slots: Vec<SlotId> = all().copied().collect();
    slots.sort_unstable_by_key(|slot| slot.0);
    slots.dedup();
    let is_written = |slot: SlotId| {
        let by_between =
            of_between.iter().zip(&between.params).any(|(id, param)| *id == slot && param.written);
        by_between || [of_first, of_second].iter().any(|slots| slots.last() == Some(&slot))
    };
    let mut b = KernelBuilder::new();
    let mut place = |slot: SlotId| {
        let of = program.slot(slot);
        let buffer = if is_written(slot) { b.own_param(of.dtype) } else { b.param(of.dtype, false) };
        Place::whole(buffer, of.dtype, of.len)
    };
    let places: Vec<(SlotId, Place)> = slots.iter().map(|&slot| (slot, place(slot))).collect();
    let of = |slot: &SlotId| {
        let place = places.iter().find(|(id, _)| id == slot).map(|(_, place)| place.clone());
        place.expect("every slot has a place")
    };
    let on = |slots: &[SlotId]| slots.iter().map(|slot| (of(slot), false)).collect::<Vec<_>>();
    call_on(&mut b, first, on(of_first));
    inline(&mut b, between, &of_between.iter().map(of).collect::<Vec<_>>(), sizes, false);
    call_on(&mut b, second, on(of_second));
    let kernel = b.finish(format!("{}_between_products", between.name));
    BothSides::of(&kernel.body.stmts.iter().collect::<Vec<_>>()).is_some().then_some((kernel, slots))
}

/// The slots of a step that is a product with a vector.
fn product(step: &Step) -> Option<(&[SlotId], &LibraryCall)> {
    match step {
        Step::Call { call, slots } => {
            matches!(&call.library, Library::Gemm(gemm) if Gemm::with_vector(gemm).is_some())
                .then_some((slots, call))
        }
        _ => None,
    }
}

/// Removes kernels that nothing launches any more.
fn drop_unused(program: &mut Program) {
    let mut numbers: Vec<Option<usize>> = vec![None; program.kernels.len()];
    let mut kept = Vec::with_capacity(program.kernels.len());
    for step in &mut program.steps {
        if let Step::Launch { kernel, .. } = step {
            *kernel = *numbers[*kernel].get_or_insert_with(|| {
                kept.push(Arc::clone(&program.kernels[*kernel]));
                kept.len() - 1
            });
        }
    }
    program.kernels = kept;
}
