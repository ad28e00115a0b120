//! Branches and loops: values and derivatives outside and inside `jit!`, batched, nested, with captured arrays.

use std::sync::Arc;

use expect_test::expect;
use tracewell::observe::{EventLog, observing};
use tracewell::prelude::*;
use tracewell_array::Tensor;
use tracewell_graph::eval;

use crate::{assert_close, numbers, without_lines};

#[derive(Clone, Tree)]
struct Body {
    place: Array,
    velocity: Array,
    #[tree(static)]
    name: String,
}

/// What a function gives by the reference evaluator, at once, and jitted.
#[track_caller]
fn check(f: impl Fn(&Array) -> Array, x: &Array, expected: &[f64]) {
    let graph = trace(&f, x).unwrap();
    let values = eval(&graph, &[tensor(x)]).unwrap();
    assert_close(&Array::from(values[0].clone()), expected, 1e-6);
    assert_close(&f(x), expected, 1e-6);
    assert_close(&tracewell::jit(&f).call(x), expected, 1e-6);
}

/// The gradient of a function at once, jitted, and by differences.
#[track_caller]
fn check_gradient(f: impl Fn(&Array) -> Array, x: &[f64]) {
    let at = Array::from(x);
    let nudged = |i: usize, by: f64| {
        let mut x = x.to_vec();
        x[i] += by;
        f(&Array::from(x)).item::<f64>()
    };
    let expected: Vec<f64> = (0..x.len()).map(|i| (nudged(i, 1e-6) - nudged(i, -1e-6)) / 2e-6).collect();
    assert_close(&grad(&f)(&at), &expected, 1e-7);
    assert_close(&tracewell::jit(|x: &Array| grad(&f)(x)).call(&at), &expected, 1e-7);
    let (_, slope) = jvp(&f, &at, &Array::ones([x.len()], F64));
    assert_close(&slope, &[expected.iter().sum()], 1e-7);
}

/// The data of an array.
fn tensor(x: &Array) -> Tensor {
    let made = match x.dtype() {
        DType::F64 => Tensor::from_vec(x.to_vec::<f64>().unwrap(), x.shape().clone()),
        _ => Tensor::from_vec(x.to_vec::<i32>().unwrap(), x.shape().clone()),
    };
    made.unwrap()
}

/// The primitives of a graph and of those in it, in order.
fn primitives(graph: &tracewell::Graph) -> Vec<String> {
    let mut all = Vec::new();
    for equation in &graph.equations {
        all.push(equation.prim.name().to_string());
        equation.prim.rules().each_param(&mut |_, value| {
            value.graphs().iter().for_each(|graph| all.extend(primitives(graph)));
        });
    }
    all
}

#[test]
fn a_branch_is_taken_by_its_predicate() {
    let f = |x: &Array| cond(&x.sum().gt(0.0), || x.sin(), || x * 10.0);
    check(f, &Array::from([0.5f64, 0.25]), &[0.5f64.sin(), 0.25f64.sin()]);
    check(f, &Array::from([-0.5f64, 0.25]), &[-5.0, 2.5]);
    check_gradient(|x| f(x).sum(), &[0.5, 0.25]);
    check_gradient(|x| f(x).sum(), &[-0.5, 0.25]);
}

#[test]
fn branches_return_trees_and_numbers_yield() {
    let x = Array::from([1.0f32, 2.0]);
    let f = |p: bool| {
        cond(&Array::from(p), || (x.clone(), vec![Array::weak(1)]), || (2.0 * &x, vec![Array::from(0.5f32)]))
    };
    let (a, b) = f(true);
    assert_eq!(
        (a.to_string(), b[0].ty().to_string(), b[0].item::<f32>()),
        ("[1. 2.]".into(), "f32[]".into(), 1.0)
    );
    let (a, b) = f(false);
    assert_eq!((a.to_string(), b[0].item::<f32>()), ("[2. 4.]".into(), 0.5));
}

#[test]
fn a_switch_takes_the_nearest_number() {
    let x = Array::from([1.0f64, 2.0]);
    let f = |i: &Array| switch(i, &[&|| x.clone(), &|| x.square(), &|| -&x]);
    for (i, expected) in
        [(-3, [1.0, 2.0]), (0, [1.0, 2.0]), (1, [1.0, 4.0]), (2, [-1.0, -2.0]), (9, [-1.0, -2.0])]
    {
        check(f, &Array::from(i), &expected);
        assert_close(
            &f(&Array::from(i64::from(i) << 32)),
            if i > 0 { &[-1.0, -2.0] } else { &[1.0, 2.0] },
            0.0,
        );
    }
    assert_close(&f(&Array::from(u32::MAX)), &[-1.0, -2.0], 0.0);
    assert_close(&f(&Array::from(1u8)), &[1.0, 4.0], 0.0);
}

#[test]
fn each_branch_reads_its_own_captures() {
    let (a, b, c) = (Array::from([1.0f64]), Array::from([2.0f64]), Array::from([3.0f64]));
    let f = |x: &Array| {
        let (p, q) = (x + &a, x * &b);
        switch(&x.sum().convert(I32), &[&|| &p + &c, &|| &p * &q + &c, &|| q.clone()])
    };
    check(f, &Array::from([0.0f64]), &[4.0]);
    check(f, &Array::from([1.0f64]), &[7.0]);
    check(f, &Array::from([2.0f64]), &[4.0]);
    for x in [0.3, 1.5, 2.5] {
        check_gradient(|x| f(x).sum(), &[x]);
    }
}

#[test]
fn a_loop_repeats_while_its_condition_holds() {
    let f = |x: &Array| {
        let (k, x) = while_loop((Array::weak(0), x.clone()), |(k, _)| k.lt(5), |(k, x)| (k + 1, x * 2.0));
        x + k.convert(F64)
    };
    check(f, &Array::from([1.0f64, 2.0]), &[37.0, 69.0]);
    let (_, slope) = jvp(f, &Array::from([1.0f64, 2.0]), &Array::from([1.0f64, 0.0]));
    assert_close(&slope, &[32.0, 0.0], 1e-12);
    // How often it turns depends on the argument.
    check_gradient(
        |x| while_loop(x.clone(), |x| x.sum().lt(10.0), |x| x * 1.5 + x.sin()).square().sum(),
        &[0.3, 0.7],
    );
}

#[test]
fn a_number_that_a_loop_starts_with_takes_the_type_of_the_body() {
    let x = Array::from(1.5f32);
    let sum = while_loop(Array::weak(0), |s| s.lt(4), |s| s + &x);
    assert_eq!((sum.ty().to_string(), sum.item::<f32>()), ("f32[]".into(), 4.5));
    // And a number that the body returns that of what is carried.
    let one = while_loop(Array::from(0.0f64), |s| s.lt(1), |_| Array::weak(1));
    assert_eq!((one.ty().to_string(), one.item::<f64>()), ("f64[]".into(), 1.0));
    let (last, all) = scan(Array::weak(0.0), &Array::from([1.0f64, 2.0]), |s, x| (s + x, s.clone()));
    assert_eq!((last.item::<f64>(), all.ty().to_string()), (3.0, "f64[2]".into()));
}

#[test]
fn a_range_of_numbers_is_counted() {
    let f = |x: &Array| fori_loop(2..6, x.clone(), |i, s| s * i);
    check(f, &Array::from([1.0f64]), &[120.0]);
    check_gradient(|x| fori_loop(0..4, x.clone(), |i, s| s.sin() + i).sum(), &[0.3, 0.7]);
    let (start, end) = (5, 2);
    assert_eq!(fori_loop(start..end, Array::from(7), |i, s| s + i).item::<i32>(), 7);
    let far = 3_000_000_000i64;
    let sum = fori_loop(far..far + 3, Array::from(0i64), |i, s| s + i);
    assert_eq!(sum.item::<i64>(), 3 * far + 3);
    assert_eq!(fori_loop(0usize..3, Array::from(0), |i, s| s + i).dtype(), I32);
}

#[test]
fn a_range_of_arrays_is_counted() {
    let f = |n: &Array| fori_loop(Array::from(1)..n + 1, Array::from(1.0f64), |i, s| s * i);
    check(f, &Array::from(5), &[120.0]);
    check(f, &Array::from(-5), &[1.0]);
    let (a, b) = (Array::from(0), Array::from(3i64));
    assert_eq!(fori_loop(&a..&b, Array::from(0i64), |i, s| s + i).item::<i64>(), 3);
    let graph = trace(f, &Array::from(5)).unwrap();
    assert!(primitives(&graph).contains(&"while".to_string()), "{graph}");
    let n = Array::from(4);
    check_gradient(
        |x| fori_loop(Array::weak(0)..n.clone(), x.clone(), |i, s| s.sin() + i).sum(),
        &[0.3, 0.7],
    );
}

#[test]
fn a_scan_gives_the_last_and_all() {
    let f = |x: &Array| {
        let (last, all) = scan(Array::from(1.0f64), x, |p, x| (p * x, p + x));
        all + last
    };
    check(f, &Array::from([2.0f64, 3.0, 4.0]), &[27.0, 29.0, 34.0]);
    check_gradient(|x| f(x).square().sum(), &[2.0, 3.0, 4.0]);
}

#[test]
fn a_scan_runs_backwards_and_over_nothing() {
    let options = ScanOptions { reverse: true, ..ScanOptions::default() };
    let f = |x: &Array| scan_with(Array::from(0.0f64), x, options, |s, x| (s + x, s + x)).1;
    check(f, &Array::from([1.0f64, 2.0, 3.0]), &[6.0, 5.0, 3.0]);
    check_gradient(|x| f(x).square().sum(), &[2.0, 3.0, 4.0]);
    for unroll in [0, 1, 2, 4, 9] {
        let options = ScanOptions { length: Some(7), unroll, ..ScanOptions::default() };
        let f = |x: &Array| scan_with(x.clone(), &(), options, |s, ()| (s * 2.0, s.clone())).1;
        check(f, &Array::from(1.0f64), &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
    }
    let (same, none) = scan(Array::from(5.0f32), &Array::zeros([0, 3], F32), |s, x| (s + x.sum(), x.clone()));
    assert_eq!((same.item::<f32>(), none.shape().to_string()), (5.0, "[0,3]".into()));
}

/// Rows that have nothing to do with each other go through a scan in bands, each with the bits that it has among fewer.
#[test]
fn rows_go_through_a_scan_in_bands() {
    let wave = |shape: &[usize], step: f64| {
        let of = |i: usize| ((i as f64 * step).sin() * 0.3) as f32;
        Array::from((0..shape.iter().product()).map(of).collect::<Vec<f32>>()).reshape(shape)
    };
    let (w, u) = (wave(&[64, 64], 0.7), wave(&[64, 64], 1.3));
    let (h, xs) = (wave(&[48, 64], 0.11), wave(&[40, 48, 64], 0.37));
    let net = |w: &Array, u: &Array, h: &Array, xs: &Array| {
        scan(h.clone(), xs, |h, x| {
            let next = ((h.dot(w) + x).tanh() * h.dot(u) + x).tanh();
            (next.clone(), &next * x)
        })
    };
    let loss = move |w: &Array, u: &Array, h: &Array, xs: &Array| {
        let (last, all) = net(w, u, h, xs);
        last.square().sum() + all.sum()
    };
    let values = jit(move |(w, u, h, xs): &(Array, Array, Array, Array)| net(w, u, h, xs));
    let slopes = jit(move |(w, u, h, xs): &(Array, Array, Array, Array)| {
        grad(|(w, u, h): &(Array, Array, Array)| loss(w, u, h, xs))(&(w.clone(), u.clone(), h.clone()))
    });
    let all = (w.clone(), u.clone(), h.clone(), xs.clone());
    for program in
        [values.lower(&all).unwrap().program().to_string(), slopes.lower(&all).unwrap().program().to_string()]
    {
        assert!(program.contains("each %0 < 3 {"), "three bands of 16 rows:\n{program}");
    }
    let (last, made) = values.call(&all);
    let (dw, du, dh) = slopes.call(&all);
    let (mut sums, mut parts) = ([&dw * 0.0, &du * 0.0], Vec::new());
    for k in 0..3 {
        let (from, to) = (16 * k, 16 * (k + 1));
        let of_part = (w.clone(), u.clone(), h.slice(s![from..to]), xs.slice(s![.., from..to]));
        let program = values.lower(&of_part).unwrap().program().to_string();
        assert!(!program.contains("each %0 < 3 {"), "{program}");
        let (part_last, part_made) = values.call(&of_part);
        assert_eq!(numbers(&part_last), numbers(&last.slice(s![from..to])));
        assert_eq!(numbers(&part_made), numbers(&made.slice(s![.., from..to])));
        let (part_dw, part_du, part_dh) = slopes.call(&of_part);
        sums = [&sums[0] + part_dw, &sums[1] + part_du];
        parts.push(part_dh);
    }
    let close = |a: &Array, b: &Array, what: &str| {
        let (far, size) = ((a - b).abs().max().item::<f32>(), b.abs().max().item::<f32>());
        assert!(far <= 1e-4 * size, "{what}: {far} of {size}");
    };
    close(&dh, &concatenate(&parts, 0), "by the state");
    close(&dw, &sums[0], "by one matrix");
    close(&du, &sums[1], "by the other matrix");
}

/// Turns that carry nothing go in bands too, each with the bits that it has alone.
#[test]
fn turns_that_carry_nothing_go_in_bands() {
    let wave = |shape: &[usize], step: f64| {
        let of = |i: usize| ((i as f64 * step).sin() * 0.3) as f32;
        Array::from((0..shape.iter().product()).map(of).collect::<Vec<f32>>()).reshape(shape)
    };
    let (w, xs) = (wave(&[64, 80], 0.7), wave(&[12, 96, 64], 0.37));
    let one = |w: &Array, x: &Array| {
        let h = x.dot(w).tanh();
        (h.dot(&w.t()) * x, h.sum_axes(&[0]))
    };
    for reverse in [false, true] {
        let options = ScanOptions { reverse, ..ScanOptions::default() };
        let all = jit(move |(w, xs): &(Array, Array)| scan_with((), xs, options, |(), x| ((), one(w, x))).1);
        let program = all.lower(&(w.clone(), xs.clone())).unwrap().program().to_string();
        assert!(program.contains("each %0 < 6 {"), "six bands of two turns:\n{program}");
        let (made, sums) = all.call(&(w.clone(), xs.clone()));
        for k in 0..12 {
            let (one_made, one_sums) =
                jit(move |(w, x): &(Array, Array)| one(w, x)).call(&(w.clone(), xs.slice(s![k])));
            assert_eq!(numbers(&made.slice(s![k])), numbers(&one_made));
            assert_eq!(numbers(&sums.slice(s![k])), numbers(&one_sums));
        }
    }
}

#[test]
fn structs_are_carried() {
    let fall = |x: &Array| {
        let start = Body { place: x.clone(), velocity: 0.0 * x, name: "ball".into() };
        let kicks = (Array::from([0.0f64, 1.0, 0.0]), Array::from([[1.0f64], [2.0], [3.0]]));
        let (end, places) = scan(start, &kicks, |body, (kick, weight)| {
            let velocity = &body.velocity - 0.5 * weight.sum() + kick;
            let next = Body { place: &body.place + &velocity, velocity, name: body.name.clone() };
            let place = next.place.clone();
            (next, vec![place])
        });
        assert_eq!(end.name, "ball");
        end.velocity + places[0].sum()
    };
    check(fall, &Array::from(10.0f64), &[23.5]);
    check_gradient(|x| fall(&x.sum()).square(), &[1.0, 2.0]);
}

#[test]
fn a_map_is_a_function_of_each() {
    let w = Array::from([1.0f64, -1.0]);
    let f = |x: &Array| map(x, |row| row.dot(&w) * row.max());
    check(f, &Array::from([[1.0f64, 2.0], [3.0, 5.0], [4.0, 4.0]]), &[-2.0, -10.0, 0.0]);
    check_gradient(|x| f(&x.reshape([2, 2])).square().sum(), &[1.0, 2.0, 3.0, 5.0]);
    // What does not depend on the element is there for each.
    let (a, b) = map(&Array::zeros([3], F32), |_| (w.clone(), Array::from(2)));
    assert_eq!((a.shape().to_string(), b.to_string()), ("[3,2]".into(), "[2 2 2]".into()));
}

#[test]
fn prefixes_by_an_associative_function() {
    for n in 0..12usize {
        let x: Vec<f64> = (0..n).map(|i| 1.0 + i as f64 / 4.0).collect();
        let mut product = 1.0;
        let products: Vec<f64> = x
            .iter()
            .map(|x| {
                product *= x;
                product
            })
            .collect();
        check(|x| associative_scan(x, |a, b| a * b), &Array::from(x.clone()), &products);
        let mut sum = 0.0;
        let mut sums: Vec<f64> = x
            .iter()
            .rev()
            .map(|x| {
                sum += x;
                sum
            })
            .collect();
        sums.reverse();
        check(|x| associative_scan_reverse(x, |a, b| a + b), &Array::from(x), &sums);
    }
    check_gradient(|x| associative_scan(x, |a, b| a * b).square().sum(), &[1.0, 2.0, 0.5, 3.0, 1.5]);
}

#[test]
fn prefixes_of_pairs_that_do_not_commute() {
    // Straight lines, one after the other: y = a x + b.
    let lines = |x: &Array| (x.clone(), x + 1.0);
    let then = |f: &(Array, Array), g: &(Array, Array)| (&f.0 * &g.0, &f.1 * &g.0 + &g.1);
    let x = Array::from([1.0f64, 2.0, 0.5, 3.0, 1.5, -1.0]);
    let (mut a, mut b) = (1.0, 0.0);
    let expected = numbers(&x).into_iter().map(|x| {
        (a, b) = (a * x, b * x + x + 1.0);
        b
    });
    let expected: Vec<f64> = expected.collect();
    check(|x| associative_scan(&lines(x), then).1, &x, &expected);
    check_gradient(|x| associative_scan(&lines(x), then).1.sum(), &[1.0, 2.0, 0.5]);
    // A function of single elements, batched: products of matrices.
    let matrices = |x: &Array| {
        associative_scan(&x.reshape([3, 2, 2]), |a, b| {
            vmap(|(a, b): &(Array, Array)| a.dot(b))(&(a.clone(), b.clone()))
        })
    };
    let x: Vec<f64> = (1..=12).map(f64::from).collect();
    let last = |x: &Array| matrices(x).slice(s![2]).reshape([4]);
    check(last, &Array::from(x), &[413.0, 454.0, 937.0, 1030.0]);
}

#[test]
fn mapped_and_combined_in_blocks() {
    for n in [0usize, 1, 2, 63, 64, 65, 100, 128, 129, 1000] {
        let x: Vec<f64> = (0..n).map(|i| (i % 7) as f64).collect();
        let expected = 0.5 + x.iter().map(|x| x * x).sum::<f64>();
        let f = |x: &Array| map_reduce(Array::from(0.5f64), x, |x| x.square(), |a, b| a + b);
        check(f, &Array::from(x), &[expected]);
    }
    let most = |x: &Array| {
        let first = (Array::from(f64::NEG_INFINITY), Array::from(-1));
        let numbered = (x.clone(), Array::arange(x.len(), I32));
        let (_, at) = map_reduce(
            first,
            &numbered,
            |x| x.clone(),
            |a, b| {
                let better = b.0.gt(&a.0);
                (select(&better, &b.0, &a.0), select(&better, &b.1, &a.1))
            },
        );
        at
    };
    let mut x = vec![0.0; 300];
    x[217] = 1.0;
    check(most, &Array::from(x), &[217.0]);
    let scale = Array::from([2.0f64, 3.0]);
    let f = |x: &Array| map_reduce(Array::weak(0), x, |x| (x * &scale).sum().sin(), |a, b| a + b);
    check_gradient(f, &(0..70).map(|i| i as f64 / 50.0).collect::<Vec<_>>());
}

#[test]
fn the_order_of_a_reduction_depends_on_the_length_only() {
    // 1 + tiny + tiny + … is 1, and tiny + tiny + … is not.
    let n = 64 * 4;
    let x = Array::full([n], 1e-9, F32);
    let block = (0..3).fold(1e-9f32, |sum, _| sum + 1e-9);
    let expected = (0..64).fold(1.0f32, |sum, _| sum + block);
    let found = map_reduce(Array::from(1.0f32), &x, |x| x.clone(), |a, b| a + b);
    assert_eq!(found.item::<f32>().to_bits(), expected.to_bits());
}

#[test]
fn control_flow_nests() {
    let f = |x: &Array| {
        let (sum, _) = scan(Array::from(0.0f64), x, |sum, x| {
            let y = cond(
                &x.gt(0.0),
                || fori_loop(0..3, x.clone(), |_, s| s * x + sum),
                || while_loop(x.clone(), |y| y.lt(1.0), |y| y + 0.75),
            );
            (sum + map(&Array::from([1.0f64, 2.0]), |w| w * &y).sum(), ())
        });
        sum
    };
    let expected = |x: &[f64]| {
        x.iter().fold(0.0, |sum, &x| {
            let mut y = x;
            if x > 0.0 {
                (0..3).for_each(|_| y = y * x + sum);
            } else {
                while y < 1.0 {
                    y += 0.75;
                }
            }
            sum + 3.0 * y
        })
    };
    let x = [0.5, -0.3, 1.1];
    check(f, &Array::from(x), &[expected(&x)]);
    check_gradient(f, &x);
    let (_, slope) = jvp(f, &Array::from(x), &Array::from([0.0f64, 0.0, 1.0]));
    let by = |d: f64| expected(&[x[0], x[1], x[2] + d]);
    assert_close(&slope, &[(by(1e-6) - by(-1e-6)) / 2e-6], 1e-6);
}

#[test]
fn gradients_reach_what_is_captured() {
    let x = Array::from([1.0f64, 2.0, 3.0]);
    let f = |w: &Array| {
        let (h, _) = scan(Array::zeros([2], F64), &x, |h, x| ((h * w + x).tanh(), ()));
        h.sum() + fori_loop(0..3, Array::from(1.0f64), |_, s| s * w.sum())
    };
    check_gradient(f, &[0.3, -0.4]);
    // By both at once.
    let g = |w: &Array| grad(|x: &Array| scan(w.clone(), x, |w, x| (w * x.sin(), ())).0.sum())(&x).sum();
    check_gradient(g, &[0.3, -0.4]);
}

#[test]
fn control_flow_is_batched() {
    let f = |x: &Array| {
        let y = cond(&x.gt(0.0), || x.sqrt(), || -x);
        let n = while_loop(y.clone(), |y| y.lt(10.0), |y| y * 2.0 + 1.0);
        let (s, _) = scan(Array::from(0.0f64), &stack(&[&y, &n], 0), |s, x| (s * 0.5 + x, ()));
        s + switch(&x.convert(I32), &[&|| y.clone(), &|| &n * 2.0])
    };
    let x = Array::from([4.0f64, -3.0, 0.25, 1.5]);
    let expected: Vec<f64> = numbers(&x).into_iter().map(|x| f(&Array::from(x)).item::<f64>()).collect();
    check(|x| vmap(f)(x), &x, &expected);
    check(|x| map(x, f), &x, &expected);
    let rows = |x: &Array| vmap(|x: &Array| map_reduce(Array::from(0.0f64), x, |x| x * x, |a, b| a + b))(x);
    check(rows, &x.reshape([2, 2]), &[25.0, 2.3125]);
}

#[test]
fn results_of_functions_that_fail_are_errors() {
    let x = Array::from([1.0f32, 2.0]);
    let good = scan(Array::from(0.0f32), &x, |s, x| Ok::<_, Error>((s + x, ())));
    assert_eq!(good.unwrap().0.item::<f32>(), 3.0);
    let bad = scan(Array::from(0.0f32), &x, |s, x| Ok::<_, Error>((s + x.reshape([2]), ())));
    assert!(bad.err().unwrap().to_string().contains("for scan"));
    // Errors of the user's own pass through.
    #[derive(Debug)]
    struct Own(String);
    impl From<Error> for Own {
        fn from(error: Error) -> Own {
            Own(error.to_string())
        }
    }
    let own = |text: &str| Err::<Array, Own>(Own(text.into()));
    assert_eq!(cond(&Array::from(true), || Ok(x.clone()), || own("no")).err().unwrap().0, "no");
    assert_eq!(while_loop(x.clone(), |_| own("test"), |x| Ok(x.clone())).err().unwrap().0, "test");
    assert_eq!(map_reduce(x.clone(), &x, |_| own("map"), |a, _| Ok(a.clone())).err().unwrap().0, "map");
    assert_eq!(associative_scan(&x, |_, _| own("pair")).err().unwrap().0, "pair");
    // The condition may be plain where the body is not.
    let plain = while_loop(Array::from(0), |s| s.lt(3), |s| Ok::<_, Own>(s + 1));
    assert_eq!(plain.unwrap().item::<i32>(), 3);
}

#[test]
fn functions_are_traced_without_values() {
    // Outside `jit!` and under `grad` values are known, but a function of a loop stands for every turn.
    let seen = |x: &Array| {
        let error = scan(x.clone(), &Array::from([1.0f32]), |s, x| {
            Ok::<_, Error>((if s.item::<f32>() > 0.0 { s + x } else { s.clone() }, ()))
        });
        assert!(error.err().unwrap().to_string().contains("not known while tracing for scan"));
        x.clone()
    };
    seen(&Array::from(1.0f32));
    grad(seen)(&Array::from(1.0f32));
}

/// What an observer sees of a call at once.
fn events(f: impl FnOnce() -> Array) -> String {
    let log = Arc::new(EventLog::new());
    observing(log.clone(), f);
    without_lines(&log.text())
}

#[test]
fn arrays_of_the_program_are_operands() {
    // Also numbers, where the loop is run at once: the same loop with others is the same program.
    let run = |w: f32| {
        let (w, b, x) = (Array::from(w), Array::from([w, 1.0]), Array::from(1.0f32));
        events(|| scan(x, &b, |s, x| (s * &w + x * b.sum(), ())).0)
    };
    assert_eq!(run(0.5), run(0.25));
    expect![[r#"
        scan closure(f32[], f32[2]) at here
          enter closure(traced f32[], traced f32[])
            mul traced f32[], f32[] -> traced f32[] at here
            reduce_sum f32[2] -> traced f32[] at here
            mul traced f32[], traced f32[] -> traced f32[] at here
            add traced f32[], traced f32[] -> traced f32[] at here
          return traced f32[]
          scan f32[], f32[2], f32[], f32[2] -> f32[] at here
        scan = f32[]
    "#]]
    .assert_eq(&run(0.5));
    // Rust numbers are part of the program.
    let graph = trace(|x: &Array| fori_loop(0..3, x.clone(), |_, s| s * 2.0), &Array::from(1.0f32)).unwrap();
    assert!(graph.to_string().contains("2.0"), "{graph}");
}

#[test]
fn a_graph_shows_its_loops() {
    let f = |x: &Array| {
        let w = x.sin();
        fori_loop(0..10, x.clone(), |i, s| cond(&i.gt(3), || s * &w, || s.clone()))
    };
    expect![[r#"
        func @trace(%0: f32[2]) -> (f32[2]) {
          %1: f32[2] = sin %0
          %2: i32[], %3: f32[2] = scan[body=func @body(%0: f32[2], %1: i32[], %2: f32[2]) -> (i32[], f32[2]) {
            %3: bool[] = compare[comparison=gt] %1, 3:i32[]
            %4: i32[] = convert[dtype=i32, weak=false] %3
            %5: f32[2] = switch[branches=[func @otherwise(%0: f32[2], %1: f32[2]) -> (f32[2]) {
              return %0
            }, func @then(%0: f32[2], %1: f32[2]) -> (f32[2]) {
              %2: f32[2] = mul %0, %1
              return %2
            }]] %4, %2, %0
            %6: i32[] = add %1, 1:i32[]
            return %6, %5
          }, consts=1, carries=2, length=10, reverse=false, unroll=1] %1, 0:i32[], %0
          return %3
        }
    "#]]
    .assert_eq(&trace(f, &Array::from([1.0f32, 2.0])).unwrap().to_string());
    let f = |x: &Array| map_reduce(Array::from(0.0f32), x, |x| x * x, |a, b| a + b);
    expect![[r#"
        func @trace(%0: f32[130]) -> (f32[]) {
          %1: f32[] = call[graph=func @map_reduce(%0: f32[], %1: f32[130]) -> (f32[]) {
            %2: f32[129] = slice[start=[0], limit=[129], step=[1]] %1
            %3: f32[43,3] = reshape[shape=[43,3]] %2
            %4: f32[43] = each[graph=func @block(%0: f32[3]) -> (f32[]) {
              %1: f32[1] = slice[start=[0], limit=[1], step=[1]] %0
              %2: f32[] = reshape[shape=[]] %1
              %3: f32[] = mul %2, %2
              %4: f32[2] = slice[start=[1], limit=[3], step=[1]] %0
              %5: f32[] = scan[body=func @step(%0: f32[], %1: f32[]) -> (f32[]) {
                %2: f32[] = mul %1, %1
                %3: f32[] = add %0, %2
                return %3
              }, consts=0, carries=1, length=2, reverse=false, unroll=1] %3, %4
              return %5
            }, size=43, axes=[0], out_axes=[0]] %3
            %5: f32[] = scan[body=func @combine(%0: f32[], %1: f32[]) -> (f32[]) {
              %2: f32[] = add %0, %1
              return %2
            }, consts=0, carries=1, length=43, reverse=false, unroll=1] %0, %4
            %6: f32[1] = slice[start=[129], limit=[130], step=[1]] %1
            %7: f32[] = reshape[shape=[]] %6
            %8: f32[] = mul %7, %7
            %9: f32[] = add %5, %8
            return %9
          }] 0.0:f32[], %0
          return %1
        }
    "#]]
    .assert_eq(&trace(f, &Array::zeros([130], F32)).unwrap().to_string());
}
