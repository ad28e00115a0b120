//! `explain_cache_misses`: why a jitted function was traced again.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use tracewell::prelude::*;

use crate::without_lines;

/// Why functions were traced.
#[track_caller]
fn check<R>(f: impl FnOnce() -> R, expected: Expect) {
    let (_, misses) = explain_cache_misses(f);
    let texts: Vec<String> = misses.iter().map(|miss| without_lines(&miss.to_string())).collect();
    expected.assert_eq(&texts.join("\n"));
}

#[test]
fn shapes_element_types_and_weak_types() {
    jit! {
        fn doubled(x: &Array) -> Array { 2.0 * x }
    }
    check(
        || {
            doubled(&Array::zeros([3], F32));
            doubled(&Array::ones([3], F32));
            doubled(&Array::zeros([4], F32));
            doubled(&Array::zeros([4], F64));
            doubled(&Array::from(1.0f64));
            doubled(&Array::weak(1.0));
            doubled(&Array::zeros([4], F64));
        },
        expect![[r#"
            `doubled` (here) was traced: no trace of it is known
              --> here
            `doubled` (here) was traced: `x` is f32[4] and was f32[3]
              --> here
              help: each shape has a trace of its own: pad arrays to a common shape if there are many
            `doubled` (here) was traced: `x` is f64[4] and was f32[4]
              --> here
              help: each element type has a trace of its own: `convert` the array before the call
            `doubled` (here) was traced: `x` is f64[] and was f64[4]
              --> here
              help: each shape has a trace of its own: pad arrays to a common shape if there are many
            `doubled` (here) was traced: `x` is ~f64[] and was f64[]
              --> here
              help: a Rust number has a weak type, written `~`: pass either numbers or arrays, not both in turn"#]],
    );
}

#[test]
fn static_arguments() {
    jit! {
        fn raised(x: &Array, #[static_arg] power: f64, #[static_arg] name: &str) -> Array {
            let _ = name;
            x.pow(power)
        }
    }
    let x = Array::zeros([3], F32);
    check(
        || {
            raised(&x, 1.0, "first");
            raised(&x, 2.0, "first");
            raised(&x, 2.0, "second");
            raised(&x, 2.0, "second");
            raised(&x, 3.0, "third");
        },
        expect![[r#"
            `raised` (here) was traced: no trace of it is known
              --> here
            `raised` (here) was traced: the static value `power` is 2.0 and was 1.0
              --> here
              help: each static value has a trace of its own: pass what changes often as an `Array` or a `Scalar`
            `raised` (here) was traced: the static value `name` is "second" and was "first"
              --> here
              help: each static value has a trace of its own: pass what changes often as an `Array` or a `Scalar`
            `raised` (here) was traced: the static value `power` is 3.0 and was 2.0, and 1 other difference
              --> here
              help: each static value has a trace of its own: pass what changes often as an `Array` or a `Scalar`"#]],
    );
}

#[derive(Clone, Tree)]
struct Layer {
    w: Array,
    b: Option<Array>,
    #[tree(static)]
    name: String,
    #[tree(static)]
    kind: Kind,
}

#[derive(Clone, Debug, Static)]
enum Kind {
    Dense,
    Sparse,
}

#[test]
fn trees() {
    jit! {
        fn total(layers: &[Layer]) -> Array {
            layers.iter().fold(Array::from(0.0f32), |sum, layer| sum + layer.w.sum())
        }
    }
    let layer = |n: usize, name: &str| Layer {
        w: Array::ones([n], F32),
        b: None,
        name: name.to_string(),
        kind: Kind::Dense,
    };
    check(
        || {
            total(&[layer(3, "a")]);
            total(&[layer(3, "a"), layer(3, "b")]);
            total(&[layer(3, "a"), layer(4, "b")]);
            total(&[layer(3, "a"), layer(3, "c")]);
            total(&[Layer { kind: Kind::Sparse, ..layer(3, "a") }]);
            total(&[Layer { b: Some(Array::ones([3], F32)), ..layer(3, "a") }]);
        },
        expect![[r#"
            `total` (here) was traced: no trace of it is known
              --> here
            `total` (here) was traced: there is a new array `layers[1].w`
              --> here
              help: each structure has a trace of its own: give trees of the same lengths and variants
            `total` (here) was traced: `layers[1].w` is f32[4] and was f32[3]
              --> here
              help: each shape has a trace of its own: pad arrays to a common shape if there are many
            `total` (here) was traced: the static value `layers[1].name` is "c" and was "b"
              --> here
              help: each static value has a trace of its own: pass what changes often as an `Array` or a `Scalar`
            `total` (here) was traced: the static value `layers[0].kind` is Sparse and was Dense
              --> here
              help: each static value has a trace of its own: pass what changes often as an `Array` or a `Scalar`
            `total` (here) was traced: there is a new array `layers[0].b`
              --> here
              help: each structure has a trace of its own: give trees of the same lengths and variants"#]],
    );
}

#[test]
fn rust_types_and_keys_of_maps() {
    jit! {
        fn sum<T: Tree>(x: &T) -> Array {
            let mut sum = Array::from(0.0f32);
            x.visit(&mut |leaf| sum = &sum + leaf.sum());
            sum
        }
    }
    let x = Array::ones([2], F32);
    let single = [x.clone()];
    check(
        || {
            sum(&vec![x.clone()]);
            sum(&single);
            sum(&BTreeMap::from([("a", x.clone())]));
            sum(&BTreeMap::from([("b", x.clone())]));
        },
        expect![[r#"
            `sum` (here) was traced: no trace of it is known
              --> here
            `sum` (here) was traced: `x` is of type `[tracewell::array::Array; 1]` and was of type `alloc::vec::Vec<tracewell::array::Array>`
              --> here
              help: each Rust type has traces of its own
            `sum` (here) was traced: `x` is of type `alloc::collections::btree::map::BTreeMap<&str, tracewell::array::Array>` and was of type `[tracewell::array::Array; 1]`
              --> here
              help: each Rust type has traces of its own
            `sum` (here) was traced: there is a new array `x["b"]`
              --> here
              help: each structure has a trace of its own: give trees of the same lengths and variants"#]],
    );
}

#[test]
fn a_closure_that_is_made_again_and_again() {
    let x = Array::ones([2], F32);
    check(
        || {
            for _ in 0..2 {
                tracewell::jit(|x: &Array| x.sin()).call(&x);
            }
        },
        expect![[r#"
            a closure (here) was traced: no trace of it is known
              --> here
            a closure (here) was traced: another closure, made at the same line, was traced before
              --> here
              help: each `jit(closure)` has traces of its own: make it once, and call it often"#]],
    );
}

#[test]
fn a_closure_object_with_another_shape() {
    let f = tracewell::jit(|x: &Array| x.sin());
    f.call(&Array::ones([2], F32));
    check(
        || f.call(&Array::ones([3], F32)),
        expect![[r#"
        a closure (here) was traced: `x` is f32[3] and was f32[2]
          --> here
          help: each shape has a trace of its own: pad arrays to a common shape if there are many"#]],
    );
}

#[test]
fn a_trace_that_looked_at_a_value_is_not_kept() {
    let x = Array::from(2.0f32);
    let f = |x: &Array| {
        let inner = tracewell::jit(|y: &Array| if x.item::<f32>() > 1.0 { y.sin() } else { y.cos() });
        inner.call(x) + inner.call(x)
    };
    check(
        || grad(f)(&x),
        expect![[r#"
        a closure (here) was traced: no trace of it is known
          --> here
        a closure (here) was traced: its trace was not kept, because it looked at the value of an array
          --> here
          help: a trace that depends on values is good for one call: choose with `select`, or leave out the `jit`"#]],
    );
}

#[test]
fn outer_calls_come_before_those_inside() {
    jit! {
        fn inside(x: &Array) -> Array { x.sin() }
    }
    jit! {
        fn outside(x: &Array) -> Array { inside(x) + inside(&x.sum()) }
    }
    check(
        || outside(&Array::ones([2], F32)),
        expect![[r#"
        `outside` (here) was traced: no trace of it is known
          --> here
        `inside` (here) was traced: no trace of it is known
          --> here
        `inside` (here) was traced: `x` is f32[] and was f32[2]
          --> here
          help: each shape has a trace of its own: pad arrays to a common shape if there are many"#]],
    );
}

#[test]
fn the_nearest_trace_is_the_one_compared() {
    jit! {
        fn three(a: &Array, b: &Array, c: &Array) -> Array { a.sum() + b.sum() + c.sum() }
    }
    let of = |n: usize| Array::ones([n], F32);
    three(&of(1), &of(2), &of(3));
    three(&of(4), &of(5), &of(6));
    check(
        || {
            three(&of(4), &of(9), &of(6));
            three(&of(7), &of(8), &of(3));
        },
        expect![[r#"
            `three` (here) was traced: `b` is f32[9] and was f32[5]
              --> here
              help: each shape has a trace of its own: pad arrays to a common shape if there are many
            `three` (here) was traced: `a` is f32[7] and was f32[1], and 1 other difference
              --> here
              help: each shape has a trace of its own: pad arrays to a common shape if there are many"#]],
    );
}

#[test]
fn the_line_of_the_call_is_named() {
    jit! {
        fn here(x: &Array) -> Array { x.cos() }
    }
    let (_, misses) = explain_cache_misses(|| here(&Array::ones([2], F32)));
    assert_eq!(misses[0].location().line, line!() - 1);
    assert_eq!(misses[0].function(), Some("here"));
}

#[test]
fn scopes_nest_and_belong_to_their_thread() {
    jit! {
        fn nested(x: &Array) -> Array { x.tan() }
    }
    let of = |n: usize| Array::ones([n], F32);
    let (inner, outer) = explain_cache_misses(|| {
        nested(&of(1));
        let ((), inner) = explain_cache_misses(|| {
            nested(&of(2));
        });
        std::thread::scope(|scope| {
            scope.spawn(|| nested(&of(3)));
        });
        nested(&of(4));
        inner
    });
    let reasons =
        |misses: &[CacheMiss]| misses.iter().map(|miss| miss.reason().to_string()).collect::<Vec<_>>();
    assert_eq!(reasons(&inner), ["`x` is f32[2] and was f32[1]"]);
    assert_eq!(outer.len(), 3, "the calls of this thread: {outer:?}");
    let (_, later) = explain_cache_misses(|| nested(&of(4)));
    assert!(later.is_empty(), "a hit is no miss");
}

#[test]
fn a_trace_that_was_forgotten() {
    if std::env::var_os("TRACEWELL_TEST_FORGOTTEN").is_none() {
        // Forgetting everything would disturb the other tests.
        return crate::alone("misses::a_trace_that_was_forgotten", "TRACEWELL_TEST_FORGOTTEN");
    }
    jit! {
        fn forgotten(x: &Array) -> Array { x.exp() }
    }
    let x = Array::ones([2], F32);
    check(
        || {
            forgotten(&x);
            tracewell::clear_caches();
            forgotten(&x)
        },
        expect![[r#"
            `forgotten` (here) was traced: no trace of it is known
              --> here
            `forgotten` (here) was traced: its trace was forgotten
              --> here
              help: the cache was cleared, or is full: `TRACEWELL_CACHE_MIB` is its size"#]],
    );
}

#[test]
fn checks_that_trace_again_are_no_misses() {
    jit! {
        fn checked(x: &Array) -> Array { x.exp() }
    }
    let x = Array::ones([2], F32);
    checked(&x);
    check(|| checking_leaks(|| checking_purity(|| checked(&x))), expect![""]);
}
