//! Complex numbers and their parts: `complex re, im`, `real z`, `imag z`, `conj z`.
//!
//! Derivatives follow JAX: a tangent is pushed forward as a complex number, and a transposed map takes a cotangent `c`
//! to the one whose product with the operand has the same real part. `conj` and the parts are linear over the reals,
//! which is all that derivatives ask.

use tracewell_array::{DType, Literal, Tensor};

use super::Neg;
use super::elementwise::{self, Domain, arity, batch_elementwise, example_shapes, map_literals, same_type};
use super::shape_rules::{linear_jvp, linear_transpose};
use super::sheet::Sheet;
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{AxisView, Batched, Cx, Example, Jvp, Lowering, Operand, Piece, Primitive, View};
use crate::ty::ArrayType;

params! {
    /// `complex re, im`: the complex numbers with these parts.
    pub struct Complex {}
}

params! {
    /// `real z`: the real parts.
    pub struct Real {}
}

params! {
    /// `imag z`: the imaginary parts.
    pub struct Imag {}
}

params! {
    /// `conj z`: the complex conjugate, `re - i im`.
    pub struct Conj {}
}

impl Primitive for Complex {
    fn name(&self) -> &str {
        "complex"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("complex", inputs, 2)?;
        let ty = same_type("complex", Domain::Float, inputs)?;
        let dtype = ty.dtype.complex().expect("floats have complex numbers");
        Ok(vec![ArrayType { dtype, ..ty }])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let dtype = inputs[0].dtype().complex().expect("typed");
        Ok(vec![map_literals(dtype, inputs[0].shape(), inputs, |x| Literal::of_parts(x[0], x[1]))])
    }

    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let y = cx.bind(Complex {}, &[&primals[0], &primals[1]])?;
        let dy = match (&tangents[0], &tangents[1]) {
            (None, None) => None,
            (re, im) => {
                let zero = cx.fill(&primals[0], 0.0);
                Some(cx.bind(Complex {}, &[re.as_ref().unwrap_or(&zero), im.as_ref().unwrap_or(&zero)])?)
            }
        };
        Ok(Jvp::one(y, dy))
    }

    /// `Re(c (re + i im)) = Re(c) re - Im(c) im`
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let Some(ct) = &cotangents[0] else { return Ok(vec![None, None]) };
        let re = operands[0].is_linear().then(|| cx.bind(Real {}, &[ct])).transpose()?;
        let im = match operands[1].is_linear() {
            true => {
                let im = cx.bind(Imag {}, &[ct])?;
                Some(cx.bind(Neg {}, &[&im])?)
            }
            false => None,
        };
        Ok(vec![re, im])
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_elementwise(cx, Complex {}, size, operands)
    }

    /// In memory the parts lie side by side on a last axis.
    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        let rank = inputs[0].rank();
        let piece = |operand: usize| {
            let mut start = vec![0; rank + 1];
            start[rank] = operand;
            Piece {
                operand,
                view: (0..rank).map(AxisView::follow).collect(),
                shape: inputs[operand].shape.insert(rank, 1),
                start,
                step: vec![1; rank + 1],
            }
        };
        Ok(Lowering::Pieces(vec![piece(0), piece(1)]))
    }

    fn examples() -> Vec<Example> {
        elementwise::examples(Complex {}, Domain::Float, 2)
    }
}

/// What `real`, `imag` and `conj` share. One line each: the part of a literal, the adjoint, the lowering.
macro_rules! of_complex {
    ($($Name:ident $name:literal real $real:literal part $part:expr, adjoint $adjoint:expr, lower $lower:expr;)*) => {$(
        impl Primitive for $Name {
            fn name(&self) -> &str { $name }

            fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
                arity($name, inputs, 1)?;
                let ty = same_type($name, Domain::Complex, inputs)?;
                Ok(vec![if $real { ArrayType { dtype: ty.dtype.real(), ..ty } } else { ty }])
            }

            fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
                let dtype = inputs[0].dtype();
                let part: fn(Literal) -> Literal = $part;
                let dtype = if $real { dtype.real() } else { dtype };
                Ok(vec![map_literals(dtype, inputs[0].shape(), inputs, |x| part(x[0]))])
            }

            fn jvp(
                &self,
                cx: &mut Cx<'_>,
                primals: &[Atom],
                tangents: &[Option<Atom>],
            ) -> Result<Jvp, RuleError> {
                linear_jvp(cx, self, primals, tangents)
            }

            fn transpose(
                &self,
                cx: &mut Cx<'_>,
                operands: &[Operand],
                cotangents: &[Option<Atom>],
            ) -> Result<Vec<Option<Atom>>, RuleError> {
                let adjoint: fn(&mut Cx<'_>, &Atom) -> Result<Atom, RuleError> = $adjoint;
                linear_transpose(operands, cotangents, |_, ct| adjoint(cx, ct))
            }

            fn batch(
                &self,
                cx: &mut Cx<'_>,
                size: usize,
                operands: &[Batched],
            ) -> Result<Vec<Batched>, RuleError> {
                batch_elementwise(cx, $Name {}, size, operands)
            }

            fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
                let lower: fn(&[ArrayType]) -> Lowering = $lower;
                Ok(lower(inputs))
            }

            fn examples() -> Vec<Example> {
                let types = [DType::C64, DType::C128].into_iter().flat_map(|dtype| {
                    example_shapes().into_iter().map(move |shape| ArrayType::new(dtype, shape))
                });
                types.map(|ty| Example { prim: $Name {}.into(), inputs: vec![ty] }).collect()
            }
        }
    )*};
}

of_complex! {
    // `Re(c) = Re((c + 0i) z)` for a real `c`.
    Real "real" real true part |z| z.re(),
        adjoint |cx, ct| { let zero = cx.fill(ct, 0.0); cx.bind(Complex {}, &[ct, &zero]) },
        lower |inputs| part_in_memory(inputs, 0);
    // `c Im(z) = Re(-ic z)`
    Imag "imag" real true part |z| z.im(),
        adjoint |cx, ct| {
            let (zero, opposite) = (cx.fill(ct, 0.0), cx.bind(Neg {}, &[ct])?);
            cx.bind(Complex {}, &[&zero, &opposite])
        },
        lower |inputs| part_in_memory(inputs, 1);
    // `Re(c z̄) = Re(c̄ z)`
    Conj "conj" real false part |z| Literal::of_parts(z.re(), negative(z.im())),
        adjoint |cx, ct| cx.bind(Conj {}, &[ct]),
        lower |inputs| Sheet::lowering("conj", inputs, |s, z| {
            let (re, im) = s.parts(&z[0]);
            let im = s.neg(&im);
            s.complex(&re, &im)
        });
}

/// The negative of a float, bit for bit: also of a zero and of NaN.
fn negative(x: Literal) -> Literal {
    Literal::from_bits(x.dtype(), x.bits() ^ 1 << (8 * x.dtype().size() - 1))
}

/// One of the two parts that lie side by side on a last axis.
fn part_in_memory(inputs: &[ArrayType], part: i64) -> Lowering {
    let fixed = AxisView { axis: None, start: part, step: 0 };
    let axes = (0..inputs[0].rank()).map(AxisView::follow).chain([fixed]);
    Lowering::View(View::Axes(axes.collect()))
}
