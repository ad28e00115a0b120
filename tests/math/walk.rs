//! The `f32` machine code of one function along many arguments, beside the reference.

use tracewell_array::{DType, Tensor};
use tracewell_kernel::math::Function;

use super::error::errors_f32;
use super::pairs::{PAIRS, pair};
use super::{Machine, Reference, Tally};

/// So many arguments at once: machine code does not notice the calls, and caches hold them.
const STRETCH: usize = 1 << 13;

/// A function to be measured.
#[derive(Debug)]
pub struct Walk {
    function: Function,
    reference: Reference,
    machine: Machine,
}

impl Walk {
    /// Compiles a function.
    pub fn new(function: &Function) -> Result<Walk, String> {
        let machine = Machine::new(function, DType::F32, STRETCH)
            .map_err(|error| format!("{} does not compile: {error}", function.name))?;
        Ok(Walk { function: *function, reference: Reference::of(function), machine })
    }

    /// The function.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// What is compiled, as text.
    pub fn text(&self) -> String {
        self.machine.kernel().to_string()
    }

    /// How many arguments, or pairs of them, make a whole walk.
    #[allow(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> u64 {
        if self.function.arity() == 1 { 1 << 32 } else { PAIRS }
    }

    /// Measures the function at the arguments of these numbers below [`Walk::len`], compiled.
    #[inline]
    pub fn numbers(&self, numbers: impl Iterator<Item = u64>, tally: &mut Tally) -> Result<(), String> {
        match self.reference {
            Reference::One(_) => self.run(numbers, tally),
            Reference::Two(_) => self.run(numbers.map(pair), tally),
        }
    }

    /// Measures the function at arguments with these bits, compiled.
    #[inline]
    pub fn run(&self, bits: impl Iterator<Item = u64>, tally: &mut Tally) -> Result<(), String> {
        self.along(bits, tally, |arguments| self.machine.run(arguments))
    }

    /// The same in the evaluator of the kernel language.
    pub fn evaluate(&self, bits: impl Iterator<Item = u64>, tally: &mut Tally) -> Result<(), String> {
        self.along(bits, tally, |arguments| self.machine.evaluate(arguments))
    }

    fn along(
        &self,
        mut bits: impl Iterator<Item = u64>,
        tally: &mut Tally,
        f: impl Fn(&[Tensor]) -> Result<Tensor, String>,
    ) -> Result<(), String> {
        let mut desk =
            Desk { bits: Vec::new(), exact: Vec::new(), floor: Vec::new(), errors: vec![0.0; STRETCH] };
        loop {
            desk.bits.clear();
            desk.bits.extend(bits.by_ref().take(STRETCH));
            let len = desk.bits.len();
            if len == 0 {
                return Ok(());
            }
            // The end of the last stretch is filled with whatever.
            desk.bits.resize(STRETCH, 0);
            let bits = &desk.bits[..STRETCH];
            let argument =
                |shift: u32| Tensor::from_fn([STRETCH], |i| f32::from_bits((bits[i] >> shift) as u32));
            let arguments = match self.reference {
                Reference::One(_) => vec![argument(0)],
                Reference::Two(_) => vec![argument(32), argument(0)],
            };
            let results = f(&arguments)?;
            let results = results.as_slice::<f32>().map_err(|error| error.to_string())?;
            self.compare(&mut desk, &results[..len], tally);
        }
    }

    #[inline(always)]
    fn compare(&self, desk: &mut Desk, results: &[f32], tally: &mut Tally) {
        let Desk { bits, exact, floor, errors } = desk;
        let bits = &bits[..results.len()];
        let float = |bits: u64| f64::from(f32::from_bits(bits as u32));
        exact.clear();
        match self.reference {
            Reference::One(f) => match self.simple(bits, f) {
                Some((constant, slope)) => {
                    exact.extend(bits.iter().map(|&bits| constant + slope * float(bits)));
                }
                None => exact.extend(bits.iter().map(|&bits| f(float(bits)))),
            },
            Reference::Two(f) => exact.extend(bits.iter().map(|&bits| f(float(bits >> 32), float(bits)))),
        }
        let floor = self.function.floor.map(|f| {
            floor.clear();
            floor.extend(bits.iter().map(|&bits| f(float(bits))));
            &floor[..]
        });
        let errors = &mut errors[..results.len()];
        errors_f32(results, exact, floor, errors);
        tally.see_all(errors, bits);
    }
}

impl Walk {
    /// A constant and a slope, if the function is that simple between the ends of a stretch of neighbours; one
    /// of them is zero.
    ///
    /// Between two arguments with the same result a function that only rises or only falls is constant. Near
    /// zero, that holds of the quotient of result and argument too.
    #[inline(always)]
    fn simple(&self, bits: &[u64], f: fn(f64) -> f64) -> Option<(f64, f64)> {
        const TURNS: [&str; 6] = ["sin", "cos", "tan", "lgamma", "digamma", "trigamma"];
        let (&first, &last) = (bits.first()?, bits.last()?);
        let neighbours = last.checked_sub(first)? == bits.len() as u64 - 1;
        let (x, y) = (f64::from(f32::from_bits(first as u32)), f64::from(f32::from_bits(last as u32)));
        let small = x.abs().max(y.abs()) < 1.0 / 1024.0;
        // Infinity and NaN may be next to each other; zero has two signs.
        let numbers = x.is_finite() && y.is_finite() && x != 0.0;
        if !neighbours || !numbers || (!small && TURNS.contains(&self.function.name)) {
            return None;
        }
        let (at_x, at_y) = (f(x), f(y));
        if at_x.to_bits() == at_y.to_bits() {
            return Some((at_x, 0.0));
        }
        let slope = at_x / x;
        let linear = small && slope.is_finite() && (slope * y - at_y).abs() <= f64::EPSILON * at_y.abs();
        linear.then_some((-0.0, slope))
    }
}

/// Room for one stretch of arguments.
struct Desk {
    bits: Vec<u64>,
    exact: Vec<f64>,
    floor: Vec<f64>,
    errors: Vec<f64>,
}

/// Arguments by their bits, for people: `0x3f800000 (1)`.
pub fn show(function: &Function, bits: u64) -> String {
    let one = |bits: u64| format!("`{:#010x}` ({:e})", bits as u32, f32::from_bits(bits as u32));
    if function.arity() == 1 { one(bits) } else { format!("{}, {}", one(bits >> 32), one(bits)) }
}
