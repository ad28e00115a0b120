//! What the values of a tree are, as far as that can be said without running it: by the reference evaluator.
//!
//! A function that ran several times has the values of its first time. What has effects, may never end or is large is
//! not evaluated.

use std::collections::BTreeMap;

use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Graph, ParamValue, Prim};
use tracewell_trace::Api;

use crate::tree::{ApiCall, Bind, Body, CallTree, Name, Operand, Statement, Typed};

/// Arrays of more elements are not evaluated.
const MOST_ELEMENTS: usize = 1 << 16;

/// Of one tree so many elements are evaluated, and no more.
const MOST_WORK: usize = 1 << 24;

/// The values of a tree that are known, by their names.
pub(super) fn values(tree: &CallTree) -> BTreeMap<Name, Tensor> {
    let mut known = Known { values: BTreeMap::new(), left: MOST_WORK };
    known.statements(&tree.main);
    known.values
}

struct Known {
    values: BTreeMap<Name, Tensor>,
    /// How many elements may still be evaluated.
    left: usize,
}

impl Known {
    fn value(&self, operand: &Operand) -> Option<Tensor> {
        match operand {
            Operand::Var(typed) => self.values.get(&typed.name).cloned(),
            Operand::Splat(splat) => {
                elements(&splat.ty()).map(|_| Tensor::full(splat.literal, splat.shape.clone()))
            }
            Operand::Data(tensor, _) => Some(tensor.clone()),
            Operand::Lost(_) => None,
        }
    }

    fn define(&mut self, typed: &Typed, value: Option<Tensor>) {
        let value = value.filter(|tensor| ArrayType::of(tensor).matches(&typed.ty));
        if let Some(value) = value {
            self.values.insert(typed.name, value);
        }
    }

    fn statements(&mut self, body: &Body) {
        for statement in &body.statements {
            match statement {
                Statement::Bind(bind) => self.bind(bind),
                Statement::Api(call) => self.api(call),
                _ => {}
            }
        }
    }

    fn bind(&mut self, bind: &Bind) {
        let Some(operands) =
            bind.operands.iter().map(|operand| self.value(operand)).collect::<Option<Vec<_>>>()
        else {
            return;
        };
        let types: Vec<ArrayType> = bind.operands.iter().map(Operand::ty).collect();
        // Types that were changed need not fit any more.
        let Ok(results) = bind.prim.rules().type_rule(&types) else { return };
        let sizes = types.iter().chain(&results).map(elements).collect::<Option<Vec<_>>>();
        let (Some(sizes), Some(turns)) = (sizes, turns(&bind.prim)) else { return };
        let work = sizes.iter().sum::<usize>().saturating_add(1).saturating_mul(turns);
        if work > self.left {
            return;
        }
        self.left -= work;
        if let Ok(values) = bind.prim.rules().eval(&operands) {
            bind.results.iter().zip(values).for_each(|(typed, value)| self.define(typed, Some(value)));
        }
    }

    fn api(&mut self, call: &ApiCall) {
        let arguments: Vec<&Operand> = call.arguments.iter().flat_map(|(_, form)| form.leaves()).collect();
        for body in &call.bodies {
            // What counts the turns comes before what is carried.
            let counter = usize::from(call.api == Api::ForiLoop && body.role == "body");
            for (typed, argument) in body.parameters.iter().skip(counter).zip(&arguments) {
                let value = self.value(argument).and_then(|value| at_first(value, &typed.ty));
                self.define(typed, value);
            }
            self.statements(body);
        }
        // What is contracted differs in the last digit at most.
        if matches!(call.api, Api::Jit | Api::Checkpoint | Api::Contract)
            && let Some(body) = call.bodies.last()
        {
            let returned = body.returned.iter().flat_map(|form| form.leaves());
            let results = call.results.iter().flat_map(|form| form.leaves());
            for (typed, operand) in results.zip(returned) {
                let value = self.value(operand);
                self.define(typed, value);
            }
        }
    }
}

/// What a function is given the first time, of what its API is given: the whole, or the first row.
fn at_first(value: Tensor, ty: &ArrayType) -> Option<Tensor> {
    if ArrayType::of(&value).matches(ty) {
        return Some(value);
    }
    let row = (value.rank() == ty.shape.rank() + 1).then(|| value.rows().next()).flatten()?;
    ArrayType::of(&row).matches(ty).then_some(row)
}

/// How many elements an array has, if it is small.
fn elements(ty: &ArrayType) -> Option<usize> {
    let count = ty.shape.iter().try_fold(1usize, |count, n| count.checked_mul(n))?;
    (count <= MOST_ELEMENTS).then_some(count)
}

/// How many equations are evaluated for a primitive; nothing if that is not known, or if it does more than compute.
fn turns(prim: &Prim) -> Option<usize> {
    if matches!(prim, Prim::While(_) | Prim::Callback(_) | Prim::Custom(_)) {
        return None;
    }
    let times = match prim {
        Prim::Scan(scan) => scan.length,
        Prim::Each(each) => each.size,
        _ => 1,
    };
    let mut inner = Some(0usize);
    prim.rules().each_param(&mut |_, value: ParamValue| {
        for graph in value.graphs() {
            inner = inner.zip(turns_of(graph)).map(|(a, b)| a.saturating_add(b));
        }
    });
    inner.map(|inner| inner.saturating_mul(times).max(1))
}

fn turns_of(graph: &Graph) -> Option<usize> {
    let small = graph.types.iter().all(|ty| elements(ty).is_some());
    let mut all = graph.equations.iter().map(|equation| turns(&equation.prim));
    all.try_fold(0usize, |sum, one| Some(sum.saturating_add(one?))).filter(|_| small)
}
