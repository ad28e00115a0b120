//! What slicing and updating at computed places share: a window that is moved so that it fits, and the loops over it.

use tracewell_array::{DType, Shape, Tensor};
use tracewell_kernel::{BufferId, Index, KernelBuilder, Op, Size, Value};

use super::elementwise::arity;
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::primitive::Operand;
use crate::ty::ArrayType;

/// The window is inside the array, wherever it starts, and there is a start for each axis.
pub(super) fn check_window(
    name: &str,
    x: &ArrayType,
    window: &Shape,
    starts: &[ArrayType],
) -> Result<(), TypeError> {
    let fail = |why: String| Err(TypeError::new(name, format!("`{name}` of {x}: {why}")));
    if window.rank() != x.rank() {
        return fail(format!("the window {window} has rank {}, not {}", window.rank(), x.rank()));
    }
    for (axis, (part, size)) in window.iter().zip(x.shape.iter()).enumerate() {
        if part > size {
            return fail(format!("the window is {part} along axis {axis}, which has size {size}"));
        }
    }
    arity(name, starts, x.rank())?;
    match starts.iter().position(|start| start.dtype != DType::I32 || start.rank() != 0) {
        Some(axis) => fail(format!("the start along axis {axis} must be i32[], found {}", starts[axis])),
        None => Ok(()),
    }
}

/// Where the window starts: as near to what was asked for as it fits.
pub(super) fn fitted(whole: &Shape, window: &Shape, starts: &[Tensor]) -> Vec<usize> {
    let fit = |axis: usize| {
        let last = (whole.size(axis) - window.size(axis)) as i64;
        starts[axis].literal(0).as_i64().clamp(0, last) as usize
    };
    (0..whole.rank()).map(fit).collect()
}

/// The start of an axis that is taken whole.
pub(super) fn zero_start() -> Atom {
    Atom::fill(&ArrayType::new(DType::I32, Shape::scalar()), 0.0)
}

/// The starts, which are integers and so never what an equation is linear in.
pub(super) fn known_starts(name: &str, operands: &[Operand]) -> Result<Vec<Atom>, RuleError> {
    let known = operands.iter().map(|operand| operand.known().cloned());
    known.collect::<Option<_>>().ok_or_else(|| RuleError::not_linear(name))
}

/// Shapes of arrays and of windows on them: up to rank 4, empty, whole and in between.
pub(super) const EXAMPLES: [(&[usize], &[usize]); 11] = [
    (&[], &[]),
    (&[7], &[3]),
    (&[4], &[1]),
    (&[5], &[5]),
    (&[3], &[0]),
    (&[0], &[0]),
    (&[4, 5], &[2, 3]),
    (&[3, 4], &[1, 4]),
    (&[2, 3, 4], &[2, 1, 2]),
    (&[3, 0, 2], &[2, 0, 1]),
    (&[2, 3, 1, 4], &[1, 3, 1, 2]),
];

/// The loops over a window: what its statements need to know.
pub(super) struct WindowLoops {
    starts: Vec<Start>,
    loops: Vec<Loop>,
}

/// A start that must be loaded: that of an axis which is not taken whole.
struct Start {
    axis: usize,
    /// How many places there are for the window.
    places: usize,
    /// How far apart they are in the array.
    stride: usize,
}

/// A loop over an axis, or over several of which all but the first are taken whole.
struct Loop {
    extent: usize,
    whole_stride: usize,
    window_stride: usize,
}

impl WindowLoops {
    pub(super) fn new(whole: &Shape, window: &Shape) -> WindowLoops {
        let (whole_strides, window_strides) = (whole.strides(), window.strides());
        let (mut starts, mut loops): (Vec<Start>, Vec<Loop>) = (Vec::new(), Vec::new());
        for axis in 0..whole.rank() {
            let (size, extent) = (whole.size(axis), window.size(axis));
            let (whole_stride, window_stride) = (whole_strides[axis], window_strides[axis]);
            let is_whole = size == extent;
            if !is_whole {
                starts.push(Start { axis, places: size - extent + 1, stride: whole_stride });
            }
            match loops.last_mut() {
                // The elements of both axes follow each other, in the array as in the window.
                Some(outer) if is_whole => {
                    *outer = Loop { extent: outer.extent * extent, whole_stride, window_stride };
                }
                _ => loops.push(Loop { extent, whole_stride, window_stride }),
            }
        }
        loops.retain(|one| one.extent != 1);
        WindowLoops { starts, loops }
    }

    /// Loads the starts, and runs `body` for every element of the window, with its index in the array and its index
    /// in the window.
    pub(super) fn build(
        &self,
        b: &mut KernelBuilder,
        starts: &[BufferId],
        body: impl Fn(&mut KernelBuilder, Index, Index),
    ) {
        let mut whole = Index::at(0);
        for start in &self.starts {
            let asked = b.load(starts[start.axis], Index::at(0));
            let asked = b.op(Op::Convert(DType::I64), &[asked]);
            let fitted = b.op(Op::Clamp(Size::Const(start.places as i64)), &[asked]);
            whole.terms.push(term(fitted, start.stride));
        }
        nest(b, &self.loops, whole, Index::at(0), &body);
    }
}

fn nest(
    b: &mut KernelBuilder,
    loops: &[Loop],
    whole: Index,
    window: Index,
    body: &impl Fn(&mut KernelBuilder, Index, Index),
) {
    let Some((outer, inner)) = loops.split_first() else { return body(b, whole, window) };
    b.each(Size::Const(outer.extent as i64), |b, i| {
        let (mut whole, mut window) = (whole, window);
        whole.terms.push(term(i, outer.whole_stride));
        window.terms.push(term(i, outer.window_stride));
        nest(b, inner, whole, window, body);
    });
}

fn term(value: Value, stride: usize) -> (Value, Size) {
    (value, Size::Const(stride as i64))
}

#[cfg(test)]
mod tests {
    use tracewell_array::Literal;
    use tracewell_kernel::{Cells, eval_kernel, verify_launch};

    use super::*;
    use crate::prim::{DynamicSlice, DynamicUpdateSlice, Prim};
    use crate::primitive::{Lowering, Primitive};

    fn counted(shape: &[usize], from: usize) -> Tensor {
        let shape = Shape::from(shape);
        let literals: Vec<Literal> =
            (from..from + shape.len()).map(|i| Literal::from_i64(DType::I32, i as i64)).collect();
        Tensor::from_literals(DType::I32, shape, &literals).expect("one literal for each element")
    }

    /// Runs the statements of a lowering; an update changes a copy of its first operand.
    fn run(prim: &impl Primitive, inputs: &[Tensor]) -> Tensor {
        let types: Vec<ArrayType> = inputs.iter().map(ArrayType::of).collect();
        let outputs = prim.type_rule(&types).expect("typed");
        let (write, operands, result) = match prim.lower(&types, &outputs).expect("it has a lowering") {
            Lowering::Kernel(write) => {
                (write, inputs, Cells::undefined(outputs[0].dtype, outputs[0].shape.len()))
            }
            Lowering::Update(write) => (write, &inputs[1..], Cells::of(&inputs[0])),
            other => panic!("{other:?}"),
        };
        let mut b = KernelBuilder::new();
        let from: Vec<BufferId> = operands.iter().map(|x| b.param(x.dtype(), false)).collect();
        let to = b.param(outputs[0].dtype, true);
        write(&mut b, &from, &[to]);
        let kernel = b.finish(prim.name());
        let mut buffers: Vec<Cells> = operands.iter().map(Cells::of).chain([result]).collect();
        let lens: Vec<usize> = buffers.iter().map(|cells| cells.cells().len()).collect();
        verify_launch(&kernel, &lens, &[]).expect("it is proved");
        eval_kernel(&kernel, &mut buffers, &[], u64::MAX).expect("it runs");
        let flat = buffers.pop().and_then(|cells| cells.tensor()).expect("all is written");
        flat.reshape(outputs[0].shape.clone()).expect("as many elements")
    }

    /// The statements are proved to stay inside, and compute what evaluation does, wherever the window starts.
    #[test]
    fn statements_compute_what_evaluation_does() {
        for (whole, window) in EXAMPLES {
            for start in [i64::from(i32::MIN), -1, 0, 1, 2, 3, i64::from(i32::MAX)] {
                let starts = (0..whole.len()).map(|axis| if axis == 1 { 1 } else { start });
                let starts: Vec<Tensor> = starts
                    .map(|at| Tensor::full(Literal::from_i64(DType::I32, at), Shape::scalar()))
                    .collect();
                let (x, update) = (counted(whole, 0), counted(window, 100));
                let slice = DynamicSlice { sizes: window.to_vec() };
                let inputs = [std::slice::from_ref(&x), &starts].concat();
                let expected = slice.eval(&inputs).expect("typed").remove(0);
                assert_eq!(run(&slice, &inputs), expected, "{whole:?} {window:?} at {start}");
                let inputs = [[x, update].as_slice(), &starts].concat();
                let expected = DynamicUpdateSlice {}.eval(&inputs).expect("typed").remove(0);
                assert_eq!(run(&DynamicUpdateSlice {}, &inputs), expected, "{whole:?} {window:?} at {start}");
            }
        }
    }

    /// Axes that are taken whole make no loop of their own.
    #[test]
    fn whole_axes_are_one_loop() {
        let loops = |whole: &[usize], window: &[usize]| {
            let made = WindowLoops::new(&Shape::from(whole), &Shape::from(window));
            let extents: Vec<usize> = made.loops.iter().map(|one| one.extent).collect();
            (made.starts.len(), extents)
        };
        assert_eq!(loops(&[4, 5, 6], &[1, 5, 6]), (1, vec![30]));
        assert_eq!(loops(&[4, 5, 6], &[2, 5, 6]), (1, vec![60]));
        assert_eq!(loops(&[4, 5, 6], &[4, 5, 6]), (0, vec![120]));
        assert_eq!(loops(&[4, 5, 6], &[2, 3, 6]), (2, vec![2, 18]));
        assert_eq!(loops(&[4, 5, 6], &[1, 1, 1]), (3, vec![]));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let error = |prim: Prim, inputs: &[ArrayType]| {
            prim.rules().type_rule(inputs).expect_err("it does not fit").message
        };
        let (x, i) = (ArrayType::new(DType::F32, [4, 3]), ArrayType::new(DType::I32, Shape::scalar()));
        let slice = |sizes: &[usize]| Prim::from(DynamicSlice { sizes: sizes.to_vec() });
        let both = [x.clone(), i.clone(), i.clone()];
        assert_eq!(
            error(slice(&[5, 1]), &both),
            "`dynamic_slice` of f32[4,3]: the window is 5 along axis 0, which has size 4"
        );
        assert_eq!(
            error(slice(&[2]), &both),
            "`dynamic_slice` of f32[4,3]: the window [2] has rank 1, not 2"
        );
        assert_eq!(
            error(slice(&[2, 2]), &[x.clone(), i.clone(), ArrayType::new(DType::I64, [1])]),
            "`dynamic_slice` of f32[4,3]: the start along axis 1 must be i32[], found i64[1]"
        );
        assert_eq!(
            error(DynamicUpdateSlice {}.into(), &[x, ArrayType::new(DType::F64, [1, 1]), i.clone(), i]),
            "`dynamic_update_slice` of f32[4,3] by f64[1,1]: dtypes are f32 and f64"
        );
    }
}
