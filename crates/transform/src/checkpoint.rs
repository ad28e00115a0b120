//! The derivative in three parts: what is kept, what is computed again from it, and what is linear.
//!
//! Effects run with the first part and not again: their results are kept, and what is computed again is done without
//! them.

use tracewell_graph::{Atom, Equation, Graph, Linearized, Rematerialized, RuleError, Var};

use crate::extract::extract;
use crate::linearize;
use crate::prune::has_effect;

/// Splits the derivative of a graph by its `active` inputs, as [`linearize()`] does, but keeps of the primal part
/// only inputs and the results of equations for which `keep` holds; other residuals are computed again from these.
pub fn checkpoint(
    graph: &Graph,
    active: &[bool],
    keep: &dyn Fn(&Equation) -> bool,
) -> Result<Rematerialized, RuleError> {
    let Linearized { primal, linear, tangents } = linearize(graph, active)?;
    let (results, residuals) = primal.outputs.split_at(graph.outputs.len());
    let kept = kept(&primal, residuals, keep);
    let outputs: Vec<Atom> = results.iter().cloned().chain(kept.iter().map(|&var| var.into())).collect();
    let (first, _) = extract(&primal, primal.name.clone(), &primal.inputs, &outputs, &has_effect);
    let (again, _) = extract(&primal, format!("{}_again", graph.name), &kept, residuals, &|_| false);
    Ok(Rematerialized { primal: first, again: again.settled(), linear, tangents })
}

/// What the residuals are computed from, in the order of definition: walking back from them, the first inputs and
/// results of equations to keep.
fn kept(primal: &Graph, residuals: &[Atom], keep: &dyn Fn(&Equation) -> bool) -> Vec<Var> {
    let mut needed = vec![false; primal.types.len()];
    let need = |needed: &mut [bool], atom: &Atom| {
        if let Atom::Var(var) = atom {
            needed[var.0 as usize] = true;
        }
    };
    residuals.iter().for_each(|atom| need(&mut needed, atom));
    let mut kept: Vec<Var> = Vec::new();
    for equation in primal.equations.iter().rev() {
        let wanted: Vec<Var> =
            equation.outputs.iter().copied().filter(|var| needed[var.0 as usize]).collect();
        if wanted.is_empty() {
            continue;
        }
        if keep(equation) || equation.prim.settled().has_effect() {
            kept.extend(wanted);
        } else {
            equation.inputs.iter().for_each(|atom| need(&mut needed, atom));
        }
    }
    kept.extend(primal.inputs.iter().filter(|var| needed[var.0 as usize]));
    kept.sort_unstable();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{read, write};
    use expect_test::expect;

    const CHAIN: &str = "func @f(%0: f32[], %1: f32[]) -> (f32[]) {
           %2: f32[] = sin %0
           %3: f32[] = exp %2
           %4: f32[] = mul %3, %1
           return %4
         }";

    #[test]
    fn everything_is_computed_again_from_the_inputs() {
        let parts = checkpoint(&read(CHAIN), &[true, false], &|_| false).unwrap();
        expect![[r#"
            func @f_primal(%0: f32[], %1: f32[]) -> (f32[], f32[], f32[]) {
              %2: f32[] = sin %0
              %3: f32[] = exp %2
              %4: f32[] = mul %3, %1
              return %4, %0, %1
            }
            func @f_again(%0: f32[], %1: f32[]) -> (f32[], f32[], f32[]) {
              %2: f32[] = sin %0
              %3: f32[] = cos %0
              %4: f32[] = exp %2
              return %1, %3, %4
            }
            func @f_linear(%0: f32[], %1: f32[], %2: f32[], %3: f32[]) -> (f32[]) {
              %4: f32[] = mul %3, %1
              %5: f32[] = mul %4, %2
              %6: f32[] = mul %5, %0
              return %6
            }
        "#]]
        .assert_eq(&[&parts.primal, &parts.again, &parts.linear].map(write).concat());
    }

    #[test]
    fn what_is_kept_is_not_computed_again() {
        let keep = |equation: &Equation| equation.prim.name() == "exp";
        let parts = checkpoint(&read(CHAIN), &[true, false], &keep).unwrap();
        expect![[r#"
            func @f_primal(%0: f32[], %1: f32[]) -> (f32[], f32[], f32[], f32[]) {
              %2: f32[] = sin %0
              %3: f32[] = exp %2
              %4: f32[] = mul %3, %1
              return %4, %0, %1, %3
            }
            func @f_again(%0: f32[], %1: f32[], %2: f32[]) -> (f32[], f32[], f32[]) {
              %3: f32[] = cos %0
              return %1, %3, %2
            }
            func @f_linear(%0: f32[], %1: f32[], %2: f32[], %3: f32[]) -> (f32[]) {
              %4: f32[] = mul %3, %1
              %5: f32[] = mul %4, %2
              %6: f32[] = mul %5, %0
              return %6
            }
        "#]]
        .assert_eq(&[&parts.primal, &parts.again, &parts.linear].map(write).concat());
    }
}
