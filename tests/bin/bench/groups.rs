//! The groups that compare us with ourselves or with plain Rust, in one process.

use std::hint::black_box;

use tracewell::prelude::*;

use crate::measure::{measure, median, row, sample, show};

jit! {
    fn scalar_add(x: &Array, y: &Array) -> Array { x + y }
    fn scalar_number(x: &Array, y: Scalar) -> Array { x + &y }
    fn add(x: &Array, y: &Array) -> Array { x + y }
    fn multiply_add(x: &Array, y: &Array, z: &Array) -> Array { x * y + z }
    fn dot(x: &Array, y: &Array) -> Array { x.dot(y) }
    fn exp(x: &Array) -> Array { x.exp() }
    fn tanh(x: &Array) -> Array { x.tanh() }
    fn sin(x: &Array) -> Array { x.sin() }
    fn sum(x: &Array) -> Array { x.sum() }
    fn sum_rows(x: &Array) -> Array { x.sum_axes(&[1]) }
    fn sum_columns(x: &Array) -> Array { x.sum_axes(&[0]) }
    fn many(xs: &[Array; 20]) -> Array { xs.iter().fold(Array::weak(0.0), |s, x| s + x) }
    fn softmax(x: &Array) -> Array {
        let e = (x - x.max_axes(&[1]).expand(1)).exp();
        &e / e.sum_axes(&[1]).expand(1)
    }
}

pub(crate) fn dispatch() {
    let (a, b) = (Array::from(1.0f32), Array::from(2.0f32));
    let four = Array::from([1.0f32, 2.0, 3.0, 4.0]);
    let twenty: [Array; 20] = std::array::from_fn(|i| Array::from(i as f32));
    measure(row("warm scalar call", || drop(black_box(scalar_add(&a, &b)))));
    measure(row("warm call with a Rust number", || drop(black_box(scalar_number(&a, 2.0)))));
    measure(row("warm call, four elements", || drop(black_box(scalar_add(&four, &four)))));
    measure(row("warm call, 20 arguments", || drop(black_box(many(&twenty)))));
    measure(row("eager scalar add", || drop(black_box(&a + &b))));
}

pub(crate) fn eager() {
    let n = 1_000_000;
    let (x, y) = (Array::linspace(0.0, 1.0, n, F32), Array::ones([n], F32));
    let m = Array::linspace(-1.0, 1.0, 512 * 512, F32).reshape([512, 512]);
    measure(
        row("eager add, 1e6", || drop(black_box(&x + &y))).against("jitted", || drop(black_box(add(&x, &y)))),
    );
    measure(
        row("eager dot, 512×512", || drop(black_box(m.dot(&m))))
            .against("jitted", || drop(black_box(dot(&m, &m)))),
    );
}

/// Against plain Rust loops over slices, compiled for the baseline of the target.
pub(crate) fn kernels() {
    for n in [2048, 1_000_000] {
        let x = Array::linspace(-3.0, 3.0, n, F32);
        let (xs, mut out) = (x.to_vec::<f32>().unwrap_or_default(), vec![0.0f32; n]);
        println!("  n = {n}");
        measure(row("x * y + z", || drop(black_box(multiply_add(&x, &x, &x)))).against("Rust loop", || {
            let mut out = Vec::with_capacity(n);
            out.extend(xs.iter().zip(&xs).zip(&xs).map(|((a, b), c)| a * b + c));
            drop(black_box(out));
        }));
        measure(row("exp", || drop(black_box(exp(&x)))).against("Rust loop", || {
            out.iter_mut().zip(&xs).for_each(|(o, x)| *o = x.exp());
            black_box(&out);
        }));
        measure(row("tanh", || drop(black_box(tanh(&x)))));
        measure(row("sin", || drop(black_box(sin(&x)))));
        measure(row("sum", || drop(black_box(sum(&x)))).against("Rust loop", || {
            black_box(xs.iter().sum::<f32>());
        }));
    }
    let m = Array::linspace(-3.0, 3.0, 1 << 20, F32).reshape([1024, 1024]);
    println!("  1024 × 1024");
    measure(row("sum of rows", || drop(black_box(sum_rows(&m)))));
    measure(row("sum of columns", || drop(black_box(sum_columns(&m)))));
    measure(row("softmax of rows", || drop(black_box(softmax(&m)))));
}

/// First calls: trace, optimise, fuse, compile and run, of chains that differ in a constant.
pub(crate) fn compile() {
    let x = Array::from([0.5f32, 0.25]);
    for (name, length) in [("chain of 10", 10), ("chain of 100", 100), ("chain of 1000", 1000)] {
        let mut next = 0.0;
        measure(row(name, || {
            next += 1e-3;
            let c = next;
            let f = tracewell::jit(move |x: &Array| {
                (0..length).fold(x.clone(), |y, i| if i % 10 == 0 { y.sin() } else { y * 0.5 + c })
            });
            drop(black_box(f.call(&x)));
        }));
    }
}

/// Tracing a function and its gradient: time in equations, which is the same for each if the work is linear.
pub(crate) fn staging() {
    println!("{:34} {:>12} {:>12} {:>14}", "", "equations", "median", "per equation");
    let w = Array::full([8, 8], 0.1, F32);
    let x = Array::ones([4, 8], F32);
    for layers in [25, 50, 100, 200] {
        let f = |w: &Array| (0..layers).fold(x.clone(), |h, _| (h.dot(w) + 0.5).tanh()).sum();
        staged(&format!("gradient of {layers} layers"), || trace(|w: &Array| grad(f)(w), &w));
    }
    let x = Array::from([0.5f32, 0.25]);
    for length in [250, 500, 1000, 2000] {
        let f = |x: &Array| {
            (0..length).fold(x.clone(), |y, i| if i % 10 == 0 { y.sin() } else { y * 0.99 }).sum()
        };
        staged(&format!("gradient of {length} equations"), || trace(|x: &Array| grad(f)(x), &x));
    }
}

fn staged(name: &str, mut run: impl FnMut() -> Result<tracewell::Graph>) {
    let Ok(graph) = run() else { return println!("{name:34} failed") };
    let count = graph.equations.len();
    let mut times: Vec<f64> = (0..21).map(|_| sample(&mut || drop(black_box(run())), 1)).collect();
    let time = median(&mut times);
    println!("{name:34} {count:>12} {:>12} {:>14}", show(time), show(time / count as f64));
}

/// With the recorder armed against off: a warm call records nothing, and tracing records little.
pub(crate) fn repro() {
    // Cargo's configuration sets it here; a program that is started without cargo would compare armed with armed.
    if std::env::var_os("TRACEWELL_REPRO").is_none_or(|value| value != "off") {
        return println!("not measured: repros are on everywhere; set TRACEWELL_REPRO=off");
    }
    let folder = std::env::temp_dir().join("tracewell-bench");
    let (a, b) = (Array::from(1.0f32), Array::from(2.0f32));
    let many = |f: &dyn Fn()| (0..1000).for_each(|_| f());
    let warm = || drop(black_box(scalar_add(&a, &b)));
    measure(
        row("1000 warm calls, armed", || tracewell::repro::writing_to(&folder, || many(&warm)))
            .against("off", || many(&warm)),
    );
    let x = Array::linspace(0.0, 1.0, 64, F32);
    let model = |x: &Array| (0..20).fold(x.clone(), |h, _| (h.sin() * 2.0 + x).tanh());
    let traced = || drop(black_box(tracewell::trace(model, &x)));
    measure(
        row("tracing 80 operations, armed", || tracewell::repro::writing_to(&folder, traced))
            .against("off", traced),
    );
    let derived = || drop(black_box(grad(|x: &Array| model(x).sum())(&x)));
    measure(
        row("grad of 80 operations, armed", || tracewell::repro::writing_to(&folder, derived))
            .against("off", derived),
    );
}
