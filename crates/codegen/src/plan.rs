//! Whether a loop becomes a vector loop.
//!
//! A plan never changes a result, only the time it takes: `each` and `reduce` mean the same at every width.
//! The body may have loops of its own: their extents are the same in every lane. Branches and `while` loops
//! whose condition differs between lanes run for all lanes under a mask, if they store nothing.

use smallvec::SmallVec;
use tracewell_array::DType;
use tracewell_kernel::{BufferId, Index, Kernel, Op, Region, Size, Stmt, Value};

use crate::hoist::{Iterations, invariant, is_straight};
use crate::lanes::{LANES, is_wide};
use crate::target::Features;
use crate::vector::{is_native, operand_dtype};
use crate::wide;

/// How often a loop is taken to run if nothing is known.
const TRIPS: f64 = 64.0;
/// The same for a `while`, whose lanes also wait for each other.
const WHILE_TRIPS: f64 = 16.0;

/// What calling wide code and adding up its lanes costs, in simple instructions.
const WIDE_CALL: f64 = 48.0;
/// How many simple instructions one of its instructions counts for: fewer of them are done at a time, and elements
/// that are no neighbours take several.
const WIDE_STEP: f64 = 2.0;

/// How a loop is vectorised.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Which values differ between lanes.
    pub(crate) laned: Vec<bool>,
    /// Estimated cost of the body for four elements, in simple instructions.
    pub(crate) cost: f64,
}

/// Plans a vector loop over `var`, or says that without one it is as fast. `hoisted` statements are done before
/// the loop.
pub(crate) fn plan(
    kernel: &Kernel,
    features: Features,
    var: Value,
    body: &Region,
    hoisted: &[bool],
) -> Option<Plan> {
    let laned = laned(kernel, var, body);
    let mut planner = Planner { kernel, features, laned, ramps: vec![var], masked: false };
    let cost = planner.stmts(body, hoisted)?;
    (cost.vector < cost.scalar * LANES as f64).then_some(Plan { laned: planner.laned, cost: cost.vector })
}

/// Which values differ between the iterations of a loop over `var`.
pub(crate) fn laned(kernel: &Kernel, var: Value, body: &Region) -> Vec<bool> {
    let mut laned = vec![false; kernel.values.len()];
    laned[var.0 as usize] = true;
    while mark(body, &mut laned) {}
    laned
}

/// Finds values that differ between lanes because others do; says whether it found any.
fn mark(region: &Region, laned: &mut [bool]) -> bool {
    let mut found = false;
    for stmt in &region.stmts {
        let mut outs: SmallVec<[(Value, bool); 4]> = SmallVec::new();
        let is = |laned: &[bool], value: Value| laned[value.0 as usize];
        match stmt {
            Stmt::Op { out, args, .. } => outs.push((*out, args.iter().any(|&arg| is(laned, arg)))),
            Stmt::Load { out, index, .. } => {
                outs.push((*out, index.terms.iter().any(|&(value, _)| is(laned, value))));
            }
            Stmt::Store { .. } | Stmt::Call { .. } | Stmt::Poll => {}
            Stmt::Each { body, .. } => found |= mark(body, laned),
            Stmt::For { carries, body, .. } => {
                found |= mark(body, laned);
                for (carry, &next) in carries.iter().zip(&body.yields) {
                    let differs = is(laned, carry.init) || is(laned, next);
                    outs.extend([(carry.inside, differs), (carry.out, differs)]);
                }
            }
            Stmt::While { carries, cond, body } => {
                found |= mark(cond, laned);
                found |= mark(body, laned);
                // Lanes that stop at different times have different values.
                let stops = cond.yields.iter().any(|&value| is(laned, value));
                for (carry, &next) in carries.iter().zip(&body.yields) {
                    let differs = stops || is(laned, carry.init) || is(laned, next);
                    outs.extend([(carry.inside, differs), (carry.out, differs)]);
                }
            }
            Stmt::Reduce { accumulators, body, .. } => {
                found |= mark(body, laned);
                outs.extend(
                    accumulators.iter().zip(&body.yields).map(|(a, &value)| (a.out, is(laned, value))),
                );
            }
            Stmt::If { cond, outs: results, then, otherwise } => {
                found |= mark(then, laned);
                found |= mark(otherwise, laned);
                let yields = then.yields.iter().zip(&otherwise.yields);
                for (&out, (&a, &b)) in results.iter().zip(yields) {
                    outs.push((out, is(laned, *cond) || is(laned, a) || is(laned, b)));
                }
            }
        }
        for (out, differs) in outs {
            if differs && !is(laned, out) {
                laned[out.0 as usize] = true;
                found = true;
            }
        }
    }
    found
}

/// Whether what an operation gives is one more in each lane: a ramp plus or minus something steady is a ramp.
pub(crate) fn is_ramp(op: Op, args: &[Value], ramps: &[Value], laned: &[bool]) -> bool {
    let is_ramp = |value: Value| ramps.contains(&value);
    let is_steady = |value: Value| !laned[value.0 as usize];
    match (op, args) {
        (Op::Add, &[a, b]) => (is_ramp(a) && is_steady(b)) || (is_steady(a) && is_ramp(b)),
        (Op::Sub, &[a, b]) => is_ramp(a) && is_steady(b),
        _ => false,
    }
}

/// How an access changes from one lane to the next.
enum Stride {
    /// Not at all.
    Same,
    /// To the next element.
    Next,
    /// By a fixed number of elements.
    Apart,
    /// In any way.
    Anywhere,
}

/// Simple instructions of a part: for one element without this vector loop, and for four with it.
#[derive(Clone, Copy, Default)]
struct Cost {
    scalar: f64,
    vector: f64,
}

impl Cost {
    fn new(scalar: u32, vector: u32) -> Cost {
        Cost { scalar: f64::from(scalar), vector: f64::from(vector) }
    }

    fn plus(self, other: Cost) -> Cost {
        Cost { scalar: self.scalar + other.scalar, vector: self.vector + other.vector }
    }

    fn times(self, n: f64) -> Cost {
        Cost { scalar: self.scalar * n, vector: self.vector * n }
    }
}

struct Planner<'k> {
    kernel: &'k Kernel,
    features: Features,
    laned: Vec<bool>,
    /// Values that are one more in each lane.
    ramps: Vec<Value>,
    /// Whether some lanes may not be meant here.
    masked: bool,
}

impl Planner<'_> {
    fn is_laned(&self, value: Value) -> bool {
        self.laned[value.0 as usize]
    }

    fn stmts(&mut self, region: &Region, hoisted: &[bool]) -> Option<Cost> {
        let mut rest = region.stmts.iter().zip(hoisted).filter(|(_, hoisted)| !**hoisted);
        rest.try_fold(Cost::default(), |cost, (stmt, _)| Some(cost.plus(self.stmt(stmt)?)))
    }

    fn region(&mut self, region: &Region) -> Option<Cost> {
        region.stmts.iter().try_fold(Cost::default(), |cost, stmt| Some(cost.plus(self.stmt(stmt)?)))
    }

    /// The cost of a statement; `None` if it cannot be in a vector loop.
    fn stmt(&mut self, stmt: &Stmt) -> Option<Cost> {
        Some(match stmt {
            Stmt::Op { out, op, args } => self.op(*out, *op, args),
            Stmt::Load { buffer, index, .. } => self.access(*buffer, &self.stride(index)),
            Stmt::Store { buffer, index, .. } => {
                let stride = self.stride(index);
                let local = buffer.0 as usize >= self.kernel.params.len();
                // A stack buffer may be scratch that each iteration has to itself.
                if self.masked || (local && !matches!(stride, Stride::Next | Stride::Apart)) {
                    return None;
                }
                self.access(*buffer, &stride)
            }
            Stmt::Each { var, extent, body } => {
                let cost = self.region(body)?;
                self.inner(cost, *var, *extent, body)
            }
            Stmt::Reduce { var, extent, accumulators, body } => {
                // Lanes of accumulators are in memory.
                let sums = accumulators.len() as u32;
                let cost = self.region(body)?.plus(Cost::new(2 * sums, 4 * sums));
                self.inner(cost, *var, *extent, body)
            }
            Stmt::For { extent, body, .. } => self.region(body)?.times(trips(*extent)),
            Stmt::While { cond, body, .. } => {
                let outer = self.masked;
                self.masked |= cond.yields.iter().any(|&value| self.is_laned(value));
                let cost = self.region(cond)?.plus(self.region(body)?);
                self.masked = outer;
                cost.times(WHILE_TRIPS)
            }
            Stmt::If { cond, then, otherwise, .. } => {
                let outer = self.masked;
                self.masked |= self.is_laned(*cond);
                let (a, b) = (self.region(then)?, self.region(otherwise)?);
                self.masked = outer;
                // One of the sides is done for one element, both of them for four.
                Cost { scalar: 2.0 + (a.scalar + b.scalar) / 2.0, vector: 2.0 + a.vector + b.vector }
            }
            Stmt::Call { .. } => return None,
            Stmt::Poll => Cost::new(1, 1),
        })
    }

    /// The cost of all iterations of a loop inside, which could be a vector loop instead of this one.
    fn inner(&self, cost: Cost, var: Value, extent: Size, body: &Region) -> Cost {
        let trips = trips(extent);
        let mut all = cost.times(trips);
        if is_straight(body) && trips > 8.0 {
            let hoisted = invariant(self.kernel, body, &[var], Iterations::Independent);
            if let Some(plan) = plan(self.kernel, self.features, var, body, &hoisted) {
                all.scalar = plan.cost * trips / LANES as f64;
            }
            if let Some(level) = self.features.wide
                && wide::takes(self.kernel, level, var, body, &hoisted)
            {
                let steps = trips / level.lanes() as f64;
                all.scalar = all.scalar.min(WIDE_CALL + WIDE_STEP * cost.scalar * steps);
            }
        }
        all
    }

    fn op(&mut self, out: Value, op: Op, args: &[Value]) -> Cost {
        let dtypes: SmallVec<[DType; 3]> = args.iter().map(|&arg| self.kernel.dtype(arg)).collect();
        let dtype = operand_dtype(op, &dtypes);
        let once = weight(op, dtype.is_float());
        if !self.is_laned(out) {
            return Cost::new(once, once);
        }
        if is_ramp(op, args, &self.ramps, &self.laned) {
            self.ramps.push(out);
            return Cost::new(once, once);
        }
        let uniform_last = args.last().is_some_and(|&arg| !self.is_laned(arg));
        let vectors = if is_wide(dtype) || is_wide(self.kernel.dtype(out)) { 2 } else { 1 };
        let vector = if is_native(op, dtype, uniform_last, self.features) {
            once * vectors
        } else {
            // Each lane is taken out, computed and put back.
            LANES as u32 * (once + 1 + args.len() as u32)
        };
        Cost::new(once, vector)
    }

    fn access(&self, buffer: BufferId, stride: &Stride) -> Cost {
        let dtype = self.kernel.buffer_dtype(buffer);
        let vector = match stride {
            Stride::Same => 1,
            Stride::Next if dtype.size() == 1 => 4,
            Stride::Next if is_wide(dtype) => 2,
            Stride::Next => 1,
            // Four scalars that are put together, or taken apart: rows that are far apart are better walked one by one.
            Stride::Apart => 8,
            Stride::Anywhere => 10,
        };
        Cost::new(1, vector)
    }

    fn stride(&self, index: &Index) -> Stride {
        let mut step = Some(0);
        for &(value, scale) in &index.terms {
            match scale {
                _ if !self.is_laned(value) => {}
                Size::Const(n) if self.ramps.contains(&value) => step = step.map(|step| step + n),
                _ => step = None,
            }
        }
        match step {
            Some(0) => Stride::Same,
            Some(1) => Stride::Next,
            Some(_) => Stride::Apart,
            None => Stride::Anywhere,
        }
    }
}

fn trips(extent: Size) -> f64 {
    match extent {
        Size::Const(n) => n.max(0) as f64,
        Size::Param(_) => TRIPS,
    }
}

/// Simple instructions of an operation on one lane.
fn weight(op: Op, float: bool) -> u32 {
    match op {
        Op::Const(_) | Op::Size(_) | Op::Bitcast(_) => 0,
        Op::Div if float => 4,
        Op::Sqrt => 5,
        Op::Div | Op::Rem => 20,
        Op::Min | Op::Max | Op::Convert(_) => 3,
        Op::Clamp(_) => 4,
        _ => 1,
    }
}
