//! Elements at places that arrays name, and random numbers. Sorting and scans are in the group `heavy`.

use tracewell::prelude::*;

use super::ROUNDING;
use crate::beside::{Program, in_numpy, program};
use crate::inputs::{floats, on, places, words};

const MILLION: usize = 1_000_000;
const TABLE: usize = 100_000;

pub(super) const PROGRAMS: &[Program] = &[
    in_numpy("gather_1e6", 1e-12, || on(gathered(), |[x, at]| x.take(at, 0))),
    program("gather_1e6_in_bounds", 1e-12, || on(gathered(), |[x, at]| x.at(at).clip().get())),
    in_numpy("gather_rows_1e6x16", 1e-12, || {
        on([floats([TABLE, 16], 3), places(MILLION, TABLE, 4)], |[x, at]| x.take(at, 0))
    }),
    in_numpy("scatter_add_1e6", ROUNDING, || {
        on([Array::zeros([TABLE], F32), places(MILLION, TABLE, 2), floats([MILLION], 5)], |[x, at, y]| {
            x.at(s![at]).add(y)
        })
    }),
    in_numpy("random_normal_1e6", ROUNDING, || {
        on([words(2, 6)], |[key]| random::normal(&random::Key::from_words(key), [MILLION], F32))
    })
    .drawing(),
    in_numpy("random_uniform_1e6", 1e-12, || {
        on([words(2, 6)], |[key]| random::uniform(&random::Key::from_words(key), [MILLION], F32))
    })
    .drawing(),
];

fn gathered() -> [Array; 2] {
    [floats([TABLE], 1), places(MILLION, TABLE, 2)]
}
