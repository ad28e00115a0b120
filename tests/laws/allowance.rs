//! How far the compiled result of one equation may be from the evaluated one.
//!
//! NaN agrees with NaN, whatever its bits; integers and bools agree exactly. Floats do too where a result is rounded
//! once: the evaluator computes in `f64`, which is exact for `+ - × / √` also after rounding to `f32`. It does not
//! follow the rounding of each step of a sum or of an expansion.

use tracewell_array::{DType, Literal, Tensor};
use tracewell_graph::{ArrayType, Example, Graph, Lowering, eval};
use tracewell_kernel::linalg::batch_len;
use tracewell_kernel::math::LIMIT_F64;
use tracewell_kernel::{BufferId, Index, KernelBuilder, Op, Stmt, Value};

use super::rng::Rng;
use super::same::same;
use crate::matrices::{neighbour, squares_in_range};

/// What is allowed at one point, for each element of each result.
#[derive(Debug)]
pub(super) enum Allowance {
    /// Nothing.
    Exact,
    /// Zeros of either sign: which of two equal zeros is the larger depends on the order.
    Zeros,
    /// So many units in the last place, and NaN where an operand is beyond the limit of the expansion.
    Units(f64, Option<Tensor>),
    /// So many units in the last place of the result or of 1, if that is larger.
    Bounded(f64),
    /// So many units in the last place of the result or of a size that depends on the operand, if that is larger.
    Floored(f64, Tensor, fn(f64) -> f64),
    /// So much above or below; NaN where nothing is said, because a step may overflow.
    Absolute(Vec<Tensor>),
    /// The same, of integers too: they are the order in which something of the floats was chosen.
    Neighbours(Vec<Tensor>),
}

/// Expansions are good to 2 units, but for those named below, and the machine's functions to 1.
const UNITS: f64 = 4.0;

impl Allowance {
    /// What is allowed of a use of a primitive on these inputs.
    pub(super) fn at(example: &Example, graph: &Graph, inputs: &[Tensor]) -> Result<Allowance, String> {
        if ["cholesky", "triangular_solve", "lu", "qr", "svd", "eigh", "eig"].contains(&example.prim.name()) {
            return Ok(Allowance::Neighbours(of_matrices(graph, inputs)?));
        }
        let complex = |ty: &ArrayType| ty.dtype.is_complex();
        if graph.input_types().iter().chain(&graph.output_types()).any(complex) {
            return of_complex(example, graph, inputs);
        }
        Ok(match example.prim.name() {
            "cos" | "sin" | "tan" => Allowance::Units(UNITS, Some(inputs[0].clone())),
            // As `tracewell_kernel::math` says, and some units for the reference.
            "erf_inv" => Allowance::Units(4.0 + UNITS, None),
            "lgamma" => {
                let floor = |x| if x < 0.0 { 1.0 } else { 0.0 };
                Allowance::Floored(6.0 + UNITS, inputs[0].clone(), floor)
            }
            "digamma" => Allowance::Floored(10.0 + UNITS, inputs[0].clone(), |x| (2.0 - x).ln().max(1.0)),
            "trigamma" => Allowance::Units(8.0 + UNITS, None),
            // Their examples multiply an exponential, once or twice.
            "call" | "custom_jvp" | "custom_vjp" => Allowance::Units(2.0 * UNITS, None),
            "checkpoint" => Allowance::Units(3.0 * UNITS, None),
            // Their examples repeat sums of bounded terms, whose error is relative to the bound.
            "scan" | "switch" => Allowance::Bounded(16.0 * UNITS),
            // A sum of one product begins with a zero, in a loop too.
            "cummax" | "cummin" | "reduce_max" | "reduce_min" | "reduce_window_max" | "reduce_window_min"
            | "while" => Allowance::Zeros,
            // As exact as each step, and steps of many.
            "cumlogsumexp" => Allowance::Bounded(64.0 * UNITS),
            "conv" | "conv_kernel" | "cumsum" | "dot_general" | "each" | "linear_recurrence"
            | "reduce_sum" | "reduce_window_sum" => Allowance::Absolute(of_sum(graph, inputs)?),
            "select_and_scatter_add" => Allowance::Absolute(of_any_sum(graph, inputs)?),
            "cumprod" | "reduce_prod" | "reduce_window_prod" => {
                Allowance::Absolute(of_product(graph, inputs)?)
            }
            _ if roundings(example, graph) > 1 => Allowance::Units(UNITS, None),
            _ => Allowance::Exact,
        })
    }

    /// Whether results are as near to those expected as they must be.
    pub(super) fn judge(&self, found: &[Tensor], expected: &[Tensor]) -> Result<(), String> {
        if found.len() != expected.len() {
            return Err(format!("found {} results, expected {}", found.len(), expected.len()));
        }
        for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
            let exact = same(found, expected);
            if exact.is_ok() {
                continue;
            }
            let alike = found.dtype() == expected.dtype() && found.shape() == expected.shape();
            let bounded = found.dtype().is_inexact() || matches!(self, Allowance::Neighbours(_));
            if !alike || !bounded || matches!(self, Allowance::Exact) {
                return exact.map_err(|e| format!("result {k}: {e}"));
            }
            for (i, (x, y)) in found.literals().zip(expected.literals()).enumerate() {
                if !self.near(k, i, x, y) {
                    return Err(format!("result {k}: element {i} is {x}, expected {y} ({self:?})"));
                }
            }
        }
        Ok(())
    }

    fn near(&self, result: usize, element: usize, found: Literal, expected: Literal) -> bool {
        if let (Allowance::Absolute(bounds) | Allowance::Neighbours(bounds), true) =
            (self, found.dtype().is_complex())
        {
            let bound = bounds[result].literal(element).as_f64();
            let both_nan = !found.as_complex().is_finite() && !expected.as_complex().is_finite();
            return bound.is_nan()
                || both_nan
                || (found.as_complex() - expected.as_complex()).norm() <= bound;
        }
        let (x, y) = (found.as_f64(), expected.as_f64());
        // Infinities are equal here, or too far.
        if x == y || (x.is_nan() && y.is_nan()) {
            return true;
        }
        match self {
            Allowance::Exact | Allowance::Zeros => false,
            Allowance::Units(_, Some(operand)) if beyond(operand.literal(element)) => x.is_nan(),
            Allowance::Units(units, _) => {
                let (epsilon, least, _) = range(found.dtype());
                (x - y).abs() <= units * (epsilon * y.abs()).max(epsilon * least)
            }
            Allowance::Floored(units, operand, floor) => {
                let (epsilon, least, _) = range(found.dtype());
                let size = y.abs().max(floor(operand.literal(element).as_f64())).max(least);
                (x - y).abs() <= units * epsilon * size
            }
            Allowance::Bounded(units) => (x - y).abs() <= units * range(found.dtype()).0 * y.abs().max(1.0),
            Allowance::Absolute(bounds) | Allowance::Neighbours(bounds) => {
                let bound = bounds[result].literal(element).as_f64();
                bound.is_nan() || (x - y).abs() <= bound
            }
        }
    }
}

/// What is allowed of complex numbers: nothing where parts are moved or rounded once; else so many units of the size of
/// the number, not of each part. Where an operand is infinite, NaN, very large or very small, nothing is said.
fn of_complex(example: &Example, graph: &Graph, inputs: &[Tensor]) -> Result<Allowance, String> {
    const UNITS: f64 = 512.0;
    let ordinary = |x: Literal| {
        let size = x.as_complex().norm();
        x.as_complex().is_finite() && (size == 0.0 || (1e-6..30.0).contains(&size))
    };
    let results = eval(graph, inputs)?;
    let lowering = example.prim.rules().lower(&example.inputs, &graph.output_types());
    let along_axes = matches!(example.prim.name(), "dot_general" | "fft" | "reduce_prod" | "reduce_sum");
    if along_axes {
        let total = |x: &Tensor| 1.0 + x.literals().map(|x| x.as_complex().norm()).sum::<f64>();
        let product = |x: &Tensor| x.literals().map(|x| x.as_complex().norm().max(1.0)).product::<f64>();
        let size: f64 = match example.prim.name() {
            "reduce_prod" => inputs.iter().map(product).product(),
            _ => inputs.iter().map(total).product(),
        };
        let fine = inputs.iter().flat_map(Tensor::literals).all(ordinary);
        let bound = |epsilon: f64| if fine { UNITS * epsilon * size } else { f64::NAN };
        return Ok(Allowance::Absolute(bounds(&results, |_, _, (epsilon, _, _)| bound(epsilon))?));
    }
    if !matches!(lowering, Ok(Lowering::Graph(_))) || matches!(example.prim.name(), "conj" | "convert") {
        return Ok(Allowance::Exact);
    }
    let all = bounds(&results, |(k, i), _, (epsilon, least, _)| {
        let fine = inputs.iter().all(|x| x.len() == results[k].len() && ordinary(x.literal(i)));
        let size = results[k].literal(i).as_complex().norm();
        if fine && size.is_finite() { UNITS * (epsilon * size + least) } else { f64::NAN }
    })?;
    Ok(Allowance::Absolute(all))
}

/// How often a result is rounded on its way through the expansion of its primitive.
fn roundings(example: &Example, graph: &Graph) -> usize {
    let Ok(Lowering::Map(f)) = example.prim.rules().lower(&example.inputs, &graph.output_types()) else {
        return 0;
    };
    let mut b = KernelBuilder::new();
    let buffers: Vec<BufferId> = example.inputs.iter().map(|ty| b.param(ty.dtype, false)).collect();
    let args: Vec<Value> = buffers.into_iter().map(|buffer| b.load(buffer, Index::at(0))).collect();
    f(&mut b, &args);
    let kernel = b.finish("expansion");
    let rounds = |stmt: &&Stmt| match stmt {
        Stmt::Op { out, op, .. } => {
            let arithmetic =
                matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem | Op::Sqrt | Op::Fma);
            kernel.dtype(*out).is_float() && (arithmetic || matches!(op, Op::Convert(_)))
        }
        _ => false,
    };
    kernel.body.stmts.iter().filter(rounds).count()
}

/// Where the expansions of the circular functions end.
fn beyond(operand: Literal) -> bool {
    operand.dtype() == DType::F64 && operand.as_f64().abs() >= LIMIT_F64
}

/// The distance from 1 to the next float, the smallest float of full precision, and the largest.
fn range(dtype: DType) -> (f64, f64, f64) {
    if dtype.real() == DType::F32 {
        (f64::from(f32::EPSILON), f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX))
    } else {
        (f64::EPSILON, f64::MIN_POSITIVE, f64::MAX)
    }
}

/// A unit in the last place of the sum of magnitudes for each term. The sum of magnitudes is what the graph
/// itself computes from magnitudes; infinities and NaN decide for themselves.
fn of_sum(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
    let sizes = eval(graph, &map(inputs, |x| if x.is_finite() { x.abs() } else { 0.0 }))?;
    let terms = inputs.iter().map(Tensor::len).sum::<usize>() as f64;
    bounds(
        &sizes,
        |_, size, (epsilon, least, largest)| {
            if size > largest / 2.0 { f64::NAN } else { terms * (epsilon * size + least) }
        },
    )
}

/// The same where it depends on the first operand which elements of the second are added: of all of them.
fn of_any_sum(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
    let sizes = inputs[1].literals().map(|x| x.as_f64().abs()).filter(|x| x.is_finite());
    let (size, terms) = (sizes.sum::<f64>(), inputs[1].len() as f64);
    bounds(&eval(graph, inputs)?, |_, _, (epsilon, least, largest)| {
        if size > largest / 2.0 { f64::NAN } else { terms * (epsilon * size + least) }
    })
}

/// A unit in the last place of the product for each factor, where no product of some of the factors is too large
/// or too small for its digits: all lie between the product of those below 1 and of those above.
fn of_product(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
    let plain = |x: f64| x.is_finite() && x != 0.0;
    let highest = eval(graph, &map(inputs, |x| if plain(x) { x.abs().max(1.0) } else { 1.0 }))?;
    let lowest = eval(graph, &map(inputs, |x| if plain(x) { x.abs().min(1.0) } else { 1.0 }))?;
    let products = eval(graph, inputs)?;
    let factors = inputs.iter().map(Tensor::len).sum::<usize>() as f64;
    bounds(&products, |(k, i), product, (epsilon, least, largest)| {
        let [low, high] = [&lowest, &highest].map(|all| all[k].literal(i).as_f64());
        if high > largest / 2.0 || low < least * 2.0 { f64::NAN } else { factors * epsilon * product.abs() }
    })
}

/// What results move by when the elements of each matrix move by some roundings of its largest: a stable algorithm
/// gives the exact result of such a neighbour. Nothing is said where results are not continuous, because a matrix is
/// nearly singular or a sign or an order nearly changes, and where squares of elements are out of range. Where an
/// element is not finite, the results are NaN in every way; but a triangle spreads it in its own order.
fn of_matrices(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
    let results = eval(graph, inputs)?;
    let (epsilon, ..) = range(inputs[0].dtype());
    let spreads = inputs.len() > 1;
    let matrices = batch_len(inputs[0].shape()).max(1);
    let part = |tensor: &Tensor, number: usize| {
        let len = tensor.len() / matrices;
        number * len..(number + 1) * len
    };
    let wide = |dtype: DType| if dtype.is_complex() { DType::C128 } else { DType::F64 };
    let mut shaken: Vec<Vec<Tensor>> = Vec::new();
    for draw in 0..4u64 {
        let mut rng = Rng::new(draw);
        // In the precision of the evaluator: a step must not vanish.
        let moved: Vec<Tensor> = inputs
            .iter()
            .map(|input| neighbour(input, wide(input.dtype()), 32.0 * epsilon, || rng.signed_unit()))
            .collect();
        shaken.push(graph.equations[0].prim.rules().eval(&moved)?);
    }
    let bound = |k: usize, result: &Tensor, number: usize| -> Vec<f64> {
        let operands = || inputs.iter().flat_map(|input| part(input, number).map(|i| input.literal(i)));
        let own = part(result, number);
        if operands().any(|x| !x.as_complex().is_finite()) {
            return vec![if spreads { f64::NAN } else { 0.0 }; own.len()];
        }
        if !squares_in_range(inputs[0].dtype(), operands()) {
            return vec![f64::NAN; own.len()];
        }
        let at = |tensor: &Tensor, i: usize| tensor.literal(i).as_complex();
        let scale = own.clone().fold(0.0, |m: f64, i| m.max(at(result, i).norm()));
        // The largest of the whole matrix: elements share their errors.
        let moves = own
            .clone()
            .flat_map(|i| shaken.iter().map(move |other| (at(&other[k], i) - at(result, i)).norm()));
        let most = moves.fold(0.0, |m: f64, x| if x.is_nan() || m.is_nan() { f64::NAN } else { m.max(x) });
        let jumps = own
            .clone()
            .any(|i| shaken.iter().any(|other| at(&other[k], i).is_nan() != at(result, i).is_nan()));
        let allowed =
            if jumps || most > 0.01 * scale { f64::NAN } else { 16.0 * most + 64.0 * epsilon * scale };
        vec![allowed; own.len()]
    };
    let of_result = |(k, result): (usize, &Tensor)| {
        let all: Vec<f64> = (0..matrices).flat_map(|number| bound(k, result, number)).collect();
        Tensor::from_vec(all, result.shape()).map_err(|error| error.to_string())
    };
    results.iter().enumerate().map(of_result).collect()
}

/// Every float changed; other elements stay.
fn map(inputs: &[Tensor], f: impl Fn(f64) -> f64) -> Vec<Tensor> {
    let changed = |input: &Tensor| {
        let dtype = input.dtype();
        let literals: Vec<Literal> =
            input.literals().map(|x| Literal::from_f64(dtype, f(x.as_f64()))).collect();
        Tensor::from_literals(dtype, input.shape(), &literals).expect("as many as before")
    };
    inputs.iter().map(|input| if input.dtype().is_float() { changed(input) } else { input.clone() }).collect()
}

/// A bound for each element, from its place and a number; in `f64`.
fn bounds(
    results: &[Tensor],
    f: impl Fn((usize, usize), f64, (f64, f64, f64)) -> f64,
) -> Result<Vec<Tensor>, String> {
    let bounded = |(k, result): (usize, &Tensor)| {
        let range = range(result.dtype());
        let bound = |(i, x): (usize, Literal)| f((k, i), x.as_f64(), range);
        let all: Vec<f64> = result.literals().enumerate().map(bound).collect();
        Tensor::from_vec(all, result.shape()).map_err(|error| error.to_string())
    };
    results.iter().enumerate().map(bounded).collect()
}
