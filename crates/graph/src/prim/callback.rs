//! `callback[function="f", ordered=O, results=(…)] x…`: calls a Rust function on known arrays, at run time.
//!
//! An ordered one is an *effect*: it runs once whenever its graph runs, in program order with other effects, be its
//! results used or not. Any other is a pure function, which may be dropped, merged and called again.

use tracewell_array::{DType, Tensor};
use tracewell_kernel::{BufferFn, BufferMut, BufferRef, CallError, Library, LibraryCall};

use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::host::HostFunction;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `callback[function="f", ordered=O, results=(…)] x…`: what a Rust function makes of the operands. An ordered one
    /// has effects: it runs once, in program order.
    pub struct Callback {
        /// What is called.
        function: HostFunction,
        /// Whether it is an effect.
        ordered: bool,
        /// The types of its results.
        results: Vec<ArrayType>,
    }
}

impl Primitive for Callback {
    fn name(&self) -> &str {
        "callback"
    }

    /// Any operands: the function knows its own.
    fn type_rule(&self, _: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        Ok(self.results.clone())
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        self.function.call(inputs, &self.results).map_err(|error| error.to_string())
    }

    /// A Rust function has no derivative; one whose results are neither floats nor complex numbers needs none.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], _: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        if self.results.iter().any(|ty| ty.dtype.is_inexact()) {
            let why = "it is a Rust function, into which nobody sees; give it one by `custom_jvp`";
            return Err(RuleError::not_differentiable("callback", why));
        }
        let primals = cx.bind_all(self.clone(), primals)?;
        let tangents = vec![None; primals.len()];
        Ok(Jvp { primals, tangents })
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("callback"))
    }

    /// The function is called for each element, in order.
    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let flags: Vec<bool> = operands.iter().map(|operand| operand.batched).collect();
        let results = self.results.iter().map(|ty| ty.with_shape(ty.shape.insert(0, size))).collect();
        let each = Callback { function: self.function.each(size, &flags), ordered: self.ordered, results };
        let atoms: Vec<Atom> = operands.iter().map(|operand| operand.atom.clone()).collect();
        Ok(cx.bind_all(each, &atoms)?.into_iter().map(Batched::yes).collect())
    }

    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        let Some(custom) = self.function.custom() else {
            let (primitive, why) = ("callback".into(), self.function.absent());
            return Err(RuleError::Unsupported { primitive, why });
        };
        let plain = |types: &[ArrayType]| types.iter().map(|ty| (ty.dtype, ty.shape.clone())).collect();
        let library = Library::Custom(custom.clone());
        Ok(Lowering::Library(LibraryCall { library, inputs: plain(inputs), outputs: plain(outputs) }))
    }

    /// A function that copies its operand, pure and ordered.
    fn examples() -> Vec<Example> {
        let function = HostFunction::named("copy", || Copy);
        let example = |dtype: DType, ordered: bool| {
            let ty = ArrayType::new(dtype, [2, 3]);
            let prim = Callback { function: function.clone(), ordered, results: vec![ty.clone()] }.into();
            Example { prim, inputs: vec![ty] }
        };
        let both = |&dtype: &DType| [example(dtype, false), example(dtype, true)];
        DType::ALL.iter().flat_map(both).collect()
    }
}

/// Copies its operand.
struct Copy;

impl BufferFn for Copy {
    fn name(&self) -> &str {
        "copy"
    }

    fn call(&self, inputs: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) -> Result<(), CallError> {
        match (inputs, outputs) {
            ([from], [to]) if from.bytes.len() == to.bytes.len() => {
                to.bytes.copy_from_slice(from.bytes);
                Ok(())
            }
            _ => Err("`copy` takes one array and gives one of its type".into()),
        }
    }
}
