//! Times, as ratios of two things in one run: alternating, medians, with the spread. Never a test.
//!
//! `cargo xtask bench [group …]`; groups: `dispatch`, `eager`, `kernels`, `compile`, `staging`.

#![allow(clippy::print_stdout, reason = "a program that prints a table")]

use std::hint::black_box;
use std::time::Instant;

use tracewell::prelude::*;

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

type Work<'a> = Box<dyn FnMut() + 'a>;

/// One row: a name, what is measured, and optionally what it is compared with.
struct Row<'a> {
    name: &'static str,
    run: Work<'a>,
    against: Option<(&'static str, Work<'a>)>,
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let groups: [(&str, fn()); 5] = [
        ("dispatch", dispatch),
        ("eager", eager),
        ("kernels", kernels),
        ("compile", compile),
        ("staging", staging),
    ];
    for (name, group) in groups {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            println!("\n{name}");
            if name != "staging" {
                println!("{:34} {:>12} {:>12} {:>8}  against", "", "median", "spread", "ratio");
            }
            group();
        }
    }
}

/// Seconds of one call, from a batch long enough to be timed.
fn sample(f: &mut dyn FnMut(), calls: usize) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        f();
    }
    start.elapsed().as_secs_f64() / calls as f64
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

fn show(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.0} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.2} µs", s * 1e6),
        s => format!("{:.2} ms", s * 1e3),
    }
}

fn measure(mut row: Row<'_>) {
    let mut idle: Work<'_> = Box::new(|| {});
    (row.run)();
    if let Some((_, other)) = &mut row.against {
        other();
    }
    let once = sample(&mut *row.run, 1).max(1e-9);
    let calls = ((0.004 / once) as usize).clamp(1, 20_000);
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for _ in 0..41 {
        own.push(sample(&mut *row.run, calls));
        let against = row.against.as_mut().map_or(&mut idle, |(_, f)| f);
        other.push(sample(&mut **against, calls));
    }
    let time = median(&mut own);
    let spread = format!("{:.2}", own[own.len() * 9 / 10] / own[own.len() / 10]);
    match row.against {
        Some((name, _)) => {
            let reference = median(&mut other);
            println!(
                "{:34} {:>12} {spread:>12} {:>8.2}  {name}: {}",
                row.name,
                show(time),
                time / reference,
                show(reference)
            );
        }
        None => println!("{:34} {:>12} {spread:>12}", row.name, show(time)),
    }
}

fn row<'a>(name: &'static str, run: impl FnMut() + 'a) -> Row<'a> {
    Row { name, run: Box::new(run), against: None }
}

impl<'a> Row<'a> {
    fn against(mut self, name: &'static str, run: impl FnMut() + 'a) -> Row<'a> {
        self.against = Some((name, Box::new(run)));
        self
    }
}

fn dispatch() {
    let (a, b) = (Array::from(1.0f32), Array::from(2.0f32));
    let four = Array::from([1.0f32, 2.0, 3.0, 4.0]);
    let twenty: [Array; 20] = std::array::from_fn(|i| Array::from(i as f32));
    measure(row("warm scalar call", || drop(black_box(scalar_add(&a, &b)))));
    measure(row("warm call with a Rust number", || drop(black_box(scalar_number(&a, 2.0)))));
    measure(row("warm call, four elements", || drop(black_box(scalar_add(&four, &four)))));
    measure(row("warm call, 20 arguments", || drop(black_box(many(&twenty)))));
    measure(row("eager scalar add", || drop(black_box(&a + &b))));
}

fn eager() {
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
fn kernels() {
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
fn compile() {
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
fn staging() {
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
