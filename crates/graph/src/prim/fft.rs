//! `fft[kind="fft", lengths=[n…]] x`: Fourier transforms along the last axes.

use tracewell_array::{Complex64, DType, Literal, Shape, Tensor};
use tracewell_kernel::{Fft as Transform, FftKind, Library, LibraryCall};

use super::elementwise::arity;
use super::shape_rules::{linear_jvp, linear_transpose};
use super::{Broadcast, Conj, Constant, Mul};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params::{Param, ParamValue};
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

crate::params! {
    /// `fft[kind=K, lengths=[n…]] x`: the discrete Fourier transform along as many last axes as there are lengths.
    /// `"fft"` is `y[k] = Σ_j x[j] exp(-2πi jk/n)`; `"ifft"` its inverse; `"rfft"` that of real numbers, `n/2 + 1` of
    /// the last axis; `"irfft"` the inverse of that.
    pub struct Fft {
        /// Which transform.
        kind: FftKind,
        /// The number of elements along each axis; where one side is real, those of that side.
        lengths: Vec<usize>,
    }
}

impl Param for FftKind {
    fn to_value(&self) -> ParamValue {
        ParamValue::Text(self.name().to_owned())
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::Text(name) => FftKind::parse(name),
            _ => None,
        }
    }
}

impl Fft {
    fn transform(&self) -> Transform {
        Transform { kind: self.kind, lengths: self.lengths.clone() }
    }

    /// How many elements one transform has in all.
    fn count(&self) -> f64 {
        self.lengths.iter().map(|&n| n as f64).product()
    }

    /// An array like `x`, each element times `weight` of its index along the last axis.
    fn weighted(&self, cx: &mut Cx<'_>, x: &Atom, weight: impl Fn(usize) -> f64) -> Result<Atom, RuleError> {
        let ty = cx.ty(x);
        let last = ty.rank() - 1;
        let weights: Vec<Literal> =
            (0..ty.shape.size(last)).map(|k| Literal::from_f64(ty.dtype, weight(k))).collect();
        let value = Tensor::from_literals(ty.dtype, [weights.len()], &weights).expect("one weight for each");
        let weights = cx.bind(Constant { value }, &[])?;
        let weights = cx.bind(Broadcast { shape: ty.shape.clone(), axes: vec![last] }, &[&weights])?;
        cx.bind(Mul {}, &[x, &weights])
    }

    /// Whether an element of half a spectrum stands for two of the whole: all but those that are their own partners.
    fn stands_for(&self, k: usize) -> f64 {
        let n = self.lengths.last().copied().unwrap_or(1);
        if k == 0 || 2 * k == n { 1.0 } else { 2.0 }
    }
}

impl Primitive for Fft {
    fn name(&self) -> &str {
        "fft"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("fft", inputs, 1)?;
        let (x, kind) = (&inputs[0], self.kind.name());
        let (real, from) = (self.kind.takes_real(), x.dtype);
        let fitting = if real { from.is_float() } else { from.is_complex() };
        if !fitting {
            let (what, help) = match real {
                true => ("a real float array", "`.convert(F32)` first; of complex numbers take `fft`"),
                false => ("a complex array", "`.convert(C64)` first; of real numbers take `rfft`"),
            };
            return Err(TypeError::new("fft", format!("`{kind}` expects {what}, found {x}")).help(help));
        }
        if self.lengths.is_empty() {
            return Err(TypeError::new("fft", format!("`{kind}` has no axis to go along")));
        }
        let Some(shape) = self.transform().result(&x.shape) else {
            let [sizes, _] = self.transform().sizes();
            let message = format!("`{kind}` expects last axes of {}, found {x}", Shape::from(sizes));
            return Err(TypeError::new("fft", message));
        };
        if shape.checked_len().is_none() {
            let message = format!("`{kind}` of {x}: shape {shape} has too many elements");
            return Err(TypeError::new("fft", message).help(Shape::LIMIT));
        }
        let dtype = if self.kind.gives_real() { from.real() } else { from.complex().unwrap_or(from) };
        Ok(vec![ArrayType { dtype, shape, weak: false }])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let x = &inputs[0];
        let ty = self.type_rule(&[ArrayType::of(x)]).map_err(|error| error.message)?.remove(0);
        let values: Vec<Complex64> = x.literals().map(Literal::as_complex).collect();
        let made = self.transform().naive(x.shape(), &values);
        let literals: Vec<Literal> = made
            .into_iter()
            .map(|z| match ty.dtype.is_complex() {
                true => Literal::from_complex(ty.dtype, z),
                false => Literal::from_f64(ty.dtype, z.re),
            })
            .collect();
        Ok(vec![Tensor::from_literals(ty.dtype, ty.shape, &literals).map_err(|error| error.to_string())?])
    }

    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        linear_jvp(cx, self, primals, tangents)
    }

    /// A transform of complex numbers is its own transpose. Half a spectrum stands for a whole one: the transpose of
    /// one way is the other way with weights.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        linear_transpose(operands, cotangents, |_, ct| match self.kind {
            FftKind::Forward | FftKind::Inverse => cx.bind(self.clone(), &[ct]),
            FftKind::RealForward => {
                let conj = cx.bind(Conj {}, &[ct])?;
                let whole = self.weighted(cx, &conj, |k| self.count() / self.stands_for(k))?;
                cx.bind(Fft { kind: FftKind::RealInverse, ..self.clone() }, &[&whole])
            }
            FftKind::RealInverse => {
                let half = cx.bind(Fft { kind: FftKind::RealForward, ..self.clone() }, &[ct])?;
                let half = self.weighted(cx, &half, |k| self.stands_for(k) / self.count())?;
                cx.bind(Conj {}, &[&half])
            }
        })
    }

    fn batch(&self, cx: &mut Cx<'_>, _: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        Ok(vec![Batched::yes(cx.bind(self.clone(), &[&operands[0].atom])?)])
    }

    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        let types = |types: &[ArrayType]| types.iter().map(|ty| (ty.dtype, ty.shape.clone())).collect();
        let library = Library::Fft(self.transform());
        Ok(Lowering::Library(LibraryCall { library, inputs: types(inputs), outputs: types(outputs) }))
    }

    /// Lengths that are powers of two, odd, prime, 1 and 0; batches; up to three axes.
    fn examples() -> Vec<Example> {
        let cases: [(&[usize], &[usize]); 9] = [
            (&[], &[1]),
            (&[], &[8]),
            (&[3], &[7]),
            (&[2, 2], &[6]),
            (&[], &[3, 4]),
            (&[2], &[4, 1, 3]),
            (&[2], &[5, 2]),
            (&[0], &[4]),
            (&[2], &[0]),
        ];
        let floats = [DType::F32, DType::F64];
        let mut all = Vec::new();
        for kind in FftKind::ALL {
            for (front, lengths) in cases {
                let fft = Fft { kind, lengths: lengths.to_vec() };
                let [from, _] = fft.transform().sizes();
                let shape: Shape = front.iter().chain(&from).copied().collect();
                for float in floats {
                    let complex = float.complex().expect("floats have complex numbers");
                    let dtype = if kind.takes_real() { float } else { complex };
                    let inputs = vec![ArrayType::new(dtype, shape.clone())];
                    all.push(Example { prim: fft.clone().into(), inputs });
                }
            }
        }
        all
    }
}
