//! `check_nans` and `check_compiled`: what compiled functions and primitives give is looked at when they have run.

use std::cell::Cell;

use tracewell_array::{Complex32, Complex64, DType, Tensor};
use tracewell_graph::{Graph, Location, Prim, eval};
use tracewell_trace::{Api, Error, ErrorKind, Executor, Switch};

use super::RETRACE;
use crate::stepping::{Values, result_types, step};

thread_local! {
    static NANS: Cell<usize> = const { Cell::new(0) };
    static COMPILED: Cell<usize> = const { Cell::new(0) };
}

/// On where results may be neither NaN nor infinite.
pub(crate) static CHECK_NANS: Switch = Switch::new(&NANS);

/// On where results are compared with their evaluation.
pub(crate) static CHECK_COMPILED: Switch = Switch::new(&COMPILED);

/// Runs `f`; a primitive that gives NaN or infinity, though no operand is, is an error that names it and its line.
///
/// A jitted function is compiled as a whole. Where a result of it is not finite, its primitives are run one by one to
/// find the first that gives it. What is inside of a loop is not looked at. Arguments are not given away, and jitted
/// functions are traced at every call. The check holds for what happens on the current thread.
///
/// ```
/// use tracewell::prelude::*;
///
/// let f = jit(|x: &Array| -> Result<Array> { Ok((x - 1.0).log().sum()) });
/// let x = Array::from([1.0f32, 2.0]);
/// let error = repro::check_nans(|| f.call(&x)).unwrap_err();
/// assert_eq!(error.message(), "`log` gave -inf for finite operands, first at [0]");
/// ```
pub fn check_nans<R>(f: impl FnOnce() -> R) -> R {
    RETRACE.on(|| CHECK_NANS.on(f))
}

/// Runs `f`; a result of compiled code that differs from what the reference evaluator computes is an error.
///
/// It finds mistakes of the compiler, not of programs. Floats may differ by rounding. It is slow: everything is
/// computed a second time, naively. The check holds for what happens on the current thread.
///
/// ```
/// use tracewell::prelude::*;
///
/// let f = jit(|x: &Array| x.sin().sum());
/// repro::check_compiled(|| f.call(&Array::from([1.0f32, 2.0])));
/// ```
pub fn check_compiled<R>(f: impl FnOnce() -> R) -> R {
    RETRACE.on(|| CHECK_COMPILED.on(f))
}

/// Whether results are looked at.
pub(crate) fn checks_values() -> bool {
    (CHECK_NANS.is_on() || CHECK_COMPILED.is_on()) && !super::LOOKING.is_on()
}

/// Looks at the results of a graph that was compiled as a whole.
pub(crate) fn check_graph(
    graph: &Graph,
    inputs: &[Tensor],
    results: &[Tensor],
    executor: &dyn Executor,
) -> Result<(), Error> {
    if CHECK_NANS.is_on()
        && let Some((number, result, (at, value))) = first_odd(results)
        && let Some(again) = find_odd(graph, inputs, executor)?
        && first_odd(&again).is_none()
    {
        let place = place(result, at);
        let message =
            format!("result {number} is {value} at {place}, and finite if each primitive runs alone");
        let error = Error::new(ErrorKind::Check, message).while_running();
        return Err(error.help("`repro::check_compiled` says whether compiled code is wrong"));
    }
    if CHECK_COMPILED.is_on() && !graph.has_effect() {
        let expected = eval(graph, inputs).map_err(Error::bug)?;
        // The graph of a closure has the name of the API.
        let name = match Api::parse(&graph.name) {
            Some(_) => "a closure".to_string(),
            None => format!("`{}`", graph.name),
        };
        compare(&name, results, &expected).inspect_err(|_| crate::repro::differed(graph, inputs))?;
    }
    Ok(())
}

/// Looks at the results of one primitive.
pub(crate) fn check_primitive(
    prim: &Prim,
    operands: &[Tensor],
    results: &[Tensor],
    executor: &dyn Executor,
) -> Result<(), Error> {
    if let Prim::Call(call) = prim {
        return check_graph(&call.graph, operands, results, executor);
    }
    if CHECK_NANS.is_on() {
        check_finite(prim, operands, results, None)?;
    }
    if CHECK_COMPILED.is_on() && !prim.has_effect() && !matches!(prim, Prim::Custom(_)) {
        let expected = prim.rules().eval(operands).map_err(Error::bug)?;
        let differed = |_: &Error| crate::repro::differed_primitive(prim, operands);
        compare(&format!("`{}`", prim.name()), results, &expected).inspect_err(differed)?;
    }
    Ok(())
}

/// The first element of an array of floats or complex numbers that is NaN or infinite, and its value in words.
fn odd_element(tensor: &Tensor) -> Option<(usize, String)> {
    let at = match tensor.dtype() {
        DType::F32 => tensor.as_slice::<f32>().ok()?.iter().position(|x| !x.is_finite())?,
        DType::F64 => tensor.as_slice::<f64>().ok()?.iter().position(|x| !x.is_finite())?,
        DType::C64 => tensor.as_slice::<Complex32>().ok()?.iter().position(|x| !x.is_finite())?,
        DType::C128 => tensor.as_slice::<Complex64>().ok()?.iter().position(|x| !x.is_finite())?,
        DType::Bool | DType::U8 | DType::U32 | DType::I32 | DType::I64 => return None,
    };
    let value = tensor.literal(at).as_complex();
    let text = match value {
        value if value.is_nan() => "NaN".to_string(),
        _ if tensor.dtype().is_complex() => tensor.literal(at).to_string(),
        value => value.re.to_string(),
    };
    Some((at, text))
}

/// The first of some arrays that has an element that is NaN or infinite, with its number and the element.
fn first_odd(results: &[Tensor]) -> Option<(usize, &Tensor, (usize, String))> {
    let odd = |(number, result)| Some((number, result, odd_element(result)?));
    results.iter().enumerate().find_map(odd)
}

fn check_finite(
    prim: &Prim,
    operands: &[Tensor],
    results: &[Tensor],
    location: Option<&Location>,
) -> Result<(), Error> {
    let Some((_, result, (at, value))) = first_odd(results) else { return Ok(()) };
    if operands.iter().any(|operand| odd_element(operand).is_some()) {
        return Ok(());
    }
    let message =
        format!("`{}` gave {value} for finite operands, first at {}", prim.name(), place(result, at));
    let error = Error::new(ErrorKind::Check, message).while_running();
    let help = "look at its operands with `debug_print!`, or keep them away from there with `select`";
    Err(match location {
        // Of compiled code only results are known: what is inside was computed again.
        Some(location) => {
            let again = format!("found by running each primitive alone, after the function had run; {help}");
            error.help(again).at(location.clone())
        }
        None => error.help(help),
    })
}

/// Where an element is, by its row-major place.
fn place(tensor: &Tensor, at: usize) -> String {
    let strides = tensor.shape().strides();
    let index = tensor.shape().iter().zip(strides).map(|(size, stride)| at / stride.max(1) % size.max(1));
    format!("[{}]", index.map(|i| i.to_string()).collect::<Vec<_>>().join(", "))
}

/// Runs a graph one compiled primitive at a time, and fails at the first that gives what is not finite. Otherwise its
/// results; nothing where they cannot be computed again.
fn find_odd(graph: &Graph, inputs: &[Tensor], executor: &dyn Executor) -> Result<Option<Vec<Tensor>>, Error> {
    let inputs: Vec<Option<Tensor>> = inputs.iter().cloned().map(Some).collect();
    let mut values = Values::new(graph, &inputs);
    for equation in &graph.equations {
        let operands = values.operands(equation);
        let results = step(&equation.prim, &operands, &result_types(graph, equation), executor)?;
        let (Some(results), Some(operands)) = (results, operands.into_iter().collect::<Option<Vec<_>>>())
        else {
            return Ok(None);
        };
        if let Prim::Call(call) = &equation.prim {
            if first_odd(&results).is_some() {
                find_odd(&call.graph, &operands, executor)?;
            }
        } else {
            check_finite(&equation.prim, &operands, &results, equation.location.as_ref())?;
        }
        values.keep(equation, Some(results));
    }
    Ok(graph.outputs.iter().map(|atom| values.of(atom)).collect())
}

/// An error if compiled results are not those of the evaluator, up to rounding.
fn compare(name: &str, found: &[Tensor], expected: &[Tensor]) -> Result<(), Error> {
    for (number, (found, expected)) in found.iter().zip(expected).enumerate() {
        let Some(at) = difference(found, expected) else { continue };
        let (found_there, expected_there) = (found.literal(at), expected.literal(at));
        let message = format!(
            "compiled, result {number} of {name} is {found_there} at {}, evaluated it is {expected_there}",
            place(found, at)
        );
        return Err(Error::bug(message).while_running());
    }
    Ok(())
}

/// The first element by which two arrays differ more than rounding explains.
pub(crate) fn difference(found: &Tensor, expected: &Tensor) -> Option<usize> {
    if !expected.dtype().is_inexact() {
        return (0..expected.len()).find(|&at| found.literal(at) != expected.literal(at));
    }
    let allowed = if expected.dtype().real() == DType::F64 { 1e-9 } else { 1e-4 };
    let finite = expected.literals().map(|x| x.as_complex().norm()).filter(|x| x.is_finite());
    // Sums of large numbers may cancel: what is small beside the largest is as exact as that.
    let scale = finite.fold(0.0, f64::max);
    (0..expected.len()).find(|&at| {
        let (a, b) = (found.literal(at).as_complex(), expected.literal(at).as_complex());
        let same = a == b || (a.is_nan() && b.is_nan());
        // Written so that NaN is not close to anything.
        let close = (a - b).norm() <= allowed * scale.max(f64::MIN_POSITIVE);
        !same && !close
    })
}
