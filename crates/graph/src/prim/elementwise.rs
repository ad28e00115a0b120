//! What the elementwise families share: typing, evaluation element by element, and batching.

use tracewell_array::{DType, Literal, Shape, Tensor};

use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::prim::Prim;
use crate::primitive::{Batched, Cx, Example};
use crate::ty::ArrayType;

/// The element types a function is defined on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Domain {
    /// Floats.
    Float,
    /// Integers.
    Integer,
    /// Integers and bools.
    Bits,
    /// Floats and integers.
    Number,
    /// Everything but complex numbers.
    Ordered,
    /// Complex numbers.
    Complex,
    /// Floats and complex numbers.
    Inexact,
    /// Floats, integers and complex numbers.
    Field,
    /// Everything.
    Any,
}

impl Domain {
    pub(crate) fn holds(self, dtype: DType) -> bool {
        match self {
            Domain::Float => dtype.is_float(),
            Domain::Integer => dtype.is_integer(),
            Domain::Bits => dtype.is_integer() || dtype.is_bool(),
            Domain::Number => dtype.is_float() || dtype.is_integer(),
            Domain::Ordered => !dtype.is_complex(),
            Domain::Complex => dtype.is_complex(),
            Domain::Inexact => dtype.is_inexact(),
            Domain::Field => !dtype.is_bool(),
            Domain::Any => true,
        }
    }

    /// Why operands outside are refused, and what to do. `method` is the name that users know.
    pub(crate) fn refuse(self, name: &str, method: &str, found: &ArrayType) -> TypeError {
        let complex = found.dtype.is_complex();
        let expected = match self {
            Domain::Float if complex => "a real float array",
            Domain::Number | Domain::Ordered if complex => "real numbers",
            Domain::Float => "a float array",
            Domain::Integer => "integers",
            Domain::Bits => "integers or bools",
            Domain::Number | Domain::Field => "numbers",
            Domain::Complex => "a complex array",
            Domain::Inexact => "a float or complex array",
            Domain::Ordered | Domain::Any => "any array",
        };
        let help = match self {
            _ if complex => "`.re()`, `.im()` and `.abs()` are real",
            Domain::Float | Domain::Inexact => "`.convert(F32)` first",
            Domain::Complex => "`.convert(C64)` first",
            Domain::Bits => "`.convert(I32)` first, or compare: `x.gt(0.0)`",
            Domain::Integer | Domain::Number | Domain::Ordered | Domain::Field | Domain::Any => {
                "`.convert(I32)` first"
            }
        };
        TypeError::new(name, format!("`{method}` expects {expected}, found {found}")).help(help)
    }
}

/// Operands of one type; the result has it too.
pub(crate) fn same_type(name: &str, domain: Domain, inputs: &[ArrayType]) -> Result<ArrayType, TypeError> {
    let first = &inputs[0];
    for other in &inputs[1..] {
        if let Some(why) = difference(first, other) {
            return Err(TypeError::new(name, format!("cannot {name} {first} and {other}: {why}")));
        }
    }
    if !domain.holds(first.dtype) {
        return Err(domain.refuse(name, name, first));
    }
    Ok(ArrayType { weak: inputs.iter().all(|t| t.weak), ..first.clone() })
}

/// The first difference of two types that must match, in words.
pub(crate) fn difference(a: &ArrayType, b: &ArrayType) -> Option<String> {
    if a.rank() != b.rank() {
        return Some(format!("ranks are {} and {}", a.rank(), b.rank()));
    }
    for (axis, (x, y)) in a.shape.iter().zip(b.shape.iter()).enumerate() {
        if x != y {
            return Some(format!("axis {axis} is {x} and {y}"));
        }
    }
    (a.dtype != b.dtype).then(|| format!("dtypes are {} and {}", a.dtype, b.dtype))
}

/// The number of operands, checked first in every type rule.
pub(crate) fn arity(name: &str, inputs: &[ArrayType], expected: usize) -> Result<(), TypeError> {
    if inputs.len() == expected {
        return Ok(());
    }
    let s = if expected == 1 { "" } else { "s" };
    Err(TypeError::new(name, format!("`{name}` takes {expected} operand{s}, found {}", inputs.len())))
}

/// Applies a function of literals to each position of operands of one shape.
pub(crate) fn map_literals(
    dtype: DType,
    shape: &Shape,
    inputs: &[Tensor],
    f: impl Fn(&[Literal]) -> Literal,
) -> Tensor {
    let mut row = Vec::with_capacity(inputs.len());
    let literals: Vec<Literal> = (0..shape.len())
        .map(|i| {
            row.clear();
            row.extend(inputs.iter().map(|t| t.literal(i)));
            f(&row)
        })
        .collect();
    Tensor::from_literals(dtype, shape.clone(), &literals).expect("one literal for each element")
}

/// Batching of an elementwise primitive: itself, on operands that all have the batch axis.
pub(crate) fn batch_elementwise(
    cx: &mut Cx<'_>,
    prim: impl Into<Prim>,
    size: usize,
    operands: &[Batched],
) -> Result<Vec<Batched>, RuleError> {
    let atoms = cx.batch_all(size, operands)?;
    let refs: Vec<&Atom> = atoms.iter().collect();
    Ok(vec![Batched::yes(cx.bind(prim, &refs)?)])
}

/// Shapes that reach the edges of an elementwise rule: scalar, vector with a tail, empty, size-1 axes, rank 4.
pub(crate) fn example_shapes() -> Vec<Shape> {
    vec![
        Shape::scalar(),
        Shape::from([7]),
        Shape::from([0]),
        Shape::from([2, 3]),
        Shape::from([1, 5, 1]),
        Shape::from([2, 1, 3, 2]),
    ]
}

/// One example for each shape and element type of the domain.
pub(crate) fn example_types(domain: Domain) -> impl Iterator<Item = ArrayType> {
    example_shapes().into_iter().flat_map(move |shape| {
        DType::ALL
            .iter()
            .copied()
            .filter(move |&d| domain.holds(d))
            .map(move |dtype| ArrayType::new(dtype, shape.clone()))
    })
}

/// Examples of an elementwise primitive of `arity` operands of one type.
pub(crate) fn examples(prim: impl Into<Prim>, domain: Domain, arity: usize) -> Vec<Example> {
    let prim = prim.into();
    example_types(domain).map(|ty| Example { prim: prim.clone(), inputs: vec![ty; arity] }).collect()
}
