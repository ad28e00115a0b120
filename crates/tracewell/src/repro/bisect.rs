//! Which step of the compiler broke it: a graph is compiled with more and more of the steps, until its results differ,
//! or until it does not compile.
//!
//! First the passes, whose results are evaluated; then vectors, fusion and lowering, whose results are run. Within a
//! pass and within fusion the first rewrite, or the first array, is found after which it differs.

use std::cell::RefCell;
use std::fmt;

use tracewell_array::Tensor;
use tracewell_codegen::Loops;
use tracewell_graph::text::{Line, write_line};
use tracewell_graph::{ArrayType, Atom, Equation, Graph, GraphBuilder, Prim, eval};
use tracewell_kernel::steps::{Taken, up_to};
use tracewell_optimize::PIPELINE;
use tracewell_repro::CallTree;

use super::replay;
use super::session::REPLAYING;
use crate::checks::difference;
use crate::executable::run;
use crate::pipeline::{Settings, compile, guarded, optimized};

thread_local! {
    /// The graph whose compiled results differed last, with its inputs; without any, it did not compile.
    static DIFFERED: RefCell<Option<(Graph, Option<Vec<Tensor>>)>> = const { RefCell::new(None) };
}

/// Remembers what differed.
pub(crate) fn differed(graph: &Graph, inputs: &[Tensor]) {
    DIFFERED.set(Some((graph.clone(), Some(inputs.to_vec()))));
}

/// Remembers what did not compile, while something is replayed.
pub(crate) fn did_not_compile(graph: &Graph) {
    if REPLAYING.is_on() {
        DIFFERED.set(Some((graph.clone(), None)));
    }
}

/// The step of the compiler after which compiled and evaluated results differ, or which fails itself.
#[derive(Clone, PartialEq, Debug)]
pub struct Blame {
    /// Its name: a pass, `fusion`, `wide vectors`, `vectors`, `vector tail`, or `lowering` for the rest.
    pub step: String,
    /// What in it: the equation that a pass rewrites wrongly or that is lowered wrongly, the array that is computed
    /// inside the kernel of another. Nothing if it is no single one.
    pub part: Option<String>,
    /// The graph before it.
    pub before: Graph,
    /// The graph after it; the same where it is not a pass.
    pub after: Graph,
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.part {
            Some(part) => writeln!(f, "`{}` breaks it, at {part}", self.step)?,
            None => writeln!(f, "`{}` breaks it", self.step)?,
        }
        write!(f, "before:\n{}", self.before)?;
        if self.before != self.after {
            write!(f, "after:\n{}", self.after)?;
        }
        Ok(())
    }
}

/// Replays a tree and finds the step that breaks it; nothing if all compiles, and compiled and evaluated results agree.
pub(super) fn bisect(tree: &CallTree) -> Option<Blame> {
    DIFFERED.set(None);
    crate::checks::check_compiled(|| replay::replay(tree));
    let (graph, inputs) = DIFFERED.take()?;
    let run = match inputs {
        Some(inputs) => Some(Run { expected: eval(&graph, &inputs).ok()?, inputs }),
        None => None,
    };
    Case { graph: &graph, run: run.as_ref() }.blame()
}

/// What a graph is run on, and what it should give.
struct Run {
    inputs: Vec<Tensor>,
    expected: Vec<Tensor>,
}

impl Run {
    fn differs(&self, found: &[Tensor]) -> bool {
        found.iter().zip(&self.expected).any(|(found, expected)| difference(found, expected).is_some())
    }
}

/// A graph that goes wrong.
struct Case<'g> {
    graph: &'g Graph,
    /// Nothing where it does not even compile.
    run: Option<&'g Run>,
}

impl Case<'_> {
    /// Whether a graph that should mean the same does not, or was not even made.
    fn means_another<E>(&self, graph: &Result<Graph, E>) -> bool {
        let Ok(graph) = graph else { return true };
        let Some(run) = self.run else { return false };
        eval(graph, &run.inputs).map_or(true, |found| run.differs(&found))
    }

    /// Whether it goes wrong when it is compiled so. What cannot be compiled does too.
    fn breaks(&self, settings: &Settings) -> bool {
        let Ok(executable) = compile(self.graph, settings) else { return true };
        let Some(case) = self.run else { return false };
        let mut given: Vec<_> = case.inputs.iter().map(tracewell_runtime::Input::Lent).collect();
        run(&executable, &mut given).map_or(true, |found| case.differs(&found))
    }

    fn blame(&self) -> Option<Blame> {
        let after = |passes: usize| optimized(self.graph, &Settings { passes, ..Settings::default() });
        // A pass that changes what the graph means is found without a compiler.
        if let Some(pass) = (0..PIPELINE.len()).find(|&pass| self.means_another(&after(pass + 1))) {
            return Some(self.blame_pass(pass, &after(pass).ok()?));
        }
        let all = Settings::default();
        if !self.breaks(&all) {
            return None;
        }
        let graph = after(PIPELINE.len()).ok()?;
        let blame = |step: &str, part: Option<String>| {
            Some(Blame { step: step.to_string(), part, before: graph.clone(), after: graph.clone() })
        };
        if !self.breaks(&Settings { loops: Loops::Plain, ..all.clone() }) {
            if !self.breaks(&Settings { loops: Loops::Narrow, ..all.clone() }) {
                return blame("wide vectors", None);
            }
            // Divided as for vectors, but without any: what is left is how loops are divided, and the rest of them.
            let divided = self.breaks(&Settings { loops: Loops::Divided, ..all });
            return blame(if divided { "vector tail" } else { "vectors" }, None);
        }
        if !self.breaks(&Settings { fusion: false, ..all.clone() }) {
            // Of the graph after the passes, so that only fusions are counted.
            let rest = Case { graph: &graph, run: self.run };
            let settings = Settings { passes: 0, ..all };
            let (_, part) = first_bad(|most| up_to(most, || rest.breaks(&settings)));
            return blame("fusion", part);
        }
        blame("lowering", self.lowered_wrongly(&graph))
    }

    /// The first rewrite of a pass that goes wrong, with the graph before and after it.
    fn blame_pass(&self, pass: usize, before: &Graph) -> Blame {
        let pass = &PIPELINE[pass];
        let made = |most: usize| up_to(most, || guarded(|| (pass.run)(before.clone())));
        let (rewrite, part) = first_bad(|most| {
            let (graph, taken) = made(most);
            (self.means_another(&graph), taken)
        });
        // Where a rewrite panics there is no graph after it.
        let or = |made: Result<Graph, String>, graph: &Graph| made.unwrap_or_else(|_| graph.clone());
        let (before, after) = match rewrite {
            0 => (before.clone(), or(guarded(|| (pass.run)(before.clone())), before)),
            n => {
                let last = or(made(n - 1).0, before);
                let after = or(made(n).0, &last);
                (last, after)
            }
        };
        Blame { step: pass.name.to_string(), part, before, after }
    }

    /// The first equation that goes wrong when it is compiled alone.
    fn lowered_wrongly(&self, graph: &Graph) -> Option<String> {
        let Some(run) = self.run else {
            let alone = |equation: &Equation| {
                let types: Vec<ArrayType> =
                    equation.inputs.iter().map(|atom| graph.atom_type(atom)).collect();
                let alone = of_one_primitive(&equation.prim, &types)?;
                Some(Case { graph: &alone, run: None }.breaks(&Settings::default()))
            };
            let number = graph.equations.iter().position(|equation| alone(equation) == Some(true))?;
            return Some(line(graph, number));
        };
        let mut values: Vec<Option<Tensor>> = vec![None; graph.types.len()];
        for (var, tensor) in graph.inputs.iter().zip(&run.inputs) {
            values[var.0 as usize] = Some(tensor.clone());
        }
        for (number, equation) in graph.equations.iter().enumerate() {
            let operand = |atom: &Atom| match atom {
                Atom::Var(var) => values[var.0 as usize].clone(),
                Atom::Splat(splat) => Some(Tensor::full(splat.literal, splat.shape.clone())),
            };
            let operands: Vec<Tensor> = equation.inputs.iter().map(operand).collect::<Option<_>>()?;
            let types: Vec<ArrayType> = operands.iter().map(ArrayType::of).collect();
            let alone = of_one_primitive(&equation.prim, &types)?;
            let run = Run { expected: eval(&alone, &operands).ok()?, inputs: operands };
            if (Case { graph: &alone, run: Some(&run) }).breaks(&Settings::default()) {
                return Some(line(graph, number));
            }
            for (var, tensor) in equation.outputs.iter().zip(run.expected) {
                values[var.0 as usize] = Some(tensor);
            }
        }
        None
    }
}

/// The number of a step without which it goes well and with which it does not, and the step; 0 if it goes wrong without
/// any. `run` takes so many steps, and says whether it went wrong.
fn first_bad(run: impl Fn(usize) -> (bool, Taken)) -> (usize, Option<String>) {
    let (bad_at_once, all) = run(0);
    if bad_at_once {
        return (0, None);
    }
    let (mut good, mut bad) = (0, all.count);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        match run(middle).0 {
            true => bad = middle,
            false => good = middle,
        }
    }
    (bad, run(bad).1.last)
}

fn line(graph: &Graph, number: usize) -> String {
    format!("`{}`", write_line(graph, Line::Equation(number)).trim())
}

/// A graph of one primitive, for what differed outside of a jitted function.
pub(crate) fn differed_primitive(prim: &Prim, operands: &[Tensor]) {
    let types: Vec<ArrayType> = operands.iter().map(ArrayType::of).collect();
    if let Some(graph) = of_one_primitive(prim, &types) {
        differed(&graph, operands);
    }
}

fn of_one_primitive(prim: &Prim, types: &[ArrayType]) -> Option<Graph> {
    let mut builder = GraphBuilder::new();
    let inputs: Vec<_> = types.iter().map(|ty| builder.input(ty.clone()).into()).collect();
    let results = prim.rules().type_rule(types).ok()?;
    let outputs = builder.push(prim.clone(), &inputs, results);
    Some(builder.finish(prim.name(), outputs.into_vec()))
}
