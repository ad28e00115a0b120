//! The section "jit!" of the API page, and what a jitted function carries through.

use std::collections::BTreeMap;

use tracewell::prelude::*;

use crate::assert_close;

#[derive(Clone, Tree)]
struct Layer {
    w: Array,
    b: Array,
}

jit! {
    /// A tanh network. Traced once per combination of shapes, dtypes, tree structure and static arguments.
    fn predict(layers: &[Layer], x: &Array) -> Array {
        let mut h = x.clone();
        for layer in layers { h = (h.dot(&layer.w) + &layer.b).tanh(); }
        h
    }
}

jit! {
    #[jit(donate(layers))]
    fn step(layers: Vec<Layer>, x: &Array, y: &Array, lr: Scalar, #[static_arg] decay: bool) -> Result<(Array, Vec<Layer>)> {
        let (loss, g) = value_and_grad(|p: &Vec<Layer>| (predict(p, x) - y).square().mean())(&layers);
        let shrink = if decay { 0.999 } else { 1.0 };
        Ok((loss, tree::map2(&layers, &g, |p, g| shrink * p - &lr * g)))
    }
}

fn layers() -> Vec<Layer> {
    let w = |rows, columns| {
        let n = rows * columns;
        Array::linspace(-0.5, 0.5, n, F32).reshape([rows, columns])
    };
    vec![Layer { w: w(3, 4), b: Array::zeros([4], F32) }, Layer { w: w(4, 1), b: Array::zeros([1], F32) }]
}

#[test]
fn the_program_of_the_api_page() {
    let x = Array::from([[0.1f32, 0.2, 0.3], [-0.3, 0.5, 0.9], [1.0, -1.0, 0.0], [0.4, 0.4, -0.4]]);
    let y = Array::from([[0.3f32], [-0.2], [0.1], [0.0]]);
    let mut layers = layers();
    let mut losses = Vec::new();
    for _ in 0..200 {
        let (loss, next) = step(layers, &x, &y, 0.1, true).unwrap();
        layers = next;
        losses.push(loss.item::<f32>());
    }
    assert!(losses[199] < 0.7 * losses[0], "training reduces the loss: {} to {}", losses[0], losses[199]);
    assert!(losses.iter().all(|l| l.is_finite()));
}

#[test]
fn a_jitted_function_equals_the_plain_one() {
    let x = Array::from([[0.1f32, 0.2, 0.3]]);
    let layers = layers();
    let mut h = x.clone();
    for layer in &layers {
        h = (h.dot(&layer.w) + &layer.b).tanh();
    }
    assert_close(&predict(&layers, &x), &crate::numbers(&h), 1e-6);
}

jit! {
    /// Doc comments, visibility, generics, where-clauses and attributes are carried through.
    #[must_use]
    pub(crate) fn generic<T, const N: usize>(pair: &(T, T), scale: [Array; N]) -> T
    where
        T: Tree + Clone,
    {
        tree::map2(&pair.0, &pair.1, |a, b| {
            let mut sum = a + b;
            for s in &scale { sum = sum * s; }
            sum
        })
    }

    fn early(x: &Array, #[static_arg] name: &str) -> Result<Array> {
        if name == "zero" {
            return Ok(x * 0.0);
        }
        let y = fallible(x)?;
        Ok(y + 1.0)
    }
}

fn fallible(x: &Array) -> Result<Array> {
    Ok(x.exp())
}

#[test]
fn generics_patterns_and_early_returns() {
    let one = Array::from([1.0f32, 2.0]);
    let result = generic(
        &((one.clone(), one.clone()), (one.clone(), one.clone())),
        [Array::from(2.0f32), Array::from(5.0f32)],
    );
    assert_eq!(result.1.to_string(), "[20. 40.]");
    assert_eq!(early(&one, "zero").unwrap().to_string(), "[0. 0.]");
    assert_close(&early(&one, "other").unwrap(), &[2.0f64.powi(0) + 1f64.exp(), 1.0 + 2f64.exp()], 1e-6);
}

#[derive(Clone, Tree)]
enum Shape2 {
    Circle(Array),
    Rectangle { width: Array, height: Array },
}

#[derive(Clone, Tree)]
struct Model {
    layers: Vec<Layer>,
    extra: Option<Array>,
    named: BTreeMap<String, Array>,
    shapes: [Shape2; 2],
    #[tree(static)]
    power: u32,
}

impl Model {
    #[jitted]
    fn area(&self, scale: Scalar) -> Array {
        let mut total = Array::weak(0.0);
        for shape in &self.shapes {
            total = total
                + match shape {
                    Shape2::Circle(r) => 3.0 * r.square(),
                    Shape2::Rectangle { width, height } => width * height,
                };
        }
        for value in self.named.values() {
            total = total + value;
        }
        if let Some(extra) = &self.extra {
            total = total + extra;
        }
        for _ in 0..self.power {
            total = &scale * total;
        }
        total
    }
}

#[test]
fn trees_of_every_kind_and_methods() {
    let a = |v: f32| Array::from(v);
    let mut model = Model {
        layers: layers(),
        extra: None,
        named: BTreeMap::from([("x".to_string(), a(1.0)), ("y".to_string(), a(2.0))]),
        shapes: [Shape2::Circle(a(2.0)), Shape2::Rectangle { width: a(3.0), height: a(4.0) }],
        power: 1,
    };
    assert_eq!(model.area(2.0).item::<f32>(), 54.0);
    model.extra = Some(a(1.0));
    assert_eq!(model.area(2.0).item::<f32>(), 56.0, "another structure is another trace");
    model.power = 2;
    assert_eq!(model.area(2.0).item::<f32>(), 112.0, "another static field too");
    model.shapes.swap(0, 1);
    assert_eq!(model.area(2.0).item::<f32>(), 112.0, "and other variants");
    assert_eq!(model.layers.len(), 2);
}

#[test]
fn closures_and_their_graphs() {
    let scale = Array::from([2.0f32, 3.0]);
    let f = tracewell::jit(|x: &Array| (x * &scale).sin());
    let x = Array::from([0.5f32, 0.25]);
    assert_close(&f.call(&x), &[1f64.sin(), 0.75f64.sin()], 1e-6);
    let graph = f.trace(&x).unwrap();
    assert_eq!(graph.equations.len(), 3, "{graph}");
    let lowered = f.lower(&x).unwrap();
    let clif = lowered.clif();
    assert!(clif.contains("function") || clif.contains("without Cranelift"), "{clif}");
    assert!(!lowered.asm().is_empty() && lowered.memory() >= 8 && lowered.program().steps.len() == 1);
    let by_thunk = lower(|| predict(&layers(), &Array::zeros([2, 3], F32))).unwrap();
    assert_eq!(by_thunk.graph().inputs.len(), 5);
}

#[test]
fn a_nested_call_stays_visible() {
    jit! {
        fn inner(x: &Array) -> Array { x.sin() + 1.0 }
        fn outer(x: &Array) -> Array { inner(x) * inner(&(x * 2.0)) }
    }
    let x = Array::from([0.5f32]);
    let lowered = lower(|| outer(&x)).unwrap();
    let text = lowered.graph().to_string();
    assert_eq!(text.matches("call[").count(), 2, "{text}");
    assert!(!lowered.optimized().to_string().contains("call["), "{}", lowered.optimized());
    assert_close(&outer(&x), &[(0.5f64.sin() + 1.0) * (1f64.sin() + 1.0)], 1e-6);
}
