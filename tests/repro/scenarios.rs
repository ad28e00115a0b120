//! Programs that fail, one for each way to fail that the mistakes of docs/errors.md do not show.

use std::collections::BTreeMap;
use std::sync::Mutex;

use tracewell::prelude::*;
use tracewell::primitive::{Defined, bind, op};

use crate::user_primitive::{
    BUFFERS_PANIC, DERIVATIVE_PANICS, NO_DERIVATIVE, NOTHING, WRONG_DERIVATIVE, checked, same,
};

/// A program that fails, and its name.
pub(crate) type Scenario = (&'static str, fn() -> Option<String>);

#[derive(Clone, Tree)]
struct Layer {
    w: Array,
    b: Array,
    #[tree(static)]
    name: String,
}

#[derive(Clone, Tree)]
enum Cell {
    Plain(Array),
    Gated { gate: Array, inner: Array },
}

fn layers(sizes: &[usize]) -> Vec<Layer> {
    let pairs = sizes.windows(2).enumerate();
    pairs
        .map(|(i, size)| Layer {
            w: Array::full([size[0], size[1]], 0.5, F32),
            b: Array::zeros([size[1]], F32),
            name: format!("layer {i}"),
        })
        .collect()
}

fn forward(layers: &[Layer], x: &Array) -> Array {
    layers.iter().fold(x.clone(), |h, layer| (h.dot(&layer.w) + &layer.b).tanh())
}

jit! {
    fn scaled(x: &Array, #[static_arg] times: i32) -> Result<Array> {
        check!(x.gt(0.0).all(), "x is {}", x);
        Ok(x * times)
    }
}

jit! {
    fn inner_dot(x: &Array, w: &Array) -> Array { x.sin().dot(w) }
}

fn text<T>(result: Result<T>) -> Option<String> {
    result.err().map(|error| error.to_string())
}

struct Cubed;

impl Defined for Cubed {
    fn expand(&self, x: &[Array]) -> Vec<Array> {
        vec![&x[0] * &x[0] * &x[0]]
    }
}

/// All of them.
pub(crate) const SCENARIOS: &[Scenario] = &[
    ("eager_primitive", || {
        op("add %0, %1", &[&Array::ones([2], F32), &Array::ones([3], F32)]);
        None
    }),
    ("eager_broadcast", || {
        let _ = Array::ones([2, 3], F32) + Array::ones([2], F32);
        None
    }),
    ("primitive_in_jit", || {
        jit(|x: &Array| op("reduce_sum[axes=[0]] %0", &[x]).reshape([7])).call(&Array::ones([3], F32));
        None
    }),
    ("broadcast_in_grad_of_scan", || {
        let xs = Array::ones([4, 3], F32);
        let loss = |w: &Array| {
            let (last, _) = scan(Array::zeros([3], F32), &xs, |h, x| ((h + x * w).tanh(), ()));
            (last + Array::ones([2], F32)).sum()
        };
        grad(loss)(&Array::ones([3], F32));
        None
    }),
    ("struct_parameters_in_value_and_grad", || {
        let x = Array::ones([5, 3], F32);
        let y = Array::ones([5, 1], F32);
        let loss = |p: &Vec<Layer>| (forward(p, &x) - &y).square().mean_axes(&[0, 1, 2]);
        value_and_grad(loss)(&layers(&[3, 4, 2]));
        None
    }),
    ("nested_jit_found_in_the_cache", || {
        let (x, w) = (Array::ones([3], F32), Array::ones([3, 2], F32));
        inner_dot(&x, &w);
        let outer = jit(|x: &Array| inner_dot(&(x * 2.0), &w).reshape([5]));
        outer.call(&x);
        None
    }),
    ("failure_inside_a_nested_jit", || {
        let outer = jit(|x: &Array| inner_dot(x, &Array::ones([4, 2], F32)));
        outer.call(&Array::ones([3], F32));
        None
    }),
    ("check_in_a_cached_call", || {
        let good = Array::from([1.0f32, 2.0]);
        scaled(&good, 3).unwrap();
        scaled(&good, 3).unwrap();
        text(scaled(&Array::from([1.0f32, -2.0]), 3))
    }),
    ("check_in_a_first_call", || text(scaled(&Array::from([[1.0f32, -2.0]]), 4))),
    ("keys_of_a_map_that_are_numbers", || {
        let tree: BTreeMap<i32, Array> = [(1, Array::ones([2], F32)), (7, Array::ones([3], F32))].into();
        grad(|t: &BTreeMap<i32, Array>| (&t[&1] + &t[&7]).sum())(&tree);
        None
    }),
    ("keys_of_a_map_with_quotes", || {
        let key = "a \"b\" \\ */ \n c".to_string();
        let tree: BTreeMap<String, Array> = [(key.clone(), Array::ones([2], F32))].into();
        grad(move |t: &BTreeMap<String, Array>| t[&key].clone())(&tree);
        None
    }),
    ("an_enum_as_a_carry", || {
        let cell = Cell::Gated { gate: Array::ones([2], F32), inner: Array::ones([2], F32) };
        let step = |c: &Cell, x: &Array| match c {
            Cell::Gated { gate, inner } => {
                (Cell::Gated { gate: gate * x.sum(), inner: inner.reshape([1, 2]) }, ())
            }
            Cell::Plain(x) => (Cell::Plain(x.clone()), ()),
        };
        scan(cell, &Array::ones([3, 2], F32), step);
        None
    }),
    ("an_option_in_a_tree", || {
        let tree = (Some(Array::ones([2], F32)), None::<Array>, Array::ones([3], F32));
        vmap(|t: &(Option<Array>, Option<Array>, Array)| t.2.clone())(&tree);
        None
    }),
    ("branches_of_different_structs", || {
        let x = Array::ones([2], F32);
        let make = |n: usize| Layer { w: x.clone(), b: Array::ones([n], F32), name: "l".into() };
        cond(&x.sum().gt(0.0), || make(2), || make(3));
        None
    }),
    ("vmap_over_axes", || {
        let f = |(x, s): &(Array, Array)| x.dot(s);
        vmap_axes(f, (1, None), 0)(&(Array::ones([3, 4], F32), Array::ones([2], F32)));
        None
    }),
    ("jacobian_of_a_failure", || {
        jacfwd(|x: &Array| x.dot(&Array::ones([5], F32)))(&Array::ones([3], F32));
        None
    }),
    ("hessian_of_a_failure", || {
        hessian(|x: &Array| x.sin().dot(&Array::ones([5], F32)))(&Array::ones([3], F32));
        None
    }),
    ("hvp_of_an_integer", || {
        hvp(|x: &Array| x.sum(), &Array::ones([3], I32), &Array::ones([3], I32));
        None
    }),
    ("a_pullback_called_wrongly", || {
        let (_, pull) = vjp(|x: &Array| x.sin(), &Array::ones([3], F32));
        pull(&Array::ones([4], F32));
        None
    }),
    ("a_pushforward_called_wrongly_in_jit", || {
        let f = jit(|x: &Array| {
            let (y, push) = linearize(|x: &Array| x.sin(), x);
            y + push(&Array::ones([2], F64))
        });
        f.call(&Array::ones([2], F32));
        None
    }),
    ("custom_vjp_of_another_structure", || {
        let f = custom_vjp(|x: &Array| (x.sin(), x.clone()), |r: &Array, ct: &Array| (r * ct).sum());
        grad(|x: &Array| f(x).sum())(&Array::ones([3], F32));
        None
    }),
    ("custom_jvp_that_fails", || {
        let f = custom_jvp(|x: &Array| x.sin(), |x: &Array, dx: &Array| (x.sin(), dx.reshape([7])));
        grad(|x: &Array| f(x).sum())(&Array::ones([3], F32));
        None
    }),
    ("checkpoint_of_a_failure", || {
        let f = checkpoint_with(|x: &Array| x.sin().dot(&Array::ones([9], F32)), Policy::Dots);
        grad(|x: &Array| f(x))(&Array::ones([3], F32));
        None
    }),
    ("checkpoint_called_plainly", || {
        checkpoint(|x: &Array| x.sin().dot(&Array::ones([9], F32)))(&Array::ones([3], F32));
        None
    }),
    ("while_loop_body", || {
        let small = |x: &Array| x.sum().lt(9.0);
        while_loop(Array::ones([2], F32), small, |x| x.dot(&Array::ones([5], F32)));
        None
    }),
    ("while_loop_condition", || {
        while_loop(Array::ones([2], F32), |x| x.gt(1.0), |x| x + 1.0);
        None
    }),
    ("fori_loop_over_arrays", || {
        let n = Array::from(3);
        fori_loop(Array::from(0)..n, Array::ones([2], F32), |i, x| (x * i).reshape([2, 1]));
        None
    }),
    ("map_reduce_combine", || {
        let xs = Array::ones([4, 2], F32);
        map_reduce(Array::zeros([2], F32), &xs, |x| x.sin(), |a, b| (a + b).sum());
        None
    }),
    ("associative_scan_of_a_failure", || {
        associative_scan(&Array::ones([4, 2], F32), |a, b| a.dot(b));
        None
    }),
    ("contract_of_a_failure", || {
        let f = contract(|x: &Array| (x * x + 1.0).dot(&Array::ones([9], F32)));
        grad(|x: &Array| f(x))(&Array::ones([3], F32));
        None
    }),
    ("contract_before_a_failure", || {
        let y = contract(|x: &Array| x * x + 1.0)(&Array::ones([3], F32));
        y.dot(&Array::ones([9], F32));
        None
    }),
    ("eval_shape_of_a_failure", || {
        eval_shape(|x: &Array| x.dot(&Array::ones([9], F32)), &Array::ones([3], F32));
        None
    }),
    ("trace_of_a_failure", || text(trace(|x: &Array| x.reshape([5, 5]), &Array::ones([3], F32)))),
    ("an_if_on_a_traced_value", || {
        jit(|x: &Array| if x.sum().item::<f32>() > 0.0 { x.sin() } else { x.cos() })
            .call(&Array::ones([3], F32));
        None
    }),
    ("elements_of_a_traced_value", || {
        let f = vmap(|x: &Array| -> Result<Array> { Ok(Array::from(x.to_vec::<f32>()?)) });
        text(f(&Array::ones([3, 2], F32)))
    }),
    ("an_if_before_a_failure", || {
        let f = |x: &Array| if x.sum().item::<f32>() > 0.0 { x.sin().sum_axes(&[4]) } else { x.cos() };
        grad(f)(&Array::ones([3], F32));
        None
    }),
    ("a_leaked_tracer", || {
        let kept = Mutex::new(None);
        grad(|x: &Array| {
            *kept.lock().unwrap() = Some(x.sin());
            x.sum()
        })(&Array::ones([3], F32));
        let _ = kept.into_inner().unwrap().unwrap() + 1.0;
        None
    }),
    ("a_leaked_tracer_in_a_trace", || {
        let f = jit(|x: &Array| {
            let kept = Mutex::new(None);
            vmap(|row: &Array| {
                *kept.lock().unwrap() = Some(row.sin());
                row.sum()
            })(x);
            kept.into_inner().unwrap().unwrap() + x
        });
        f.call(&Array::ones([3, 2], F32));
        None
    }),
    ("a_panic_of_the_user", || {
        let f = jit(|x: &Array| {
            let y = x.sin();
            assert!(y.rank() == 7, "a \"quoted\" text\nof two lines */ with 1 number");
            y
        });
        f.call(&Array::ones([3], F32));
        None
    }),
    ("a_panic_in_grad_of_scan", || {
        let f = |w: &Array| {
            scan(w.clone(), &Array::ones([3], F32), |h, x| -> (Array, Array) {
                panic!("no {} here", (h * x).rank())
            })
            .0
            .sum()
        };
        grad(f)(&Array::ones([2], F32));
        None
    }),
    ("a_callback_that_fails", || {
        let f = jit(|x: &Array| -> Result<Array> {
            Ok(callback(&Array::zeros([2], F32), |x: &Array| x.reshape([9]), &x.sin()) + x)
        });
        text(f.call(&Array::ones([2], F32)))
    }),
    ("a_primitive_of_the_user", || {
        jit(|x: &Array| bind(Cubed, &[x]).reshape([7])).call(&Array::ones([2], F32));
        None
    }),
    ("a_check_of_what_a_primitive_of_the_user_gave", || {
        let f = jit(checked(|x| same(NOTHING, x)));
        f.call(&Array::from([-1.0f32, -2.0])).unwrap();
        text(f.call(&Array::from([1.0f32, 1.5])))
    }),
    ("a_check_of_what_a_callback_gave", || {
        let doubled = |x: &Array| x * 2.0;
        text(
            jit(checked(move |x| callback(&Array::zeros([2], F32), doubled, x))).call(&Array::ones([2], F32)),
        )
    }),
    ("a_derivative_that_a_primitive_of_the_user_has_not", || {
        grad(|x: &Array| same(NO_DERIVATIVE, x).sum())(&Array::ones([2], F32));
        None
    }),
    ("a_derivative_that_a_primitive_of_the_user_has_wrongly", || {
        grad(|x: &Array| same(WRONG_DERIVATIVE, x).sum())(&Array::ones([2], F32));
        None
    }),
    ("a_panic_in_a_derivative_of_a_primitive_of_the_user", || {
        jit(|x: &Array| grad(|x: &Array| same(DERIVATIVE_PANICS, x).sum())(x)).call(&Array::ones([2], F32));
        None
    }),
    ("a_panic_in_a_buffer_function_of_the_user", || {
        jit(|x: &Array| same(BUFFERS_PANIC, x) + 1.0).call(&Array::ones([2], F32));
        None
    }),
    ("a_cancelled_call", || {
        let f = jit(|x: &Array| -> Result<Array> { Ok(x.sin()) });
        let handle = Cancel::new();
        handle.cancel();
        text(with_cancel(&handle, || f.call(&Array::ones([2], F32))))
    }),
    ("a_time_limit", || {
        let f =
            jit(|x: &Array| -> Result<Array> { Ok(while_loop(x.clone(), |x| x.sum().gt(0.0), |x| x + 1.0)) });
        let limit = std::time::Duration::from_millis(50);
        text(with_time_limit(limit, || f.call(&Array::ones([2], F32))))
    }),
    ("an_argument_given_twice", || {
        let x = Array::ones([3], F32);
        grad(|(a, b): &(Array, Array)| (a * b).reshape([2]).sum())(&(x.clone(), x));
        None
    }),
    ("a_gradient_of_integers", || {
        grad(|x: &Array| x.sum())(&Array::arange(3, I32));
        None
    }),
    ("index_out_of_range_in_scan", || {
        let table = Array::ones([4, 2], F32);
        scan(Array::from(0.0f32), &Array::ones([3], F32), |s, x| (s + table.slice(s![9]).sum() * x, ()));
        None
    }),
    ("exact_bits_of_inputs", || {
        let x = Array::from([f32::NAN, -0.0, 1.0e-40, f32::INFINITY, 0.1]);
        jit(|x: &Array| (x / 3.0).reshape([7])).call(&x);
        None
    }),
    ("a_large_input", || {
        jit(|x: &Array| x.sum_axes(&[0]).reshape([7])).call(&Array::iota([50, 40], 0, F32));
        None
    }),
];
