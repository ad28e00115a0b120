//! The `f64` machine code of a function against the stored results.

use tracewell_array::{DType, Tensor};
use tracewell_kernel::math::Function;

use super::{Machine, Point, error_f64, points};

/// The largest error of a function that was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// In units in the last place.
    pub error: f64,
    /// The arguments, for people.
    pub at: String,
    /// How many stored results there are.
    pub points: usize,
}

/// The largest error of a function in `f64` on the stored results, compiled.
pub fn f64_error(function: &Function) -> Result<Seen, String> {
    largest(function, Machine::run)
}

/// The same in the evaluator of the kernel language.
pub fn f64_error_evaluated(function: &Function) -> Result<Seen, String> {
    largest(function, Machine::evaluate)
}

fn largest(
    function: &Function,
    f: impl Fn(&Machine, &[Tensor]) -> Result<Tensor, String>,
) -> Result<Seen, String> {
    let points = points(function.name);
    let machine = Machine::new(function, DType::F64, points.len())?;
    let argument = |number: usize| Tensor::from_fn([points.len()], |i| points[i].arguments[number]);
    let arguments: Vec<Tensor> = (0..function.arity()).map(argument).collect();
    let results = f(&machine, &arguments)?;
    let results = results.as_slice::<f64>().map_err(|error| error.to_string())?;
    let mut seen = Seen { error: 0.0, at: "–".to_owned(), points: points.len() };
    for (Point { arguments, exact }, &got) in points.iter().zip(results) {
        let floor = function.floor.map_or(0.0, |floor| floor(arguments[0]));
        let error = error_f64(got, exact.value, exact.rest, floor);
        if error > seen.error {
            let show = |x: &f64| format!("`{:#018x}` ({x:e})", x.to_bits());
            let at: Vec<String> = arguments.iter().map(show).collect();
            seen = Seen { error, at: at.join(", "), ..seen };
        }
    }
    Ok(seen)
}
