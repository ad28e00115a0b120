//! What users do all day, small and large: the same programs as in the Python files beside these, on the same inputs.

mod bodies;
mod calls;
mod elementwise;
mod images;
mod indexed;
mod mapped;
mod network;
mod newton;
mod products;
mod recurrence;
mod reductions;
mod transformer;

use crate::beside::Program;

/// In the order of the table.
pub(crate) const PROGRAMS: &[&[Program]] = &[
    elementwise::PROGRAMS,
    reductions::PROGRAMS,
    products::PROGRAMS,
    network::PROGRAMS,
    images::PROGRAMS,
    recurrence::PROGRAMS,
    bodies::PROGRAMS,
    mapped::PROGRAMS,
    newton::PROGRAMS,
    transformer::PROGRAMS,
    calls::PROGRAMS,
    indexed::PROGRAMS,
];

/// How far sums may be apart that were added in another order.
const ROUNDING: f64 = 1e-4;
/// How far functions may be apart that are off by a few units in the last place.
const ULPS: f64 = 1e-5;
