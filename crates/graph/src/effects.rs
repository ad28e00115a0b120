//! What a graph does besides computing its results.
//!
//! An equation has an effect if it is an ordered `callback`, or runs a graph that has one. It is kept whether its
//! results are used or not, never merged with another, and never moved before or behind another one.

use std::sync::Arc;

use crate::graph::{Equation, Graph};
use crate::params::ParamValue;
use crate::prim::Prim;

impl Prim {
    /// Whether it does something besides computing its results.
    pub fn has_effect(&self) -> bool {
        if let Prim::Callback(callback) = self {
            return callback.ordered;
        }
        if !self.nests() {
            return false;
        }
        let mut found = false;
        self.rules().each_param(&mut |name, value| {
            found |= self.runs(name) && value.graphs().iter().any(|graph| graph.has_effect());
        });
        found
    }

    /// Whether the graph of that parameter runs when the primitive does. The rules of functions that have their
    /// own wait for derivatives.
    fn runs(&self, param: &str) -> bool {
        !matches!(self, Prim::CustomJvp(_) | Prim::CustomVjp(_)) || param == "primal"
    }

    /// The same after it ran: see [`Graph::settled`]. If it still has an effect, that has results.
    pub fn settled(&self) -> Prim {
        if !self.has_effect() || matches!(self, Prim::Custom(_) | Prim::Callback(_)) {
            return self.clone();
        }
        let settle = |graph: &Arc<Graph>| Arc::new(graph.settled());
        let mut params = Vec::new();
        self.rules().each_param(&mut |name, value| {
            let value = match value {
                ParamValue::Graph(graph) if self.runs(name) => ParamValue::Graph(settle(&graph)),
                ParamValue::Graphs(graphs) if self.runs(name) => {
                    ParamValue::Graphs(graphs.iter().map(settle).collect())
                }
                other => other,
            };
            params.push((name.to_string(), value));
        });
        Prim::from_params(self.name(), &params).unwrap_or_else(|| self.clone())
    }
}

impl Graph {
    /// Whether it does something besides computing its results.
    pub fn has_effect(&self) -> bool {
        self.equations.iter().any(|equation| equation.prim.has_effect())
    }

    /// The same graph after it ran: without effects that have no results, in the graphs it runs too. What has
    /// results stays, as others read them. Variables keep their numbers.
    pub fn settled(&self) -> Graph {
        let is_done = |equation: &Equation| equation.outputs.is_empty() && equation.prim.has_effect();
        let equations = self.equations.iter().filter(|equation| !is_done(equation));
        let equations =
            equations.map(|equation| Equation { prim: equation.prim.settled(), ..equation.clone() });
        Graph { equations: equations.collect(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use tracewell_array::DType;

    use crate::host::HostFunction;
    use crate::prim::{Call, Callback};
    use crate::{ArrayType, Atom, Graph, GraphBuilder, Prim};
    use std::sync::Arc;

    /// A graph of one input that calls a function on it, and returns it.
    fn graph(ordered: bool) -> Graph {
        let Prim::Callback(copy) =
            Prim::examples().into_iter().map(|e| e.prim).find(|p| p.name() == "callback").unwrap()
        else {
            unreachable!("found by its name")
        };
        let mut b = GraphBuilder::new();
        let x = Atom::Var(b.input(ArrayType::new(DType::F32, [3])));
        let function: HostFunction = copy.function;
        b.bind(Callback { function, ordered, results: Vec::new() }, std::slice::from_ref(&x)).unwrap();
        b.finish("f", vec![x])
    }

    fn calling(inner: Graph) -> Graph {
        let mut b = GraphBuilder::new();
        let x = Atom::Var(b.input(ArrayType::new(DType::F32, [3])));
        let y = b.bind1(Call { graph: Arc::new(inner) }, &[x]).unwrap();
        b.finish("g", vec![y])
    }

    #[test]
    fn nested_effects_are_effects() {
        assert!(!graph(false).has_effect() && !calling(graph(false)).has_effect());
        let outer = calling(calling(graph(true)));
        assert!(outer.has_effect());
        let settled = outer.settled();
        assert!(!settled.has_effect());
        assert!(crate::verify(&settled).is_ok() && settled.types == outer.types);
    }
}
