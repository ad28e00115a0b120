//! Rewrites of reshapes, permutations and broadcasts, and of what reads through them.

use tracewell_array::{Complex64, Literal};
use tracewell_graph::prim::{Broadcast, DotGeneral, Permute, Prim, Reshape};
use tracewell_graph::{Atom, Equation, Lowering};

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
                Some(Equation { prim: Prim::Reshape(_), inputs, .. }) => apply(outer.clone(), &[&inputs[0]]),
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
                    apply(Permute { axes }, &[&inputs[0]])
                }
                _ if only_moves_ones(scene, outer) => apply(Reshape { shape: scene.ty.shape.clone() }, &[x]),
                Some(Equation { prim: Prim::DotGeneral(dot), inputs, .. }) if scene.reads_alone(x) => {
                    turned_product(scene, outer, dot, inputs)
                }
                _ => None,
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
                    apply(Broadcast { shape: outer.shape.clone(), axes }, &[&inputs[0]])
                }
                _ => None,
            }
        }
        // Not a sum of floats, which takes -0.0 to +0.0.
        (Prim::ReduceMax(_) | Prim::ReduceMin(_) | Prim::ReduceProd(_), [x])
            if scene.builder.ty(x) == *scene.ty =>
        {
            same(x)
        }
        (Prim::ReduceSum(_), [x]) if x.literal().is_some_and(|l| l.as_complex() == Complex64::ZERO) => {
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

/// A product with the free axes of its operands exchanged is that of its operands exchanged. Nobody else may want it as
/// it was, else it would be computed twice.
fn turned_product(
    scene: &Scene<'_>,
    permute: &Permute,
    dot: &DotGeneral,
    inputs: &[Atom],
) -> Option<Rewrite> {
    let [a, b] = inputs else { return None };
    let batch = dot.a_batch.len();
    let free = scene.builder.ty(a).shape.rank() - batch - dot.a_contract.len();
    let all = permute.axes.len();
    let exchanged = (0..batch).chain(batch + free..all).chain(batch..batch + free);
    let turned = Prim::from(DotGeneral {
        a_contract: dot.b_contract.clone(),
        b_contract: dot.a_contract.clone(),
        a_batch: dot.b_batch.clone(),
        b_batch: dot.a_batch.clone(),
    });
    (permute.axes.iter().copied().eq(exchanged) && is_one_call(scene, &turned, &[b, a]))
        .then(|| apply(turned, &[b, a]))
        .flatten()
}

/// Whether a product is one call of the library.
fn is_one_call(scene: &Scene<'_>, product: &Prim, operands: &[&Atom]) -> bool {
    let types: Vec<_> = operands.iter().map(|a| scene.builder.ty(a)).collect();
    let lowering = product.rules().lower(&types, std::slice::from_ref(scene.ty));
    matches!(lowering, Ok(Lowering::Library(_) | Lowering::Late(_)))
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
        let mut operands = [&scene.operands[0], &scene.operands[1]];
        operands[side] = &inputs[0];
        let next = Prim::from(next);
        if is_one_call(scene, &next, &operands) {
            return apply(next, &operands);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::simplify;
    use crate::testing::check;

    #[test]
    fn shapes_in_a_row() {
        check(
            simplify,
            "(%0: f32[2,3,4]) -> (f32[24], f32[2,3,4], f32[3,2,4], f32[5,2,3,4], f32[3,2])",
            "%1: f32[6,4] = reshape[shape=[6,4]] %0
            %2: f32[24] = reshape[shape=[24]] %1
            %3: f32[2,3,4] = reshape[shape=[2,3,4]] %2
            %4: f32[3,4,2] = permute[axes=[1,2,0]] %3
            %5: f32[3,2,4] = permute[axes=[0,2,1]] %4
            %6: f32[1,2,3,4] = broadcast[shape=[1,2,3,4], axes=[1,2,3]] %0
            %7: f32[5,2,3,4] = broadcast[shape=[5,2,3,4], axes=[0,1,2,3]] %6
            %8: f32[3,2] = permute[axes=[1,0]] 2.0:f32[2,3]
            return %2, %3, %5, %7, %8",
            expect![[r#"
                %1: f32[6,4] = reshape[shape=[6,4]] %0
                %2: f32[24] = reshape[shape=[24]] %0
                %3: f32[3,4,2] = permute[axes=[1,2,0]] %0
                %4: f32[3,2,4] = permute[axes=[1,0,2]] %0
                %5: f32[1,2,3,4] = broadcast[shape=[1,2,3,4], axes=[1,2,3]] %0
                %6: f32[5,2,3,4] = broadcast[shape=[5,2,3,4], axes=[1,2,3]] %0
                return %2, %0, %4, %6, 2.0:f32[3,2]
            "#]],
        );
    }

    #[test]
    fn reductions_of_literals() {
        check(
            simplify,
            "(%0: f32[3]) -> (f32[2], f32[2], f32[], f32[3])",
            "%1: f32[2] = reduce_sum[axes=[1]] -0.0:f32[2,3]
            %2: f32[2] = reduce_max[axes=[1]] 7.0:f32[2,3]
            %3: f32[] = reduce_max[axes=[0]] 7.0:f32[0]
            %4: f32[3] = reduce_max[axes=[]] %0
            return %1, %2, %3, %4",
            expect![[r#"
                %1: f32[] = reduce_max[axes=[0]] 7.0:f32[0]
                return 0.0:f32[2], 7.0:f32[2], %1, %0
            "#]],
        );
    }

    #[test]
    fn products_with_exchanged_axes() {
        check(
            simplify,
            "(%0: f32[7,3,2], %1: f32[7,3,4]) -> (f32[7,4,2], f32[4,2,7], f32[7,2,4], f32[7,4,2])",
            "%2: f32[7,2,4] = dot_general[a_contract=[1], b_contract=[1], a_batch=[0], b_batch=[0]] %0, %1
            %3: f32[7,4,2] = permute[axes=[0,2,1]] %2
            %4: f32[7,2,4] = dot_general[a_contract=[1], b_contract=[1], a_batch=[0], b_batch=[0]] %0, %1
            %5: f32[4,2,7] = permute[axes=[2,1,0]] %4
            %6: f32[7,2,4] = dot_general[a_contract=[1], b_contract=[1], a_batch=[0], b_batch=[0]] %0, %1
            %7: f32[7,4,2] = permute[axes=[0,2,1]] %6
            return %3, %5, %6, %7",
            expect![[r#"
                %2: f32[7,2,4] = dot_general[a_contract=[1], b_contract=[1], a_batch=[0], b_batch=[0]] %0, %1
                %3: f32[7,4,2] = dot_general[a_contract=[1], b_contract=[1], a_batch=[0], b_batch=[0]] %1, %0
                %4: f32[7,2,4] = dot_general[a_contract=[1], b_contract=[1], a_batch=[0], b_batch=[0]] %0, %1
                %5: f32[4,2,7] = permute[axes=[2,1,0]] %4
                %6: f32[7,2,4] = dot_general[a_contract=[1], b_contract=[1], a_batch=[0], b_batch=[0]] %0, %1
                %7: f32[7,4,2] = permute[axes=[0,2,1]] %6
                return %3, %5, %6, %7
            "#]],
        );
    }

    #[test]
    fn products_of_permuted_operands() {
        check(
            simplify,
            "(%0: f32[3,2], %1: f32[4,3], %2: f32[2,5,3]) -> (f32[2,4], f32[5,2,4])",
            "%3: f32[2,3] = permute[axes=[1,0]] %0
            %4: f32[3,4] = permute[axes=[1,0]] %1
            %5: f32[2,4] = dot_general[a_contract=[1], b_contract=[0], a_batch=[], b_batch=[]] %3, %4
            %6: f32[5,2,3] = permute[axes=[1,0,2]] %2
            %7: f32[5,2,4] = dot_general[a_contract=[2], b_contract=[0], a_batch=[], b_batch=[]] %6, %4
            return %5, %7",
            expect![[r#"
                %3: f32[2,3] = permute[axes=[1,0]] %0
                %4: f32[3,4] = permute[axes=[1,0]] %1
                %5: f32[2,4] = dot_general[a_contract=[0], b_contract=[1], a_batch=[], b_batch=[]] %0, %1
                %6: f32[5,2,3] = permute[axes=[1,0,2]] %2
                %7: f32[5,2,4] = dot_general[a_contract=[2], b_contract=[1], a_batch=[], b_batch=[]] %6, %1
                return %5, %7
            "#]],
        );
    }
}
