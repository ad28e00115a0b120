//! A loop over whole arrays of which every element goes its own way becomes a loop for each element: what is carried
//! stays in registers instead of going through memory in every turn, and elements go to all cores.
//!
//! Elements go their own way if nothing in the loop but elementwise functions touches arrays of their shape, and how
//! often it turns depends on scalars alone. A scan along such arrays stays as it is: it walks along memory. Two
//! elements share a loop where they come out even: while one waits for its last result the other has work to do.

use std::sync::Arc;

use tracewell_array::Shape;
use tracewell_graph::prim::{Broadcast, Each, Reshape, Scan, Slice, While};
use tracewell_graph::{ArrayType, Atom, Equation, Graph, GraphBuilder, Lowering, Prim, Splat};

use super::rebind;
use crate::rebuild::{Results, keep, rebuild};

/// Arrays of at most so many elements stay together: they are values in registers as they are.
const SMALL: usize = 32;

/// The shape of the elements that share a loop.
fn together(shape: &Shape) -> Shape {
    if shape.len().is_multiple_of(2) { Shape::from([2]) } else { Shape::scalar() }
}

/// Exchanges loops with the elements of the arrays they carry.
pub fn exchange(graph: &Graph) -> Graph {
    rebuild(graph, |builder, equation, operands| {
        exchanged(builder, equation, &operands).unwrap_or_else(|| keep(builder, graph, equation, &operands))
    })
}

fn exchanged(builder: &mut GraphBuilder, equation: &Equation, operands: &[Atom]) -> Option<Results> {
    if equation.prim.has_effect() {
        return None;
    }
    match &equation.prim {
        Prim::While(repeat) => {
            let shape = wide_shape(&repeat.body, repeat.body_consts)?;
            let cond = Arc::new(narrowed(&repeat.cond, &shape)?);
            let body = Arc::new(narrowed(&repeat.body, &shape)?);
            let prim = While { cond, body, ..repeat.clone() };
            Some(each_element(builder, prim.into(), &shape, operands))
        }
        Prim::Scan(scan) if scan.length > 1 => {
            let shape = wide_shape(&scan.body, scan.consts)?;
            let along = scan.consts + scan.carries;
            let walks = |types: Vec<ArrayType>, from: usize| types[from..].iter().any(|ty| ty.shape == shape);
            if walks(scan.body.input_types(), along) || walks(scan.body.output_types(), scan.carries) {
                return None;
            }
            let body = Arc::new(narrowed(&scan.body, &shape)?);
            let prim = Scan { body, ..scan.clone() };
            Some(each_element(builder, prim.into(), &shape, operands))
        }
        _ => None,
    }
}

/// The one shape that a body carries besides scalars, if it is worth it.
fn wide_shape(body: &Graph, consts: usize) -> Option<Shape> {
    let carried = body.input_types().into_iter().skip(consts);
    let wide = carried.map(|ty| ty.shape).find(|shape| shape.rank() > 0)?;
    (wide.len() > SMALL).then_some(wide)
}

/// The graph for the elements of a loop, if arrays of a shape are all there is besides scalars.
fn narrowed(graph: &Graph, shape: &Shape) -> Option<Graph> {
    let is_wide = |ty: &ArrayType| ty.shape == *shape;
    let narrow = together(shape);
    let fit = |of: &Shape| if of == shape { narrow.clone() } else { of.clone() };
    if !graph.types.iter().all(|ty| is_wide(ty) || ty.rank() == 0) {
        return None;
    }
    let mut builder = GraphBuilder::new();
    let mut values: Vec<Option<Atom>> = vec![None; graph.types.len()];
    for &var in &graph.inputs {
        let ty = graph.ty(var);
        values[var.0 as usize] = Some(builder.input(ty.with_shape(fit(&ty.shape))).into());
    }
    let look = |values: &[Option<Atom>], atom: &Atom| match atom {
        Atom::Var(var) => values[var.0 as usize].clone().expect("operands are defined before they are used"),
        Atom::Splat(splat) => Atom::Splat(Splat { shape: fit(&splat.shape), ..splat.clone() }),
    };
    for equation in &graph.equations {
        let inputs: Vec<ArrayType> = equation.inputs.iter().map(|atom| graph.atom_type(atom)).collect();
        let outputs: Vec<ArrayType> = equation.outputs.iter().map(|&var| graph.ty(var).clone()).collect();
        if !inputs.iter().all(|ty| is_wide(ty) || ty.rank() == 0) {
            return None;
        }
        let operands: Vec<Atom> = equation.inputs.iter().map(|atom| look(&values, atom)).collect();
        builder.at(equation.location.clone());
        if let (Prim::Broadcast(_), [from], [to]) = (&equation.prim, inputs.as_slice(), outputs.as_slice())
            && from.rank() == 0
            && is_wide(to)
        {
            let repeat = Broadcast { shape: narrow.clone(), axes: Vec::new() };
            values[equation.outputs[0].0 as usize] =
                Some(rebind(&mut builder, repeat.into(), &operands).remove(0));
            continue;
        }
        // Of one shape all of it, and elementwise: then some elements are as good as all.
        let first = outputs.first()?;
        let same = inputs.iter().chain(&outputs).all(|ty| ty.shape == first.shape);
        let lowering = equation.prim.rules().lower(&inputs, &outputs).ok()?;
        if !same || !matches!(lowering, Lowering::Map(_)) || equation.prim.has_effect() {
            return None;
        }
        let results = builder.bind(equation.prim.clone(), &operands).ok()?;
        for (&var, result) in equation.outputs.iter().zip(results) {
            values[var.0 as usize] = Some(result);
        }
    }
    let outputs = graph.outputs.iter().map(|atom| look(&values, atom)).collect();
    Some(builder.finish(graph.name.clone(), outputs))
}

/// The loop `prim` of few elements, for all elements of the operands of that shape.
fn each_element(builder: &mut GraphBuilder, prim: Prim, shape: &Shape, operands: &[Atom]) -> Results {
    let narrow = together(shape);
    let size = shape.len() / narrow.len();
    // Neighbours run side by side, not in one loop.
    let apart = narrow.insert(narrow.rank(), size);
    let types: Vec<ArrayType> = operands.iter().map(|atom| builder.ty(atom)).collect();
    // A scan has no elements of that shape, though an array of elements may happen to have it.
    let whole = if let Prim::Scan(scan) = &prim { scan.consts + scan.carries } else { types.len() };
    let wide: Vec<bool> = types.iter().enumerate().map(|(i, ty)| i < whole && ty.shape == *shape).collect();
    let mut inner = GraphBuilder::new();
    let inputs: Vec<Atom> = (types.iter().zip(&wide))
        .map(|(ty, &wide)| if wide { ty.with_shape(narrow.clone()) } else { ty.clone() })
        .map(|ty| inner.input(ty).into())
        .collect();
    let results = rebind(&mut inner, prim.clone(), &inputs);
    let made_inside: Vec<ArrayType> = results.iter().map(|atom| inner.ty(atom)).collect();
    let carried = wide_results(&prim, &wide);
    let graph = Arc::new(inner.finish(prim.name(), results.into_vec()));

    let flat: Vec<Atom> = (operands.iter().zip(&wide))
        .map(|(atom, &wide)| if wide { reshaped(builder, atom, apart.clone()) } else { atom.clone() })
        .collect();
    let last = narrow.rank() as i64;
    let axes = wide.iter().map(|&wide| if wide { last } else { -1 }).collect();
    let out_axes = carried.iter().map(|&wide| if wide { last } else { 0 }).collect();
    let made = rebind(builder, Each { graph, size, axes, out_axes }.into(), &flat);

    // What the loop carries of that shape comes back in it; of scalars every element has the same.
    let back = |((atom, ty), wide): ((Atom, &ArrayType), bool)| {
        if wide {
            return reshaped(builder, &atom, shape.clone());
        }
        let rank = ty.rank() + 1;
        let mut limits: Vec<usize> = builder.ty(&atom).shape.iter().collect();
        limits[0] = 1;
        let first = Slice { start: vec![0; rank], limit: limits, step: vec![1; rank] };
        let first = rebind(builder, first.into(), &[atom]).remove(0);
        reshaped(builder, &first, ty.shape.clone())
    };
    made.into_iter().zip(&made_inside).zip(carried).map(back).collect()
}

/// Which results of a loop have the wide shape, where these operands have it.
fn wide_results(prim: &Prim, wide: &[bool]) -> Vec<bool> {
    match prim {
        Prim::While(repeat) => wide[repeat.cond_consts + repeat.body_consts..].to_vec(),
        Prim::Scan(scan) => {
            let carried = &wide[scan.consts..scan.consts + scan.carries];
            let made = scan.body.outputs.len() - scan.carries;
            carried.iter().copied().chain(std::iter::repeat_n(false, made)).collect()
        }
        _ => unreachable!("a loop"),
    }
}

fn reshaped(builder: &mut GraphBuilder, atom: &Atom, shape: Shape) -> Atom {
    if builder.ty(atom).shape == shape {
        return atom.clone();
    }
    if let Atom::Splat(splat) = atom {
        return Atom::Splat(Splat { shape, ..splat.clone() });
    }
    rebind(builder, Reshape { shape }.into(), std::slice::from_ref(atom)).remove(0)
}
