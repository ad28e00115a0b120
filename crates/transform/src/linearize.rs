//! The derivative in two parts: what can be computed before the tangents are known, and what is linear in them.
//!
//! The forward walk builds one graph of both. An equation belongs to the linear part if it reads, directly or
//! not, a tangent; all others belong to the primal part. What the linear part reads of the primal part is a
//! *residual*: it leaves the one graph as an output and enters the other as an input. Literals are no
//! residuals: they are operands and go where their equation goes. Effects belong to the primal part, and only to it.

use tracewell_graph::{Atom, Equation, Graph, Linearized, RuleError, Var};

use crate::demands::broken;
use crate::env::Env;
use crate::extract::extract;
use crate::prune::has_effect;
use crate::pushforward::{Pushforward, pushforward};

/// Where a value of the primal part comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// It is the value of this variable of the original graph.
    Original(Var),
    /// The derivative made it: no recorded value of the original graph is known to equal it.
    New,
}

/// Which values of the primal part a caller who has recorded those of the original graph need not compute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origins {
    /// Of each residual.
    pub residuals: Vec<Origin>,
    /// Of each variable of [`Linearized::primal`]: to compute the new residuals, evaluate the equations that
    /// they need and stop at variables that are original.
    pub variables: Vec<Origin>,
}

/// Splits the derivative of a graph by its `active` inputs. Only results that may vary have a tangent, only
/// values that the linear part reads are residuals, and each is one once.
pub fn linearize(graph: &Graph, active: &[bool]) -> Result<Linearized, RuleError> {
    Ok(linearize_with_origins(graph, active)?.0)
}

/// As [`linearize`], and says where the values of the primal part come from.
pub fn linearize_with_origins(graph: &Graph, active: &[bool]) -> Result<(Linearized, Origins), RuleError> {
    linearize_results(graph, active, &vec![true; graph.outputs.len()])
}

/// The same where only the `wanted` results have a tangent: what only others need is no residual.
pub fn linearize_results(
    graph: &Graph,
    active: &[bool],
    wanted: &[bool],
) -> Result<(Linearized, Origins), RuleError> {
    let mut forward = pushforward(graph, active, true)?;
    forward.tangents.iter_mut().zip(wanted).filter(|(_, wanted)| !**wanted).for_each(|(dy, _)| *dy = None);
    let tangents = forward.has_tangent();
    let Pushforward { builder, values, outputs, tangents: tangent_outputs } = forward;
    // The inputs were added first, so finishing renumbers nothing and the atoms above stay right.
    let whole = builder.finish(graph.name.as_str(), Vec::new());
    let (inputs, tangent_inputs) = whole.inputs.split_at(graph.inputs.len());

    let varies = depends_on(&whole, tangent_inputs);
    check_primals(graph, &values, &varies)?;

    let tangent_outputs: Vec<Atom> = tangent_outputs.into_iter().flatten().collect();
    let residuals = read_by_linear_part(&whole, &varies, &tangent_outputs);

    let linear_inputs: Vec<Var> = residuals.iter().chain(tangent_inputs).copied().collect();
    let (linear, _) =
        extract(&whole, format!("{}_linear", graph.name), &linear_inputs, &tangent_outputs, &|_| false);
    let primal_outputs: Vec<Atom> =
        outputs.into_iter().chain(residuals.iter().map(|&var| Atom::Var(var))).collect();
    let is_linear = |atom: &Atom| atom.var().is_some_and(|var| varies[var.0 as usize]);
    let keep = |equation: &Equation| has_effect(equation) && !equation.inputs.iter().any(is_linear);
    let (primal, places) = extract(&whole, format!("{}_primal", graph.name), inputs, &primal_outputs, &keep);

    let variables = origins(graph, &values, &places, primal.types.len());
    let residuals = residuals.iter().map(|&var| variables[places.get(var).0 as usize]).collect();
    Ok((Linearized { primal, linear, tangents }, Origins { residuals, variables }))
}

/// For each variable, whether it depends on one of these inputs.
fn depends_on(graph: &Graph, inputs: &[Var]) -> Vec<bool> {
    let mut depends = vec![false; graph.types.len()];
    inputs.iter().for_each(|var| depends[var.0 as usize] = true);
    for equation in &graph.equations {
        if equation.inputs.iter().any(|atom| atom.var().is_some_and(|var| depends[var.0 as usize])) {
            equation.outputs.iter().for_each(|var| depends[var.0 as usize] = true);
        }
    }
    depends
}

/// The contract of derivative rules while linearizing: no value of the original graph depends on a tangent.
fn check_primals(graph: &Graph, values: &Env<Atom>, varies: &[bool]) -> Result<(), RuleError> {
    for equation in &graph.equations {
        for &var in &equation.outputs {
            if values.get(var).var().is_some_and(|var| varies[var.0 as usize]) {
                let why = "while linearizing, its jvp rule made a primal result depend on a tangent";
                return Err(broken(&equation.prim, why.to_string()));
            }
        }
    }
    Ok(())
}

/// The variables of the primal part that are needed by the tangents of results, in the order of definition.
fn read_by_linear_part(whole: &Graph, varies: &[bool], tangent_outputs: &[Atom]) -> Vec<Var> {
    let mut needed = vec![false; whole.types.len()];
    let need = |needed: &mut [bool], atom: &Atom| {
        if let Atom::Var(var) = atom {
            needed[var.0 as usize] = true;
        }
    };
    tangent_outputs.iter().for_each(|atom| need(&mut needed, atom));
    for equation in whole.equations.iter().rev() {
        if equation.outputs.iter().any(|var| varies[var.0 as usize] && needed[var.0 as usize]) {
            equation.inputs.iter().for_each(|atom| need(&mut needed, atom));
        }
    }
    (0..whole.types.len()).filter(|&i| needed[i] && !varies[i]).map(|i| Var(i as u32)).collect()
}

/// The origin of each variable of the primal part, where `places` says what became of those of the whole.
fn origins(graph: &Graph, values: &Env<Atom>, places: &Env<Var>, count: usize) -> Vec<Origin> {
    let mut origins = vec![Origin::New; count];
    for var in (0..graph.types.len()).map(|i| Var(i as u32)) {
        let place = values.find(var).and_then(Atom::var).and_then(|var| places.find(var));
        if let Some(place) = place
            && origins[place.0 as usize] == Origin::New
        {
            origins[place.0 as usize] = Origin::Original(var);
        }
    }
    origins
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{read, write};
    use crate::transpose;
    use expect_test::expect;

    fn count(graph: &Graph, name: &str) -> usize {
        graph.equations.iter().filter(|eq| eq.prim.name() == name).count()
    }

    #[test]
    fn effects_are_primal() {
        let graph = read(
            "func @f(%0: f32[]) -> (f32[]) {
               %1: f32[] = sin %0
               callback[function=\"f\", ordered=true, results=()] %1
               return %1
             }",
        );
        let parts = linearize(&graph, &[true]).unwrap();
        expect![[r#"
            func @f_primal(%0: f32[]) -> (f32[], f32[]) {
              %1: f32[] = sin %0
              %2: f32[] = cos %0
              callback[function="f", ordered=true, results=()] %1
              return %1, %2
            }
            func @f_linear(%0: f32[], %1: f32[]) -> (f32[]) {
              %2: f32[] = mul %1, %0
              return %2
            }
        "#]]
        .assert_eq(&[&parts.primal, &parts.linear].map(write).concat());
    }

    #[test]
    fn split() {
        // `%0` is a residual twice and listed once; the sine of the dead `%5` is none; 2.0 goes with its
        // equation; the tangent of the second result is zero.
        let graph = read(
            "func @f(%0: f32[3], %1: f32[3]) -> (f32[3], f32[3]) {
               %2: f32[3] = mul %0, %0
               %3: f32[3] = mul %2, 2.0:f32[3]
               %4: f32[3] = exp %3
               %5: f32[3] = cos %4
               %6: f32[3] = sin %1
               return %4, %6
             }",
        );
        let (split, origins) = linearize_with_origins(&graph, &[true, false]).unwrap();
        assert_eq!(split.tangents, [true, false]);
        expect![[r#"
            func @f_primal(%0: f32[3], %1: f32[3]) -> (f32[3], f32[3], f32[3], f32[3]) {
              %2: f32[3] = mul %0, %0
              %3: f32[3] = mul %2, 2.0:f32[3]
              %4: f32[3] = exp %3
              %5: f32[3] = sin %1
              return %4, %5, %0, %4
            }
        "#]]
        .assert_eq(&write(&split.primal));
        expect![[r#"
            func @f_linear(%0: f32[3], %1: f32[3], %2: f32[3]) -> (f32[3]) {
              %3: f32[3] = mul %2, %0
              %4: f32[3] = mul %2, %0
              %5: f32[3] = add %3, %4
              %6: f32[3] = mul %5, 2.0:f32[3]
              %7: f32[3] = mul %6, %1
              return %7
            }
        "#]]
        .assert_eq(&write(&split.linear));
        assert_eq!(origins.residuals, [Origin::Original(Var(0)), Origin::Original(Var(4))]);
        assert!(origins.variables.iter().all(|origin| *origin != Origin::New));
    }

    #[test]
    fn new_residuals() {
        let graph = read(
            "func @f(%0: f32[]) -> (f32[]) {
               %1: f32[] = tanh %0
               %2: f32[] = sin %1
               return %2
             }",
        );
        let (split, origins) = linearize_with_origins(&graph, &[true]).unwrap();
        expect![[r#"
            func @f_primal(%0: f32[]) -> (f32[], f32[], f32[]) {
              %1: f32[] = tanh %0
              %2: f32[] = mul %1, %1
              %3: f32[] = sub 1.0:f32[], %2
              %4: f32[] = sin %1
              %5: f32[] = cos %1
              return %4, %3, %5
            }
        "#]]
        .assert_eq(&write(&split.primal));
        expect![[r#"
            func @f_linear(%0: f32[], %1: f32[], %2: f32[]) -> (f32[]) {
              %3: f32[] = mul %2, %0
              %4: f32[] = mul %3, %1
              return %4
            }
        "#]]
        .assert_eq(&write(&split.linear));
        assert_eq!(origins.residuals, [Origin::New, Origin::New]);
        let original = |var| Origin::Original(Var(var));
        let expected = [original(0), original(1), Origin::New, Origin::New, original(2), Origin::New];
        assert_eq!(origins.variables, expected);
    }

    #[test]
    fn nothing_varies() {
        let graph = read("func @f(%0: f32[]) -> (f32[]) {\n %1: f32[] = sin %0\n return %1\n}");
        let split = linearize(&graph, &[false]).unwrap();
        assert_eq!(split.tangents, [false]);
        assert_eq!(split.primal, graph);
        assert!(split.linear.inputs.is_empty() && split.linear.outputs.is_empty());
    }

    #[test]
    fn nested_graphs_are_two_calls() {
        let graph = read(
            "func @f(%0: f32[], %1: f32[]) -> (f32[]) {
               %2: f32[] = call[graph=func @g(%0: f32[], %1: f32[]) -> (f32[]) {
                 %2: f32[] = sin %0
                 %3: f32[] = mul %2, %1
                 return %3
               }] %0, %1
               return %2
             }",
        );
        let split = linearize(&graph, &[true, true]).unwrap();
        expect![[r#"
            func @f_primal(%0: f32[], %1: f32[]) -> (f32[], f32[], f32[], f32[]) {
              %2: f32[], %3: f32[], %4: f32[] = call[graph=func @g_primal(%0: f32[], %1: f32[]) -> (f32[], f32[], f32[]) {
                %2: f32[] = sin %0
                %3: f32[] = cos %0
                %4: f32[] = mul %2, %1
                return %4, %2, %3
              }] %0, %1
              return %2, %1, %3, %4
            }
        "#]].assert_eq(&write(&split.primal));
        expect![[r#"
            func @f_linear(%0: f32[], %1: f32[], %2: f32[], %3: f32[], %4: f32[]) -> (f32[]) {
              %5: f32[] = call[graph=func @g_linear(%0: f32[], %1: f32[], %2: f32[], %3: f32[], %4: f32[]) -> (f32[]) {
                %5: f32[] = mul %3, %2
                %6: f32[] = mul %5, %0
                %7: f32[] = mul %4, %1
                %8: f32[] = add %6, %7
                return %8
              }] %0, %1, %2, %3, %4
              return %5
            }
        "#]].assert_eq(&write(&split.linear));
    }

    /// A derivative costs a constant factor: ten equations make ten, and no exponential is computed again.
    #[test]
    fn a_chain_stays_a_chain() {
        let mut text = "func @f(%0: f64[]) -> (f64[]) {\n".to_string();
        (0..10).for_each(|i| text += &format!("%{}: f64[] = exp %{i}\n", i + 1));
        let graph = read(&(text + "return %10\n}"));

        let split = linearize(&graph, &[true]).unwrap();
        assert_eq!((count(&split.primal, "exp"), split.primal.equations.len()), (10, 10));
        assert_eq!((count(&split.linear, "mul"), split.linear.equations.len()), (10, 10));
        let linear: Vec<bool> = (0..11).map(|i| i == 10).collect();
        let (adjoint, _) = transpose(&split.linear, &linear, &[true]).unwrap();
        assert_eq!((count(&adjoint, "mul"), adjoint.equations.len()), (10, 10));
    }
}
