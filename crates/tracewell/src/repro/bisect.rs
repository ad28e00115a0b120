//! Which pass broke it: a graph compiled with more and more of the passes, until its results differ.

use std::cell::RefCell;
use std::fmt;

use tracewell_array::Tensor;
use tracewell_graph::{Graph, GraphBuilder, eval};
use tracewell_optimize::PIPELINE;
use tracewell_repro::CallTree;

use super::replay;
use crate::checks::difference;
use crate::executable::run;
use crate::pipeline::{Settings, compile, optimized};

thread_local! {
    /// The graph whose compiled results differed last, and its inputs.
    static DIFFERED: RefCell<Option<(Graph, Vec<Tensor>)>> = const { RefCell::new(None) };
}

/// Remembers what differed.
pub(crate) fn differed(graph: &Graph, inputs: &[Tensor]) {
    DIFFERED.set(Some((graph.clone(), inputs.to_vec())));
}

/// The step of the compiler after which compiled and evaluated results differ.
#[derive(Clone, PartialEq, Debug)]
pub struct Blame {
    /// Its name: a pass, `fusion`, or `lowering` for what comes after.
    pub step: String,
    /// The graph before it.
    pub before: Graph,
    /// The graph after it; the same where it is not a pass.
    pub after: Graph,
    /// The first equation that is another, of a pass.
    pub equation: Option<usize>,
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "`{}` breaks it", self.step)?;
        if let Some(equation) = self.equation {
            writeln!(f, "the first equation that differs is number {equation}")?;
        }
        write!(f, "before:\n{}", self.before)?;
        if self.before != self.after {
            write!(f, "after:\n{}", self.after)?;
        }
        Ok(())
    }
}

/// Replays a tree and finds the step that breaks it; nothing if compiled and evaluated results agree.
pub(super) fn bisect(tree: &CallTree) -> Option<Blame> {
    DIFFERED.set(None);
    crate::checks::check_compiled(|| replay::replay(tree));
    let (graph, inputs) = DIFFERED.take()?;
    blame(&graph, &inputs)
}

/// The first step after which results differ.
pub(super) fn blame(graph: &Graph, inputs: &[Tensor]) -> Option<Blame> {
    let expected = eval(graph, inputs).ok()?;
    let breaks = |passes: usize, fusion: bool| {
        let settings = Settings { passes, fusion, ..Settings::default() };
        let Ok(executable) = compile(graph, &settings) else { return true };
        let mut given: Vec<_> = inputs.iter().map(tracewell_runtime::Input::Lent).collect();
        match run(&executable, &mut given) {
            Ok(found) => {
                found.iter().zip(&expected).any(|(found, expected)| difference(found, expected).is_some())
            }
            Err(_) => true,
        }
    };
    let all = PIPELINE.len();
    let graph_after = |passes: usize| {
        let settings = Settings { passes, ..Settings::default() };
        optimized(graph, &settings).unwrap_or_else(|_| graph.clone())
    };
    let optimised_differs = |passes: usize| match eval(&graph_after(passes), inputs) {
        Ok(found) => {
            found.iter().zip(&expected).any(|(found, expected)| difference(found, expected).is_some())
        }
        Err(_) => true,
    };
    // A pass that changes what the graph means is found without a compiler.
    if let Some(pass) = (0..all).find(|&pass| optimised_differs(pass + 1)) {
        let (before, after) = (graph_after(pass), graph_after(pass + 1));
        let pairs = before.equations.iter().zip(&after.equations);
        let equation = pairs.into_iter().position(|(before, after)| before != after);
        let equation = equation.or(Some(before.equations.len().min(after.equations.len())));
        return Some(Blame { step: PIPELINE[pass].name.to_string(), before, after, equation });
    }
    let optimised = graph_after(all);
    let same = |step: &str| {
        Some(Blame {
            step: step.to_string(),
            before: optimised.clone(),
            after: optimised.clone(),
            equation: None,
        })
    };
    match (breaks(all, true), breaks(all, false)) {
        (false, _) => None,
        (true, false) => same("fusion"),
        (true, true) => same("lowering"),
    }
}

/// A graph of one primitive, for what differed outside of a jitted function.
pub(crate) fn differed_primitive(prim: &tracewell_graph::Prim, operands: &[Tensor]) {
    let mut builder = GraphBuilder::new();
    let types: Vec<_> = operands.iter().map(tracewell_graph::ArrayType::of).collect();
    let inputs: Vec<_> = types.iter().map(|ty| builder.input(ty.clone()).into()).collect();
    let Ok(results) = prim.rules().type_rule(&types) else { return };
    let outputs = builder.push(prim.clone(), &inputs, results);
    differed(&builder.finish(prim.name(), outputs.into_vec()), operands);
}
