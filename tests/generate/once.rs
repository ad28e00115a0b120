//! Control flow made smaller: its graphs applied once in its place, and which of their equations may go.

use std::sync::Arc;

use tracewell_graph::prim::{Broadcast, Reshape, Slice, While};
use tracewell_graph::{ArrayType, Atom, Control, Graph, GraphBuilder, Prim, TypeError};

/// For each graph that makes the results of control flow: that graph, applied once to operands of these types, with
/// results of the types of control flow. None where there is no turn to take elements of.
pub(super) fn applied_once(control: &Control, operands: &[ArrayType]) -> Vec<Arc<Graph>> {
    match control {
        Control::Switch(switch) => {
            let branches = switch.branches.iter().filter_map(|branch| {
                let axes = vec![None; branch.inputs.len()];
                applied(branch, operands, 1, &axes, &vec![None; branch.outputs.len()], 1)
            });
            branches.collect()
        }
        Control::While(repeat) => {
            // The condition too, though nothing reads it: it may be what matters.
            let mut b = GraphBuilder::new();
            let inputs: Vec<Atom> = operands.iter().map(|ty| b.input(ty.clone()).into()).collect();
            let (cond_consts, rest) = inputs.split_at(repeat.cond_consts);
            b.inline(&repeat.cond, &[cond_consts, &rest[repeat.body_consts..]].concat());
            let results = b.inline(&repeat.body, rest);
            vec![Arc::new(b.finish(repeat.body.name.clone(), results))]
        }
        Control::Scan(scan) => {
            let whole = scan.consts + scan.carries;
            let axes: Vec<Option<usize>> = (0..operands.len()).map(|i| (i >= whole).then_some(0)).collect();
            let outputs = 0..scan.body.outputs.len();
            let outputs: Vec<Option<usize>> = outputs.map(|i| (i >= scan.carries).then_some(0)).collect();
            applied(&scan.body, operands, 0, &axes, &outputs, scan.length).into_iter().collect()
        }
        Control::Each(each) => {
            let axis = |axis: &i64| usize::try_from(*axis).ok();
            let axes: Vec<Option<usize>> = each.axes.iter().map(axis).collect();
            let outputs: Vec<Option<usize>> = each.out_axes.iter().map(axis).collect();
            applied(&each.graph, operands, 0, &axes, &outputs, each.size).into_iter().collect()
        }
    }
}

/// A graph that applies another to the operands from `first` on: to the first element along each axis, where there is
/// one, with the results repeated along theirs.
fn applied(
    graph: &Graph,
    operands: &[ArrayType],
    first: usize,
    axes: &[Option<usize>],
    out_axes: &[Option<usize>],
    size: usize,
) -> Option<Arc<Graph>> {
    if size == 0 {
        return None;
    }
    let mut b = GraphBuilder::new();
    let inputs: Vec<Atom> = operands.iter().map(|ty| b.input(ty.clone()).into()).collect();
    let elements = inputs[first..].iter().zip(axes).map(|(x, axis)| match axis {
        Some(axis) => element(&mut b, x, *axis),
        None => Ok(x.clone()),
    });
    let elements: Vec<Atom> = elements.collect::<Result<_, _>>().ok()?;
    let results = b.inline(graph, &elements);
    let repeated = results.into_iter().zip(out_axes).map(|(y, axis)| match axis {
        Some(axis) => repeat(&mut b, &y, *axis, size),
        None => Ok(y),
    });
    let results: Vec<Atom> = repeated.collect::<Result<_, _>>().ok()?;
    Some(Arc::new(b.finish(graph.name.clone(), results)))
}

fn element(b: &mut GraphBuilder, x: &Atom, axis: usize) -> Result<Atom, TypeError> {
    let shape = b.ty(x).shape;
    let one = b.bind1(Slice::along(&shape, axis, 0, 1), std::slice::from_ref(x))?;
    b.bind1(Reshape { shape: shape.remove(axis) }, &[one])
}

fn repeat(b: &mut GraphBuilder, y: &Atom, axis: usize, size: usize) -> Result<Atom, TypeError> {
    let shape = b.ty(y).shape.insert(axis, size);
    let axes = (0..shape.rank()).filter(|&other| other != axis).collect();
    b.bind1(Broadcast { shape, axes }, std::slice::from_ref(y))
}

/// Which equations of a graph that a primitive nests, the one of this number, may be changed. What decides when a
/// `while` ends may not: whatever makes it small must not make it endless.
pub(super) fn may_change(prim: &Prim, number: usize, inner: &Graph) -> Vec<bool> {
    let Prim::While(repeat) = prim else { return vec![true; inner.equations.len()] };
    if number == 0 {
        return vec![false; inner.equations.len()];
    }
    // The condition reads some carries, and the body computes those from others.
    let is_read = |(_, needed): &(usize, bool)| *needed;
    let of_cond = needed(&repeat.cond, &repeat.cond.outputs).0;
    let mut decides = of_cond[repeat.cond_consts..].to_vec();
    loop {
        let outputs = decided(repeat, &decides);
        let (inputs, equations) = needed(&repeat.body, &outputs);
        let mut more = decides.clone();
        let of_carries = inputs[repeat.body_consts..].iter().copied().enumerate();
        of_carries.filter(is_read).for_each(|(i, _)| more[i] = true);
        if more == decides {
            return equations.iter().map(|needed| !needed).collect();
        }
        decides = more;
    }
}

/// What the body carries on of some carries.
fn decided(repeat: &While, decides: &[bool]) -> Vec<Atom> {
    let outputs = repeat.body.outputs.iter().zip(decides);
    outputs.filter(|(_, decides)| **decides).map(|(output, _)| output.clone()).collect()
}

/// Which inputs and which equations of a graph some values need.
fn needed(graph: &Graph, values: &[Atom]) -> (Vec<bool>, Vec<bool>) {
    let mut live = vec![false; graph.types.len()];
    let mark = |atoms: &[Atom], live: &mut [bool]| {
        atoms.iter().filter_map(Atom::var).for_each(|var| live[var.0 as usize] = true);
    };
    mark(values, &mut live);
    let mut equations = vec![false; graph.equations.len()];
    for (i, equation) in graph.equations.iter().enumerate().rev() {
        if equation.outputs.iter().any(|var| live[var.0 as usize]) {
            equations[i] = true;
            mark(&equation.inputs, &mut live);
        }
    }
    (graph.inputs.iter().map(|var| live[var.0 as usize]).collect(), equations)
}
