//! Rewrites of reshapes, permutations and broadcasts, and of what reads through them.

use smallvec::smallvec;
use tracewell_array::Literal;
use tracewell_graph::prim::{Broadcast, DotGeneral, Permute, Prim, Reshape};
use tracewell_graph::{Equation, Lowering};

use super::{Rewrite, Scene, apply, same};

/// The rules about shapes.
pub(super) fn shape(scene: &Scene<'_>) -> Option<Rewrite> {
    match (scene.prim, scene.operands) {
        (Prim::Reshape(_) | Prim::Permute(_) | Prim::Broadcast(_), [x]) if x.literal().is_some() => {
            x.literal().map(|literal| scene.splat(literal))
        }
        (Prim::Reshape(outer), [x]) => {
            if scene.builder.ty(x) == *scene.ty {
                return same(x);
            }
            match scene.definition(x) {
                Some(Equation { prim: Prim::Reshape(_), inputs, .. }) => apply(outer.clone(), &inputs[0]),
                _ => None,
            }
        }
        (Prim::Permute(outer), [x]) => {
            if outer.is_identity() {
                return same(x);
            }
            match scene.definition(x) {
                Some(Equation { prim: Prim::Permute(inner), inputs, .. }) => {
                    let axes = outer.axes.iter().map(|&a| inner.axes[a]).collect();
                    apply(Permute { axes }, &inputs[0])
                }
                _ => only_moves_ones(scene, outer).then(|| {
                    Rewrite::Apply(Reshape { shape: scene.ty.shape.clone() }.into(), smallvec![x.clone()])
                }),
            }
        }
        (Prim::Broadcast(outer), [x]) => {
            let from = scene.builder.ty(x);
            if from == *scene.ty {
                return same(x);
            }
            match scene.definition(x) {
                Some(Equation { prim: Prim::Broadcast(inner), inputs, .. }) => {
                    let axes = inner.axes.iter().map(|&a| outer.axes[a]).collect();
                    apply(Broadcast { shape: outer.shape.clone(), axes }, &inputs[0])
                }
                _ => None,
            }
        }
        (Prim::ReduceSum(_), [x]) if x.literal().is_some_and(|l| l.as_f64() == 0.0) => {
            // Also -0.0: sums start from +0.0.
            Some(scene.splat(Literal::zero(scene.ty.dtype)))
        }
        (Prim::ReduceMax(_) | Prim::ReduceMin(_), [x])
            if x.literal().is_some_and(|l| !l.as_f64().is_nan()) && !scene.builder.ty(x).shape.is_empty() =>
        {
            x.literal().map(|literal| scene.splat(literal))
        }
        (Prim::DotGeneral(dot), [_, _]) => product_of_permuted(scene, dot),
        _ => None,
    }
}

/// Whether a permutation leaves all axes but those of size 1 in order.
fn only_moves_ones(scene: &Scene<'_>, permute: &Permute) -> bool {
    let shape = scene.builder.ty(&scene.operands[0]).shape;
    let walked: Vec<usize> = permute.axes.iter().copied().filter(|&a| shape.size(a) != 1).collect();
    walked.windows(2).all(|w| w[0] < w[1])
}

/// A product of a permuted operand is a product over other axes, if its free axes stay in order and the
/// product is still one call.
fn product_of_permuted(scene: &Scene<'_>, dot: &DotGeneral) -> Option<Rewrite> {
    for side in [0, 1] {
        let Some(Equation { prim: Prim::Permute(permute), inputs, .. }) =
            scene.definition(&scene.operands[side])
        else {
            continue;
        };
        let through = |axes: &[usize]| -> Vec<usize> { axes.iter().map(|&a| permute.axes[a]).collect() };
        let mut next = dot.clone();
        let (contract, batch) = if side == 0 {
            (&mut next.a_contract, &mut next.a_batch)
        } else {
            (&mut next.b_contract, &mut next.b_batch)
        };
        let free: Vec<usize> =
            (0..permute.axes.len()).filter(|a| !contract.contains(a) && !batch.contains(a)).collect();
        (*contract, *batch) = (through(contract), through(batch));
        if !through(&free).windows(2).all(|w| w[0] < w[1]) {
            continue;
        }
        let mut operands = smallvec![scene.operands[0].clone(), scene.operands[1].clone()];
        operands[side] = inputs[0].clone();
        let next = Prim::from(next);
        let types: Vec<_> = operands.iter().map(|a| scene.builder.ty(a)).collect();
        let lowering = next.rules().lower(&types, std::slice::from_ref(scene.ty));
        if matches!(lowering, Ok(Lowering::Library(_))) {
            return Some(Rewrite::Apply(next, operands));
        }
    }
    None
}
