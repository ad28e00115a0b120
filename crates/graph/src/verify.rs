//! The verifier: what must hold of a graph between any two passes.
//!
//! - Variables are numbered densely in the order of their definition: inputs, then equation by equation.
//! - Every operand is defined before it is used, and so is every output.
//! - The types of an equation's results are those that the type rule of its primitive gives.
//! - Every array can exist: its elements can be counted.
//! - All of this holds of the graphs in parameters too, which nest at most [`MAX_DEPTH`] deep.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::graph::{Atom, Equation, Graph, Var};
use crate::text::{Line, MAX_DEPTH, Notes, Place, write_with_notes};
use crate::ty::ArrayType;

/// So many errors are enough.
const MAX_ERRORS: usize = 100;

/// A rule that is broken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// The line of the text that breaks it.
    pub place: Place,
    /// What is wrong.
    pub message: String,
}

/// Everything that is wrong. Displayed as the text with each error in a comment under its line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyErrors {
    errors: Vec<VerifyError>,
    text: String,
}

impl VerifyErrors {
    /// The errors in the order in which they were found; at least one.
    pub fn errors(&self) -> &[VerifyError] {
        &self.errors
    }
}

impl fmt::Display for VerifyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for VerifyErrors {}

/// Checks everything that must hold of a graph.
pub fn verify(graph: &Graph) -> Result<(), VerifyErrors> {
    let mut verifier = Verifier::default();
    verifier.graph(graph);
    if verifier.errors.is_empty() {
        return Ok(());
    }
    let mut notes = Notes::new();
    for error in &verifier.errors {
        notes.entry(error.place.clone()).or_default().push(format!("error: {}", error.message));
    }
    Err(VerifyErrors { text: write_with_notes(graph, &notes), errors: verifier.errors })
}

#[derive(Default)]
struct Verifier {
    errors: Vec<VerifyError>,
    /// The way to the graph being checked.
    path: Vec<(usize, usize)>,
    /// Nested graphs that are in order, by address; held, so that the address stays theirs. One graph may be
    /// called from many places: it is checked once.
    sound: FxHashMap<*const Graph, Arc<Graph>>,
}

/// The variables of one graph as far as it has been checked.
struct Scope<'g> {
    graph: &'g Graph,
    defined: Vec<bool>,
    count: usize,
}

impl Scope<'_> {
    /// The type of an operand, if it is defined.
    fn ty(&self, atom: &Atom) -> Option<ArrayType> {
        match atom {
            Atom::Var(var) if self.defined.get(var.0 as usize) == Some(&true) => {
                Some(self.graph.ty(*var).clone())
            }
            Atom::Var(_) => None,
            Atom::Splat(splat) => Some(splat.ty()),
        }
    }
}

impl Verifier {
    fn error(&mut self, line: Line, message: impl Into<String>) {
        if self.errors.len() < MAX_ERRORS {
            let place = Place { path: self.path.clone(), line };
            self.errors.push(VerifyError { place, message: message.into() });
        }
    }

    fn graph(&mut self, graph: &Graph) {
        let errors = self.errors.len();
        let mut scope = Scope { graph, defined: vec![false; graph.types.len()], count: 0 };
        for &var in &graph.inputs {
            self.define(Line::Signature, &mut scope, var);
        }
        for (number, equation) in graph.equations.iter().enumerate() {
            self.equation(&mut scope, number, equation);
        }
        for output in &graph.outputs {
            self.operand(Line::Return, &scope, output);
        }
        // Where the numbering is wrong, the count follows from that.
        if scope.count != graph.types.len() && self.errors.len() == errors {
            let (count, types) = (scope.count, graph.types.len());
            self.error(Line::Return, format!("{count} variables are defined, but {types} have a type"));
        }
    }

    fn define(&mut self, line: Line, scope: &mut Scope<'_>, var: Var) {
        let (number, next) = (var.0 as usize, scope.count);
        scope.count += 1;
        match scope.defined.get_mut(number) {
            None => self.error(line, format!("%{number} has no type")),
            Some(true) => self.error(line, format!("%{number} is defined twice")),
            Some(defined) => {
                *defined = true;
                if number != next {
                    self.error(line, format!("%{number} is defined where %{next} is next"));
                }
                self.possible(line, scope.graph.ty(var));
            }
        }
    }

    /// That the elements of an array can be counted.
    fn possible(&mut self, line: Line, ty: &ArrayType) {
        if ty.shape.checked_len().is_none() {
            self.error(line, format!("{ty} has too many elements"));
        }
    }

    /// The type of an operand, if there is nothing wrong with it.
    fn operand(&mut self, line: Line, scope: &Scope<'_>, atom: &Atom) -> Option<ArrayType> {
        let ty = scope.ty(atom);
        match (atom, &ty) {
            (Atom::Var(var), None) => {
                self.error(line, format!("%{} is used before it is defined", var.0));
            }
            (Atom::Splat(_), Some(ty)) => self.possible(line, ty),
            _ => {}
        }
        ty
    }

    fn equation(&mut self, scope: &mut Scope<'_>, number: usize, equation: &Equation) {
        let line = Line::Equation(number);
        let nested = self.nested(number, equation);
        let types: Vec<Option<ArrayType>> =
            equation.inputs.iter().map(|atom| self.operand(line, scope, atom)).collect();
        // A type rule may rely on operands and graphs that are in order.
        let types: Option<Vec<ArrayType>> = types.into_iter().collect();
        if let Some(types) = types.filter(|_| nested) {
            match equation.prim.rules().type_rule(&types) {
                Ok(results) => self.results(line, scope, equation, &results),
                Err(error) => self.error(line, error.message),
            }
        }
        for &var in &equation.outputs {
            self.define(line, scope, var);
        }
    }

    fn results(&mut self, line: Line, scope: &Scope<'_>, equation: &Equation, results: &[ArrayType]) {
        let name = equation.prim.name();
        if results.len() != equation.outputs.len() {
            let (found, want) = (equation.outputs.len(), results.len());
            let s = if want == 1 { "" } else { "s" };
            self.error(line, format!("`{name}` gives {want} result{s}, found {found}"));
        }
        for (var, result) in equation.outputs.iter().zip(results) {
            if let Some(ty) = scope.graph.types.get(var.0 as usize).filter(|ty| *ty != result) {
                self.error(line, format!("%{} is {ty}, but `{name}` gives {result}", var.0));
            }
        }
    }

    /// Checks the graphs in an equation's parameters; says whether they are in order.
    fn nested(&mut self, number: usize, equation: &Equation) -> bool {
        let mut graphs: Vec<Arc<Graph>> = Vec::new();
        equation.prim.rules().each_param(&mut |_, value| {
            graphs.extend(value.graphs().iter().cloned());
        });
        let before = self.errors.len();
        for (i, graph) in graphs.iter().enumerate() {
            if self.sound.contains_key(&Arc::as_ptr(graph)) {
                continue;
            }
            if self.errors.len() >= MAX_ERRORS {
                return false;
            }
            if self.path.len() + 1 >= MAX_DEPTH {
                self.error(Line::Equation(number), format!("graphs nest more than {MAX_DEPTH} deep"));
                continue;
            }
            let errors = self.errors.len();
            self.path.push((number, i));
            self.graph(graph);
            self.path.pop();
            if self.errors.len() == errors {
                self.sound.insert(Arc::as_ptr(graph), graph.clone());
            }
        }
        self.errors.len() == before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::GraphBuilder;
    use crate::prim::{Add, Call, Neg};
    use expect_test::expect;
    use tracewell_array::DType;

    fn ty() -> ArrayType {
        ArrayType::new(DType::F32, [2])
    }

    /// `-x`, nested in this many calls.
    fn nested(calls: usize) -> Graph {
        let mut b = GraphBuilder::new();
        let x = Atom::Var(b.input(ty()));
        let y = if calls == 0 {
            b.bind1(Neg {}, &[x])
        } else {
            b.bind1(Call { graph: Arc::new(nested(calls - 1)) }, &[x])
        };
        b.finish("nested", vec![y.unwrap()])
    }

    #[test]
    fn what_the_builder_makes_is_in_order() {
        let mut b = GraphBuilder::new();
        let x = Atom::Var(b.input(ty()));
        let y = b.bind1(Add {}, &[x.clone(), Atom::fill(&ty(), 1.0)]).unwrap();
        let late = Atom::Var(b.input(ty()));
        let z = b.bind1(Add {}, &[y, late]).unwrap();
        assert_eq!(verify(&b.finish("f", vec![z, x])), Ok(()));
        assert_eq!(verify(&nested(MAX_DEPTH - 1)), Ok(()));
    }

    #[test]
    fn too_deep() {
        let errors = verify(&nested(MAX_DEPTH)).unwrap_err();
        assert_eq!(errors.errors().len(), 1);
        assert_eq!(errors.errors()[0].message, "graphs nest more than 64 deep");
    }

    #[test]
    fn a_variable_without_type() {
        let mut graph = nested(0);
        graph.types.pop();
        expect![[r#"
            func @nested(%0: f32[2]) -> (?) {
              %1: ? = neg %0
              // error: %1 has no type
              return %1
              // error: %1 is used before it is defined
            }
        "#]]
        .assert_eq(&verify(&graph).unwrap_err().to_string());
    }

    #[test]
    fn errors_are_bounded() {
        let mut graph = nested(0);
        graph.outputs = vec![Atom::Var(Var(9)); 1000];
        assert_eq!(verify(&graph).unwrap_err().errors().len(), MAX_ERRORS);
    }
}
