//! Elements that are two, three or four apart: loaded with those between them, and picked out of the vectors.
//!
//! Vectors lie beside each other, but for the last, which ends with the last element that is wanted: what is beyond
//! may not be memory. The first two vectors are picked from together, then what came of that and the next.

use smallvec::smallvec;
use tracewell_array::DType;

use super::Level;
use super::inst::{Class, Form, Inst, Lanes, Memory, Src, Steady};
use super::opcode::{LOAD, PICK};
use super::select::{Parts, Select};
use crate::lanes::is_wide;

/// How far apart elements may be: for more, as many instructions as there are lanes are no worse.
pub(crate) const MOST_APART: i64 = 4;

/// Whether elements of this type that are so far apart can be picked.
pub(crate) fn is_picked(level: Level, dtype: DType, step: i64) -> bool {
    level == Level::Avx512 && dtype.size() >= 4 && (2..=MOST_APART).contains(&step)
}

/// The first element of the vector of a number, counted from the first one that is wanted.
fn start(lanes: i64, step: i64, vector: i64) -> i64 {
    if vector == step - 1 { (lanes - 1) * vector } else { lanes * vector }
}

/// For each lane, where the element that it wants is in two vectors beside each other: in what was picked before, or in
/// the vector of this number.
pub(crate) fn lanes(lanes: i64, step: i64, vector: i64) -> impl Iterator<Item = i64> {
    (0..lanes).map(move |lane| {
        let element = lane * step;
        let is_before = element < lanes * vector;
        match is_before {
            true if vector == 1 => element,
            true => lane,
            // Elements of later vectors are picked later.
            false => lanes + (element - start(lanes, step, vector)).min(lanes - 1),
        }
    })
}

impl Select<'_> {
    /// Elements so far apart; `memory` is where the first of each part is.
    pub(crate) fn picked(&mut self, dtype: DType, step: i64, memory: &[Memory]) -> Parts {
        let wide = is_wide(dtype);
        let lanes = (self.level.bytes() / dtype.size()) as i64;
        let one = |&first: &Memory| {
            let mut vectors = (0..step).map(|vector| {
                let bytes = start(lanes, step, vector) * dtype.size() as i64;
                self.whole(wide, Memory { offset: first.offset + bytes as i32, ..first })
            });
            let vectors: Vec<Src> = vectors.by_ref().collect();
            (1..step).fold(vectors[0], |picked, vector| {
                let places = self.steady(Steady::Pick { wide, step: step as u8, vector: vector as u8 });
                let srcs = smallvec![picked, places, vectors[vector as usize]];
                self.push(PICK.of(wide), Form::Tied, Class::Vector, srcs, None, Lanes::All)
            })
        };
        memory.iter().map(one).collect()
    }

    /// A whole vector of neighbours.
    fn whole(&mut self, wide: bool, memory: Memory) -> Src {
        let out = self.line.reg(Class::Vector);
        self.line.insts.push(Inst {
            op: LOAD.of(wide),
            form: Form::Load,
            out: Some(out),
            srcs: smallvec![],
            constant: None,
            lanes: Lanes::All,
            memory: Some(memory),
        });
        Src::Reg(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is picked from elements that are numbered is every `step`-th number.
    #[test]
    fn each_lane_gets_its_element() {
        for (count, step) in
            [8, 16].into_iter().flat_map(|lanes| (2..=MOST_APART).map(move |step| (lanes, step)))
        {
            let vector = |number: i64| (0..count).map(move |lane| start(count, step, number) + lane);
            let mut picked: Vec<i64> = vector(0).collect();
            for number in 1..step {
                let both: Vec<i64> = picked.iter().copied().chain(vector(number)).collect();
                picked = lanes(count, step, number).map(|place| both[place as usize]).collect();
            }
            let wanted: Vec<i64> = (0..count).map(|lane| lane * step).collect();
            assert_eq!(picked, wanted, "{count} lanes, {step} apart");
            let last = vector(step - 1).next_back();
            assert_eq!(last, wanted.last().copied(), "nothing is read beyond the last element");
        }
    }
}
