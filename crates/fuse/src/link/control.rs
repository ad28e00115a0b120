//! The loops and branches of control flow, with the programs of its graphs between them.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;
use tracewell_array::{DType, Literal, Tensor};
use tracewell_graph::prim::{Each, Scan, Switch, While};
use tracewell_graph::{ArrayType, Control, Graph};
use tracewell_kernel::{Comparison, Kernel, KernelBuilder, Op, Program, Role, Size, Step, Value};

use super::bands::{Banded, Cut};
use super::body::Linker;
use super::place::{Place, copy};
use super::{Given, SMALL};
use crate::donate::may_take;
use crate::error::FuseError;
use crate::{Options, unplaced};

/// How often a `while` is taken to run.
const WHILE_TRIPS: u64 = 64;
/// Nanoseconds that a library call is taken to last.
const CALL: u64 = 2_000;

/// The programs of the graphs of control flow, in the order of its parameters.
pub(crate) fn programs(control: &Control, fusion: bool) -> Result<Vec<Program>, FuseError> {
    let graphs: Vec<&Arc<Graph>> = match control {
        Control::Switch(switch) => switch.branches.iter().collect(),
        Control::While(repeat) => vec![&repeat.cond, &repeat.body],
        Control::Scan(scan) => vec![&scan.body],
        Control::Each(each) => vec![&each.graph],
    };
    let options = Options { donated: Vec::new(), fusion, bands: None };
    graphs.into_iter().map(|graph| Ok(unplaced(graph, &options)?.0)).collect()
}

/// Writes the kernel of control flow, or of a scan in bands. Returns it with the constants that are parameters after its
/// operands, and its cost.
pub(crate) fn write(
    control: &Control,
    banded: Option<&Banded>,
    programs: &[Program],
    inputs: &[Given],
    outputs: &[ArrayType],
) -> (Kernel, Vec<Tensor>, u32) {
    let mut b = KernelBuilder::new();
    let array = |given: &Given| match given {
        Given::Array(ty, offset) => {
            let whole = Place::whole(b.param(ty.dtype, false), ty.dtype, ty.shape.len());
            Some(Place { offset: *offset, ..whole })
        }
        Given::Literal(..) => None,
    };
    let arrays: Vec<Option<Place>> = inputs.iter().map(array).collect();
    let mut tensors = Vec::new();
    let mut constants: Vec<Vec<Option<Place>>> = Vec::new();
    for program in programs {
        let place = |slot: &tracewell_kernel::Slot| match &slot.role {
            Role::Constant(tensor) if !is_literal(tensor) => {
                tensors.push(tensor.clone());
                Some(Place::whole(b.param(slot.dtype, false), slot.dtype, slot.len))
            }
            _ => None,
        };
        constants.push(program.slots.iter().map(place).collect());
    }
    let results: Vec<Place> =
        outputs.iter().map(|ty| Place::whole(b.own_param(ty.dtype), ty.dtype, ty.shape.len())).collect();
    let in_each = banded.is_some() || matches!(control, Control::Each(each) if !each.graph.has_effect());
    let params = arrays.iter().flatten().count() + tensors.len() + results.len();
    let mut linker = Linker { b, params, constants, in_each };
    let operand = |(array, given): (Option<Place>, &Given)| match (array, given) {
        (Some(place), _) => Input::Array(place),
        (None, Given::Literal(literal, len)) => Input::Literal(*literal, *len),
        (None, Given::Array(..)) => unreachable!("arrays have places"),
    };
    let operands: Vec<Input> = arrays.into_iter().zip(inputs).map(operand).collect();
    let cost = match control {
        Control::Switch(switch) => linker.switch(switch, programs, &operands, &results),
        Control::While(repeat) => linker.repeat(repeat, programs, &operands, &results),
        Control::Scan(scan) => match banded {
            Some(banded) => linker.bands(banded, &programs[0], &operands, &results),
            None => linker.scan(scan, &programs[0], &operands, &results, None),
        },
        Control::Each(each) => linker.each(each, &programs[0], &operands, &results),
    };
    let name = match control {
        Control::Switch(_) => "switch",
        Control::While(_) => "while",
        Control::Scan(_) => "scan",
        Control::Each(_) => "each",
    };
    (linker.b.finish(name), tensors, u32::try_from(cost).unwrap_or(u32::MAX).max(1))
}

/// The rows that are written, of a scan in bands of rows.
struct Band<'a> {
    number: Value,
    count: usize,
    /// As [`Cut::Rows`] has it.
    cut: &'a [bool],
}

/// An operand where a kernel finds it.
#[derive(Clone)]
enum Input {
    Array(Place),
    Literal(Literal, usize),
}

/// Whether a constant is written into the kernel, element by element.
fn is_literal(tensor: &Tensor) -> bool {
    tensor.len() <= SMALL
}

impl Linker {
    /// Puts the small constants of a program into memory of the kernel's own.
    fn literals(&mut self, number: usize, program: &Program) {
        for (i, slot) in program.slots.iter().enumerate() {
            let Role::Constant(tensor) = &slot.role else { continue };
            if !is_literal(tensor) {
                continue;
            }
            let place = Place::whole(self.b.local(slot.dtype, slot.len), slot.dtype, slot.len);
            for (e, literal) in tensor.literals().enumerate() {
                let value = self.b.literal(literal);
                self.b.store(place.buffer, place.at(e as i64), value);
            }
            self.constants[number][i] = Some(place);
        }
    }

    /// The operands as arrays: literals get memory.
    fn arrays(&mut self, inputs: &[Input]) -> Vec<Place> {
        let array = |input: &Input| match input {
            Input::Array(place) => place.clone(),
            Input::Literal(literal, len) => {
                let place = Place::whole(self.b.local(literal.dtype(), *len), literal.dtype(), *len);
                let value = self.b.literal(*literal);
                (0..*len).for_each(|i| self.b.store(place.buffer, place.at(i as i64), value));
                place
            }
        };
        inputs.iter().map(array).collect()
    }

    /// Small arrays are copied, so that they are values from here on.
    fn near(&mut self, place: &Place) -> Place {
        if place.len > SMALL {
            return place.clone();
        }
        let near = self.memory(place);
        copy(&mut self.b, place, &near);
        near
    }

    fn all_near(&mut self, places: &[Place]) -> Vec<Place> {
        places.iter().map(|place| self.near(place)).collect()
    }

    /// Memory for what is carried, with the first values in it: small arrays near, others in their results.
    fn carried(&mut self, init: &[Place], results: &[Place]) -> Vec<Place> {
        let memory = |(init, result): (&Place, &Place)| {
            let place = if init.len <= SMALL { self.memory(init) } else { result.clone() };
            copy(&mut self.b, init, &place);
            place
        };
        init.iter().zip(results).map(memory).collect()
    }

    /// Applies a body to what is carried. Its other results are put at the places in `made`.
    fn turn(
        &mut self,
        number: usize,
        program: &Program,
        consts: &[Place],
        carried: &[Place],
        elements: &[Place],
        made: &[Place],
    ) {
        let inputs: Vec<Place> = [consts, carried, elements].concat();
        let mut taken = Vec::new();
        let wanted: Vec<Option<Place>> = program
            .results
            .iter()
            .enumerate()
            .map(|(r, slot)| {
                // A slot that is several results is made at one place and copied to the others.
                if taken.contains(slot) {
                    return None;
                }
                let place = match carried.get(r) {
                    Some(place) => may_take(program, *slot, consts.len() + r).then(|| place.clone()),
                    None => made.get(r - carried.len()).cloned(),
                };
                if place.is_some() {
                    taken.push(*slot);
                }
                place
            })
            .collect();
        let found = self.run(number, program, &inputs, &wanted);
        let (next, others) = found.split_at(carried.len());
        others.iter().zip(made).for_each(|(from, to)| copy(&mut self.b, from, to));
        // What is carried on may be something carried that is about to be overwritten.
        let next: Vec<Place> = next
            .iter()
            .zip(carried)
            .map(|(from, to)| {
                if from == to || !carried.contains(from) {
                    return from.clone();
                }
                let aside = self.memory(from);
                copy(&mut self.b, from, &aside);
                aside
            })
            .collect();
        next.iter().zip(carried).for_each(|(from, to)| copy(&mut self.b, from, to));
    }

    /// All bands of a scan, each for itself.
    fn bands(&mut self, banded: &Banded, program: &Program, operands: &[Input], results: &[Place]) -> u64 {
        let mut b = std::mem::take(&mut self.b);
        let mut cost = 0;
        b.each(Size::Const(banded.count as i64), |b, number| {
            let (scan, count) = (&banded.scan, banded.count);
            self.with(b, |linker| {
                cost = match &banded.cut {
                    Cut::Rows(cut) => {
                        let band = Band { number, count, cut };
                        linker.scan(scan, program, operands, results, Some(&band))
                    }
                    Cut::Turns => {
                        let of_band = |input: &Input| match input {
                            Input::Array(place) => Input::Array(place.part(number, count)),
                            Input::Literal(literal, len) => Input::Literal(*literal, len / count),
                        };
                        let (whole, elements) = operands.split_at(scan.consts);
                        let operands: Vec<Input> =
                            whole.iter().cloned().chain(elements.iter().map(of_band)).collect();
                        let results: Vec<Place> =
                            results.iter().map(|place| place.part(number, count)).collect();
                        linker.scan(scan, program, &operands, &results, None)
                    }
                };
            });
        });
        self.b = b;
        cost
    }

    fn scan(
        &mut self,
        scan: &Scan,
        program: &Program,
        operands: &[Input],
        results: &[Place],
        band: Option<&Band<'_>>,
    ) -> u64 {
        let operands = self.arrays(operands);
        let [consts, init, xs] = scan.groups(operands.len()).map(|group| {
            let of_band = |i: usize| (operands[i].clone(), band.filter(|band| band.cut[i]));
            group.map(of_band).collect::<Vec<_>>()
        });
        let cut = |(place, band): &(Place, Option<&Band<'_>>)| match band {
            Some(band) => place.part(band.number, band.count),
            None => place.clone(),
        };
        let [consts, init] = [consts, init].map(|group| group.iter().map(cut).collect::<Vec<_>>());
        let results: Vec<(Place, Option<&Band<'_>>)> =
            results.iter().map(|place| (place.clone(), band)).collect();
        let (last, ys) = results.split_at(scan.carries);
        let last: Vec<Place> = last.iter().map(cut).collect();
        self.literals(0, program);
        let consts = self.all_near(&consts);
        let carried = self.carried(&init, &last);
        let unroll = scan.unroll.clamp(1, scan.length.max(1));
        let (groups, rest) = (scan.length / unroll, scan.length % unroll);
        let turns = |linker: &mut Linker, group: Option<Value>, numbers: Range<usize>| {
            for k in numbers {
                let number = group.map(|group| (group, unroll as i64));
                let part = |(place, band): &(Place, Option<&Band<'_>>)| {
                    cut(&(place.part_at(scan.length, number, k as i64, scan.reverse), *band))
                };
                let elements: Vec<Place> = xs.iter().map(part).collect();
                let elements = linker.all_near(&elements);
                let made: Vec<Place> = ys.iter().map(part).collect();
                linker.turn(0, program, &consts, &carried, &elements, &made);
            }
            linker.b.poll();
        };
        // A loop without turns is not written: its elements would have no place.
        if groups > 0 {
            let mut b = std::mem::take(&mut self.b);
            b.for_loop(Size::Const(groups as i64), &[], |b, group, _| {
                self.with(b, |linker| turns(linker, Some(group), 0..unroll));
                SmallVec::new()
            });
            self.b = b;
        }
        if rest > 0 {
            turns(self, None, scan.length - rest..scan.length);
        }
        for (number, (from, to)) in carried.iter().zip(&last).enumerate() {
            // What bands have without rows nobody reads.
            if band.is_none_or(|band| band.cut[scan.consts + number]) {
                copy(&mut self.b, from, to);
            }
        }
        cost(program).saturating_mul(scan.length as u64)
    }

    fn repeat(&mut self, repeat: &While, programs: &[Program], operands: &[Input], results: &[Place]) -> u64 {
        let operands = self.arrays(operands);
        let (cond_consts, rest) = operands.split_at(repeat.cond_consts);
        let (body_consts, init) = rest.split_at(repeat.body_consts);
        let [cond, body] = programs else { unreachable!("a while has two graphs") };
        self.literals(0, cond);
        self.literals(1, body);
        let (cond_consts, body_consts) = (self.all_near(cond_consts), self.all_near(body_consts));
        let carried = self.carried(init, results);
        let mut b = std::mem::take(&mut self.b);
        let this = RefCell::new(&mut *self);
        b.while_loop(
            &[],
            |b, _| {
                this.borrow_mut().with(b, |linker| {
                    let holds = linker.run(0, cond, &[&cond_consts[..], &carried].concat(), &[None]);
                    linker.b.load(holds[0].buffer, holds[0].at(0))
                })
            },
            |b, _| {
                this.borrow_mut().with(b, |linker| {
                    linker.turn(1, body, &body_consts, &carried, &[], &[]);
                    linker.b.poll();
                });
                SmallVec::new()
            },
        );
        self.b = b;
        for (from, to) in carried.iter().zip(results) {
            copy(&mut self.b, from, to);
        }
        (cost(cond) + cost(body)).saturating_mul(WHILE_TRIPS)
    }

    fn switch(
        &mut self,
        switch: &Switch,
        programs: &[Program],
        operands: &[Input],
        results: &[Place],
    ) -> u64 {
        let operands = self.arrays(operands);
        let (index, operands) = operands.split_first().expect("a switch has an index");
        let index = self.b.load(index.buffer, index.at(0));
        let index = self.b.op(Op::Convert(DType::I64), &[index]);
        let index = self.b.op(Op::Clamp(Size::Const(switch.branches.len() as i64)), &[index]);
        self.branches(index, 0, programs, operands, results);
        programs.iter().map(cost).max().unwrap_or(0)
    }

    /// The branches from number `first` on.
    fn branches(
        &mut self,
        index: Value,
        first: usize,
        programs: &[Program],
        operands: &[Place],
        results: &[Place],
    ) {
        if first + 1 == programs.len() {
            return self.branch(first, &programs[first], operands, results);
        }
        let mut b = std::mem::take(&mut self.b);
        let number = b.constant(first as i64);
        let is_it = b.compare(Comparison::Eq, index, number);
        let this = RefCell::new(&mut *self);
        b.if_else(
            is_it,
            |b| {
                this.borrow_mut().with(b, |l| l.branch(first, &programs[first], operands, results));
                SmallVec::new()
            },
            |b| {
                this.borrow_mut().with(b, |l| l.branches(index, first + 1, programs, operands, results));
                SmallVec::new()
            },
        );
        self.b = b;
    }

    fn branch(&mut self, number: usize, program: &Program, operands: &[Place], results: &[Place]) {
        self.literals(number, program);
        self.turn(number, program, operands, &[], &[], results);
    }

    fn each(&mut self, each: &Each, program: &Program, operands: &[Input], results: &[Place]) -> u64 {
        if each.size == 0 {
            return 0;
        }
        let mut b = std::mem::take(&mut self.b);
        let size = Size::Const(each.size as i64);
        let turn = |this: &mut Linker, b: &mut KernelBuilder, i: Value| {
            this.with(b, |linker| {
                linker.literals(0, program);
                let operands = linker.arrays(operands);
                let along = |place: &Place, axis: i64| match axis {
                    -1 => place.clone(),
                    0 => place.part(i, each.size),
                    _ => place.lane(i, each.size),
                };
                let inputs: Vec<Place> = operands.iter().zip(&each.axes).map(|(p, &a)| along(p, a)).collect();
                let inputs = linker.all_near(&inputs);
                let made: Vec<Place> =
                    results.iter().zip(&each.out_axes).map(|(p, &a)| along(p, a)).collect();
                linker.turn(0, program, &inputs, &[], &[], &made);
            });
        };
        if each.graph.has_effect() {
            // One after the other: effects have an order.
            b.for_loop(size, &[], |b, i, _| {
                turn(self, b, i);
                SmallVec::new()
            });
        } else {
            b.each(size, |b, i| turn(self, b, i));
        }
        self.b = b;
        cost(program)
    }

    /// Works with a builder that somebody else holds.
    fn with<T>(&mut self, b: &mut KernelBuilder, work: impl FnOnce(&mut Linker) -> T) -> T {
        std::mem::swap(&mut self.b, b);
        let result = work(self);
        std::mem::swap(&mut self.b, b);
        result
    }
}

/// Nanoseconds that a program takes on one thread.
fn cost(program: &Program) -> u64 {
    let step = |step: &Step| match step {
        Step::Launch { kernel, sizes, cost, .. } => {
            let extent =
                program.kernels[*kernel].parallel_extent().map_or(1, |extent| extent.get(sizes).max(1));
            u64::from(*cost).saturating_mul(extent as u64)
        }
        Step::Copy { .. } => 1,
        Step::Call { .. } => CALL,
    };
    program.steps.iter().map(step).fold(1, u64::saturating_add)
}
