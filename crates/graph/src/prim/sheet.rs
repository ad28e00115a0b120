//! A sheet to write formulas on: graphs of elementwise primitives, for lowerings of functions of complex numbers.

use tracewell_array::DType;
use tracewell_kernel::Comparison;

use super::{
    Abs, Add, Bitcast, Compare, Complex, Cos, Cosh, Div, Exp, Imag, Log, Log1p, Max, Min, Mul, Neg, Prim,
    Real, Select, Sin, Sinh, Sqrt, Sub, Tan,
};
use crate::builder::GraphBuilder;
use crate::graph::Atom;
use crate::primitive::{Lowering, Primitive};
use crate::ty::ArrayType;

/// A graph in the making, all operands of one shape. Whether an operation is on complex numbers or on their parts,
/// its operands say.
pub(super) struct Sheet {
    builder: GraphBuilder,
}

macro_rules! operations {
    ($($name:ident $Prim:ident ($($x:ident),*);)*) => {$(
        pub(super) fn $name(&mut self, $($x: &Atom),*) -> Atom {
            self.bind($Prim {}, &[$($x),*].map(Atom::clone))
        }
    )*};
}

impl Sheet {
    /// What is written of operands of these types, as a lowering.
    pub(super) fn lowering(
        name: &str,
        inputs: &[ArrayType],
        formula: impl FnOnce(&mut Sheet, &[Atom]) -> Atom,
    ) -> Lowering {
        let mut sheet = Sheet { builder: GraphBuilder::new() };
        let inputs: Vec<Atom> = inputs.iter().map(|ty| sheet.builder.input(ty.clone()).into()).collect();
        let result = formula(&mut sheet, &inputs);
        Lowering::Graph(sheet.builder.finish(name, vec![result]).into())
    }

    /// A product of complex operands, of whatever kind: four products of their parts.
    pub(super) fn bilinear(
        product: &(impl Primitive + Into<Prim> + Clone),
        inputs: &[ArrayType],
    ) -> Lowering {
        Sheet::lowering(product.name(), inputs, |s, x| {
            let ((a, b), (c, d)) = (s.parts(&x[0]), s.parts(&x[1]));
            let mut of = |x: &Atom, y: &Atom| s.bind(product.clone(), &[x.clone(), y.clone()]);
            let [ac, bd, ad, bc] = [of(&a, &c), of(&b, &d), of(&a, &d), of(&b, &c)];
            let (re, im) = (s.sub(&ac, &bd), s.add(&ad, &bc));
            s.complex(&re, &im)
        })
    }

    pub(super) fn bind(&mut self, prim: impl Into<Prim>, operands: &[Atom]) -> Atom {
        self.builder.bind1(prim, operands).expect("a formula fits the operands that its type rule accepts")
    }

    operations! {
        abs Abs (x); add Add (a, b); complex Complex (re, im); cos Cos (x); cosh Cosh (x); div Div (a, b); exp Exp (x);
        log Log (x); log1p Log1p (x); max Max (a, b); min Min (a, b); mul Mul (a, b); neg Neg (x);
        select Select (c, a, b); sin Sin (x); sinh Sinh (x); sqrt Sqrt (x); sub Sub (a, b); tan Tan (x);
    }

    /// The real and the imaginary part.
    pub(super) fn parts(&mut self, z: &Atom) -> (Atom, Atom) {
        let z = [z.clone()];
        (self.bind(Real {}, &z), self.bind(Imag {}, &z))
    }

    /// An array like `x`, filled with a number.
    pub(super) fn fill(&self, x: &Atom, number: f64) -> Atom {
        Atom::fill(&self.builder.ty(x), number)
    }

    pub(super) fn dtype(&self, x: &Atom) -> DType {
        self.builder.ty(x).dtype
    }

    pub(super) fn compare(&mut self, comparison: Comparison, a: &Atom, b: &Atom) -> Atom {
        self.bind(Compare { comparison }, &[a.clone(), b.clone()])
    }

    /// Whether `x` is zero.
    pub(super) fn is_zero(&mut self, x: &Atom) -> Atom {
        let zero = self.fill(x, 0.0);
        self.compare(Comparison::Eq, x, &zero)
    }

    /// `x` with the sign of `y`, that of a zero too, where `x` is not negative.
    pub(super) fn with_sign(&mut self, x: &Atom, y: &Atom) -> Atom {
        let dtype = if self.dtype(y) == DType::F32 { DType::I32 } else { DType::I64 };
        let bits = self.bind(Bitcast { dtype }, std::slice::from_ref(y));
        let zero = self.fill(&bits, 0.0);
        let negative = self.compare(Comparison::Lt, &bits, &zero);
        let opposite = self.neg(x);
        self.select(&negative, &opposite, x)
    }
}
