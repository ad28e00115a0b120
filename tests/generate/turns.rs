//! Running native control flow turn by turn, on any kind of value: whoever can run a graph can run a loop of it.

use tracewell_array::{Literal, Tensor};
use tracewell_graph::{Control, Graph};

/// What runs graphs on values of its own.
pub(super) trait Runs {
    /// What stands for an array.
    type Value: Clone;

    /// Runs a graph; `None` ends the whole run.
    fn graph(&mut self, graph: &Graph, inputs: &[Self::Value]) -> Option<Vec<Self::Value>>;

    /// A scalar as a number: an index, or whether a condition holds.
    fn number(&self, value: &Self::Value) -> i64;

    /// Element `i` along an axis.
    fn element(&self, value: &Self::Value, axis: usize, i: usize) -> Self::Value;

    /// Elements put along a new axis. `like` has their type, also where there are none.
    fn stacked(&self, like: &Tensor, elements: &[Self::Value], axis: usize) -> Self::Value;
}

/// The results of control flow.
pub(super) fn run<R: Runs>(runs: &mut R, control: &Control, operands: &[R::Value]) -> Option<Vec<R::Value>> {
    match control {
        Control::Switch(switch) => {
            let index = runs.number(&operands[0]).clamp(0, switch.branches.len() as i64 - 1);
            runs.graph(&switch.branches[index as usize], &operands[1..])
        }
        Control::While(repeat) => {
            let (cond_consts, rest) = operands.split_at(repeat.cond_consts);
            let (consts, carries) = rest.split_at(repeat.body_consts);
            let mut carries = carries.to_vec();
            loop {
                let holds = runs.graph(&repeat.cond, &[cond_consts, &carries].concat())?;
                if runs.number(&holds[0]) == 0 {
                    return Some(carries);
                }
                carries = runs.graph(&repeat.body, &[consts, &carries].concat())?;
            }
        }
        Control::Scan(scan) => {
            let (consts, rest) = operands.split_at(scan.consts);
            let (carries, xs) = rest.split_at(scan.carries);
            let mut carries = carries.to_vec();
            let mut made = Vec::with_capacity(scan.length);
            for turn in 0..scan.length {
                let i = if scan.reverse { scan.length - 1 - turn } else { turn };
                let elements: Vec<R::Value> = xs.iter().map(|x| runs.element(x, 0, i)).collect();
                carries = runs.graph(&scan.body, &[consts, &carries, &elements].concat())?;
                made.push(carries.split_off(scan.carries));
            }
            if scan.reverse {
                made.reverse();
            }
            let axes = vec![0; scan.body.outputs.len() - scan.carries];
            carries.extend(stack_all(runs, &scan.body, scan.carries, &made, &axes));
            Some(carries)
        }
        Control::Each(each) => {
            let mut made = Vec::with_capacity(each.size);
            for i in 0..each.size {
                let element = |(x, &axis): (&R::Value, &i64)| match usize::try_from(axis) {
                    Ok(axis) => runs.element(x, axis, i),
                    Err(_) => x.clone(),
                };
                let elements: Vec<R::Value> = operands.iter().zip(&each.axes).map(element).collect();
                made.push(runs.graph(&each.graph, &elements)?);
            }
            let axes: Vec<usize> = each.out_axes.iter().map(|&axis| axis as usize).collect();
            Some(stack_all(runs, &each.graph, 0, &made, &axes))
        }
    }
}

/// The results of all turns, each along its axis: those of the graph's outputs from `first` on.
fn stack_all<R: Runs>(
    runs: &R,
    graph: &Graph,
    first: usize,
    turns: &[Vec<R::Value>],
    axes: &[usize],
) -> Vec<R::Value> {
    let stack = |(k, &axis): (usize, &usize)| {
        let ty = graph.atom_type(&graph.outputs[first + k]);
        let like = Tensor::full(Literal::zero(ty.dtype), ty.shape);
        let elements: Vec<R::Value> = turns.iter().map(|turn| turn[k].clone()).collect();
        runs.stacked(&like, &elements, axis)
    };
    axes.iter().enumerate().map(stack).collect()
}

/// Element `i` along an axis of an array.
pub(super) fn element(x: &Tensor, axis: usize, i: usize) -> Tensor {
    let shape = x.shape().remove(axis);
    let size = x.shape().size(axis);
    let inner: usize = x.shape().iter().skip(axis + 1).product();
    let place = |e: usize| (e / inner * size + i) * inner + e % inner;
    let literals: Vec<Literal> = (0..shape.len()).map(|e| x.literal(place(e))).collect();
    Tensor::from_literals(x.dtype(), shape, &literals).expect("one literal for each element")
}

/// Arrays along a new axis; all have the type of `like`.
pub(super) fn stacked(like: &Tensor, elements: &[&Tensor], axis: usize) -> Tensor {
    let shape = like.shape().insert(axis, elements.len());
    let inner: usize = like.shape().iter().skip(axis).product();
    let outer = like.len().checked_div(inner).unwrap_or(0);
    let mut literals = Vec::with_capacity(shape.len());
    for o in 0..outer {
        for part in elements {
            literals.extend((0..inner).map(|e| part.literal(o * inner + e)));
        }
    }
    Tensor::from_literals(like.dtype(), shape, &literals).expect("one literal for each element")
}
