//! Whether a lowering gives what the type rule of its primitive says. Built-in primitives are tested for it; those
//! of users are checked here, so that their mistakes are found before a program is made of them.

use tracewell_array::Shape;
use tracewell_graph::{ArrayType, AxisView, LookupStart, Lowering, Piece};
use tracewell_kernel::in_memory;

/// What an array is in a program: a complex one is its parts, side by side on a last axis.
pub(crate) fn in_program(ty: &ArrayType) -> ArrayType {
    let (dtype, shape) = in_memory(ty.dtype, &ty.shape);
    ArrayType { dtype, shape, weak: ty.weak }
}

/// What does not fit, in words. Types are those of the program.
pub(crate) fn misfit(lowering: &Lowering, inputs: &[ArrayType], outputs: &[ArrayType]) -> Option<String> {
    let given: Vec<ArrayType> = match lowering {
        // The element type of a map is known only when it is built, and verified then.
        Lowering::Map(_) => {
            let shape = inputs.first().or(outputs.first()).map(|ty| ty.shape.clone())?;
            outputs.first().map(|ty| ty.with_shape(shape)).into_iter().collect()
        }
        Lowering::View(_) => {
            let x = inputs.first()?;
            outputs.first().map(|ty| x.with_shape(ty.shape.clone())).into_iter().collect()
        }
        Lowering::Reduce { axes, .. } => {
            let x = inputs.first()?;
            let kept = x.shape.iter().enumerate().filter(|(axis, _)| !axes.contains(axis));
            vec![x.with_shape(kept.map(|(_, size)| size).collect::<Shape>())]
        }
        Lowering::Count { axis } => {
            let counted = outputs.first().filter(|ty| *axis < ty.rank() && !ty.dtype.is_bool());
            counted.cloned().into_iter().collect()
        }
        Lowering::Lookup(lookup) => {
            let x = inputs.first()?;
            let (out, integers) = (outputs.first()?, inputs.get(1..).unwrap_or_default());
            let is_start = |(start, ty): (&LookupStart, &ArrayType)| {
                ty.dtype.is_integer() && start.view.len() == ty.rank() && start.axis < x.rank()
            };
            if lookup.view.len() != x.rank()
                || lookup.starts.len() != integers.len()
                || !lookup.starts.iter().zip(integers).all(is_start)
                || lookup.outside.is_some_and(|value| value.dtype() != x.dtype)
            {
                return Some("the operands of its lookup are not those of the lowering".to_string());
            }
            vec![x.with_shape(out.shape.clone())]
        }
        Lowering::Pieces(pieces) => {
            let whole = outputs.first()?;
            let fits = pieces.iter().all(|piece| is_inside(piece, inputs, whole));
            let covered: usize = pieces.iter().map(|piece| piece.shape.len()).sum();
            if !fits || covered != whole.shape.len() {
                return Some(format!("the pieces of its lowering do not make {whole}"));
            }
            vec![whole.clone()]
        }
        Lowering::Library(call) => {
            call.memory().skip(call.inputs.len()).map(|(dtype, shape)| ArrayType::new(dtype, shape)).collect()
        }
        // Statements are verified with the program; control flow has the type of its graphs.
        Lowering::Kernel(_) | Lowering::Update(_) | Lowering::Control(_) => outputs.to_vec(),
        Lowering::Constant(tensor) => vec![ArrayType::of(&tensor.as_parts())],
        Lowering::Parts => return Some("it has no other operands than real ones".to_owned()),
        Lowering::Graph(graph) | Lowering::Late(graph) => {
            graph.output_types().iter().map(in_program).collect()
        }
    };
    let same = given.len() == outputs.len() && given.iter().zip(outputs).all(|(a, b)| a.matches(b));
    (!same).then(|| format!("its lowering gives {}, its type rule {}", listed(&given), listed(outputs)))
}

/// Whether a piece is of the right type and stays inside the whole and its operand.
fn is_inside(piece: &Piece, inputs: &[ArrayType], whole: &ArrayType) -> bool {
    let Some(from) = inputs.get(piece.operand) else { return false };
    let rank = whole.rank();
    if from.dtype != whole.dtype || piece.view.len() != from.rank() {
        return false;
    }
    if piece.shape.rank() != rank || piece.start.len() != rank || piece.step.len() != rank {
        return false;
    }
    if piece.shape.is_empty() {
        return true;
    }
    let last = |axis: usize| piece.start[axis] + (piece.shape.size(axis) - 1) * piece.step[axis];
    let reads_inside = |(view, size): (&AxisView, usize)| {
        let reach = view.axis.map_or(0, |axis| view.step * (piece.shape.size(axis) as i64 - 1));
        let (low, high) = (view.start + reach.min(0), view.start + reach.max(0));
        low >= 0 && high < size as i64
    };
    (0..rank).all(|axis| last(axis) < whole.shape.size(axis))
        && piece.view.iter().all(|view| view.axis.is_none_or(|axis| axis < rank))
        && piece.view.iter().zip(from.shape.iter()).all(reads_inside)
}

fn listed(types: &[ArrayType]) -> String {
    let all: Vec<String> = types.iter().map(ToString::to_string).collect();
    format!("({})", all.join(", "))
}
