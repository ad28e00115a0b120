//! Whether a lowering gives what the type rule of its primitive says. Built-in primitives are tested for it; those
//! of users are checked here, so that their mistakes are found before a program is made of them.

use tracewell_array::Shape;
use tracewell_graph::{ArrayType, Lowering};

/// What does not fit, in words.
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
        Lowering::Library(call) => {
            call.outputs.iter().map(|(dtype, shape)| ArrayType::new(*dtype, shape.clone())).collect()
        }
        Lowering::Constant(tensor) => vec![ArrayType::of(tensor)],
        Lowering::Graph(graph) => graph.output_types(),
    };
    let same = given.len() == outputs.len() && given.iter().zip(outputs).all(|(a, b)| a.matches(b));
    (!same).then(|| format!("its lowering gives {}, its type rule {}", listed(&given), listed(outputs)))
}

fn listed(types: &[ArrayType]) -> String {
    let all: Vec<String> = types.iter().map(ToString::to_string).collect();
    format!("({})", all.join(", "))
}
