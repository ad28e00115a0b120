//! The tape: a recursive, random program recorded and asked, and reverse mode written by a user in forty lines.
//!
//! `cargo run --release --example tape`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::BTreeMap;

use random::Key;
use tracewell::prelude::*;
use tracewell::tape::{Argument, Only, Reach, Reference, Seen};

jit! {
    /// A number between 0 and 1, and the key for the next.
    fn rand(key: &Key) -> (Array, Key) {
        let [now, next] = random::split(key);
        (random::uniform(&now, Shape::scalar(), F32), next)
    }
}

/// A number of the geometric distribution: one more, as long as a coin says so.
#[traced]
pub(crate) fn geom(n: &Array, beta: &Array, key: &Key) -> Array {
    let (toss, next) = rand(key);
    if toss.lt(beta).item::<bool>() { n.clone() } else { geom(&(n + 1), beta, &next) }
}

#[traced]
fn damped(x: &Array, y: &Array) -> Array {
    (-x * x).exp() * y.sin()
}

/// A function of two arrays, with calls and a branch in it.
pub(crate) fn model(xs: &(Array, Array)) -> Array {
    let (x, y) = xs;
    let wave = damped(x, y);
    let large = y.sum().item::<f32>() > 1.0;
    let scaled = if large { &wave / y } else { wave + x };
    (scaled.tanh() - x).sum()
}

/// The derivative of what a tape gives by each parameter: every primitive, the last first, hands on what its result is
/// worth to what it was made from.
pub(crate) fn gradient(tape: &Tape) -> Vec<Array> {
    let mut worth: BTreeMap<Reference, Array> = BTreeMap::new();
    let result = tape.source(Reference { node: tape.root().id(), result: 0 });
    worth.insert(result, Array::from(1.0f32));
    for node in tape.nodes().rev().filter(|node| node.primitive().is_some()) {
        let Some(g) = worth.get(&Reference { node: node.id(), result: 0 }).cloned() else { continue };
        let given: Vec<Array> =
            node.arguments().iter().filter_map(|argument| tape.value_of(argument)).collect();
        let x = &given[0];
        let y = node.value().expect("it ran");
        let parts = match node.name() {
            "add" => vec![g.clone(), g],
            "sub" => vec![g.clone(), -g],
            "mul" => vec![&g * &given[1], &g * x],
            "div" => vec![&g / &given[1], -&g * &y / &given[1]],
            "neg" => vec![-g],
            "sin" => vec![g * x.cos()],
            "exp" => vec![g * y],
            "tanh" => vec![g * (1.0 - &y * &y)],
            "reduce_sum" => vec![g + Array::zeros(x.shape(), F32)],
            other => panic!("this example knows no derivative of `{other}`"),
        };
        for (argument, part) in node.arguments().iter().zip(parts) {
            if let Argument::Reference(to) = argument {
                let to = tape.source(*to);
                let sum = worth.remove(&to).map_or(part.clone(), |before| before + part);
                worth.insert(to, sum);
            }
        }
    }
    let of = |node: tracewell::tape::Node<'_>| {
        let zero = || Array::zeros(node.ty().expect("a parameter has a type").shape.clone(), F32);
        worth.get(&Reference { node: node.id(), result: 0 }).cloned().unwrap_or_else(zero)
    };
    tape.root().parameters().map(of).collect()
}

fn main() -> Result<()> {
    let (n, beta, key) = (Array::from(3i32), Array::from(0.5f32), random::key(1));
    let recursive = Only(|call: &Seen<'_>| call.name == "geom");
    let tape = Tape::record_in(recursive, || geom(&n, &beta, &key));
    println!("{}", tape.levels(3));

    let call = tape.find("geom").expect("it was recorded");
    let stop = call.children().find(|node| node.name() == "item()").expect("it looked at the coin");
    println!("the branch depends on:");
    for node in stop.backward() {
        println!("  {node}");
    }
    println!("what depends on n:");
    let first = call.parameters().next().expect("geom has parameters");
    for node in first.forward_in(Reach::Across, |_, _| {}) {
        println!("  @{}: {}", node.path(), node.name());
    }

    let xs = (Array::from([0.5f32, 1.5, -0.25]), Array::from([2.0f32, 3.0, 4.0]));
    let tape = Tape::call(model, &xs);
    println!("\n{}", tape.levels(2));
    let (found, expected) = (gradient(&tape), grad(model)(&xs));
    println!("by x: {}, grad says {}", found[0], expected.0);
    println!("by y: {}, grad says {}", found[1], expected.1);
    let worst = [(&found[0], &expected.0), (&found[1], &expected.1)]
        .map(|(a, b)| (a - b).abs().max().item::<f32>())
        .into_iter()
        .fold(0.0, f32::max);
    println!("largest difference: {worst:e}");
    assert!(worst < 1e-5, "both are the derivative");
    Ok(())
}
