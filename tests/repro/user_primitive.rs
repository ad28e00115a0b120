//! A primitive of the user's is code, and in no repro: what it gave stands in for it.

use tracewell::prelude::*;
use tracewell::primitive::{
    ArrayType, Atom, Batched, Cx, Data, Example, Jvp, Lowering, Operand, Prim, Primitive, RuleError,
    TypeError, bind, params,
};
use tracewell::repro;

params! {
    /// `same x`: the elements.
    pub struct Same {
        /// Of how many arrays.
        count: usize,
    }
}

impl Primitive for Same {
    fn name(&self) -> &str {
        "test::same"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        Ok(inputs.to_vec())
    }

    fn eval(&self, inputs: &[Data]) -> Result<Vec<Data>, String> {
        Ok(inputs.to_vec())
    }

    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let y = cx.bind(Prim::custom(self.clone()), &[&primals[0]])?;
        Ok(Jvp::one(y, tangents[0].clone()))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("test::same"))
    }

    fn batch(&self, cx: &mut Cx<'_>, _: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        Ok(vec![Batched::yes(cx.bind(Prim::custom(self.clone()), &[&operands[0].atom])?)])
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::map(|_, x| x[0]))
    }

    fn examples() -> Vec<Example> {
        Vec::new()
    }
}

fn fails(x: &Array) -> Array {
    bind(Same { count: 1 }, &[x]).reshape([7])
}

#[test]
fn its_results_are_what_they_were_where_they_are_known() {
    let x = Array::from([41.0f32, 42.0]);
    let text = repro::assert_reproduces(|| grad(fails)(&x)).to_text();
    assert!(
        text.contains("data 0 \"f32[2]{41.0,42.0}\"") && text.contains("bind \"reshape[shape=[7]]\" ($0)"),
        "{text}"
    );
    assert!(text.contains("its results are what they were"), "{text}");
}

#[test]
fn otherwise_they_are_zeros() {
    let text = repro::assert_reproduces(|| jit(fails).call(&Array::from([41.0f32, 42.0]))).to_text();
    assert!(!text.contains("($0) -> ()"), "{text}");
    assert!(text.contains("its results are zeros"), "{text}");
}
