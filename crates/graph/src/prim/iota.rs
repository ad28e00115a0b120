//! `iota[dtype=D, shape=S, axis=A]`: at each place its index along the axis `A`.

use tracewell_array::{DType, Literal, Shape, Tensor};

use super::elementwise::arity;
use super::shape_rules::each_index;
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::rows::OfRows;
use crate::ty::ArrayType;

params! {
    /// `iota[dtype=D, shape=S, axis=A]`: 0, 1, 2, … along axis `A`, the same along all others. Integers wrap.
    pub struct Iota {
        /// The type of the elements: numbers.
        dtype: DType,
        /// The shape of the result.
        shape: Shape,
        /// The axis that is counted along.
        axis: usize,
    }
}

impl Primitive for Iota {
    fn name(&self) -> &str {
        "iota"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("iota", inputs, 0)?;
        let fail = |why: String| Err(TypeError::new("iota", why));
        if self.dtype.is_bool() {
            return fail("`iota` counts in numbers, not in bool; compare with 0 afterwards".to_string());
        }
        if self.dtype.is_complex() {
            return fail(format!(
                "`iota` counts in real numbers, not in {}; convert them afterwards",
                self.dtype
            ));
        }
        if self.axis >= self.shape.rank() {
            return fail(format!("`iota` cannot count along axis {} of shape {}", self.axis, self.shape));
        }
        if self.shape.checked_len().is_none() {
            return fail(format!("`iota` of shape {} has too many elements", self.shape));
        }
        Ok(vec![ArrayType::new(self.dtype, self.shape.clone())])
    }

    fn eval(&self, _: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let mut literals: Vec<Literal> = Vec::with_capacity(self.shape.len());
        each_index(&self.shape, |index| {
            literals.push(Literal::from_i64(self.dtype, index[self.axis] as i64))
        });
        Ok(vec![Tensor::from_literals(self.dtype, self.shape.clone(), &literals).map_err(|e| e.to_string())?])
    }

    fn jvp(&self, cx: &mut Cx<'_>, _: &[Atom], _: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        Ok(Jvp::one(cx.bind(self.clone(), &[])?, None))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Ok(Vec::new())
    }

    fn batch(&self, cx: &mut Cx<'_>, _: usize, _: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        Ok(vec![Batched::no(cx.bind(self.clone(), &[])?)])
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::Count { axis: self.axis })
    }

    /// Rows are the same if something else is counted.
    fn of_rows(&self, _: &[ArrayType], _: &ArrayType, rows: usize) -> Option<OfRows> {
        let fewer = || OfRows::other(Iota { shape: self.shape.with(0, rows), ..self.clone() }, []);
        (self.axis != 0).then(fewer)
    }

    fn examples() -> Vec<Example> {
        let cases: [(&[usize], usize); 6] =
            [(&[1], 0), (&[7], 0), (&[0], 0), (&[2, 3], 0), (&[2, 300], 1), (&[2, 3, 1, 2], 1)];
        let numbers = DType::REAL.iter().copied().filter(|d| !d.is_bool());
        numbers
            .flat_map(|dtype| {
                cases.map(|(shape, axis)| Example {
                    prim: Iota { dtype, shape: Shape::from(shape), axis }.into(),
                    inputs: Vec::new(),
                })
            })
            .collect()
    }
}
