//! A call whose trace is cached costs nothing for repros: no event, no memory. Alone in its program, because it counts
//! allocations.

#[path = "allocator.rs"]
mod allocator;

use std::sync::Mutex;

use tracewell::observe::is_observed;
use tracewell::prelude::*;

/// The allocations of one call, the fewest of several: another may fill a cache.
fn allocations(call: impl Fn()) -> usize {
    let one = |_| {
        let before = allocator::allocations();
        call();
        allocator::allocations() - before
    };
    (0..5).map(one).min().unwrap_or(0)
}

/// Lists of few arrays are on the stack: a call allocates its result and no more, and what is more is right.
#[test]
fn a_warm_call_of_many_arrays_allocates_no_lists() {
    let sum = jit(|xs: &Vec<Array>| xs[1..].iter().fold(xs[0].clone(), |sum, x| sum + x));
    let arrays = |count: usize| (0..count).map(|i| Array::from(i as f32)).collect::<Vec<Array>>();
    let cost = |count: usize| {
        let xs = arrays(count);
        let expected = (count * (count - 1) / 2) as f32;
        assert_eq!(sum.call(&xs).item::<f32>(), expected);
        allocations(|| assert_eq!(sum.call(&xs).item::<f32>(), expected))
    };
    assert_eq!(cost(20), cost(2));
    assert!(cost(40) > cost(2));
}

#[test]
fn a_warm_call_makes_no_event_and_allocates_no_more() {
    // What runs is asked whether anybody looks on: where nobody does, nothing is made for them.
    static SEEN: Mutex<Vec<bool>> = Mutex::new(Vec::new());
    let look = |x: &Array| {
        SEEN.lock().expect("nothing panics with it").push(is_observed());
        x.clone()
    };
    let watched = jit(|x: &Array| callback(&Array::zeros([3], F32), look, &x.sin()));
    let f = jit(|(x, w): &(Array, Array)| (x.sin().dot(w) + 1.0).tanh().sum());
    let pair = (Array::ones([4, 3], F32), Array::ones([3, 3], F32));
    let x = Array::ones([3], F32);
    let folder = std::env::temp_dir().join(format!("tracewell-warm-{}", std::process::id()));
    let all = || {
        f.call(&pair);
        watched.call(&x);
    };
    let jitted = || drop(f.call(&pair));
    all();
    let off = allocations(jitted);
    let armed = repro::writing_to(&folder, || {
        // Traced and compiled with the recorder on, then warm.
        tracewell::clear_caches();
        all();
        SEEN.lock().expect("nothing panics with it").clear();
        watched.call(&x);
        allocations(jitted)
    });
    assert_eq!(*SEEN.lock().expect("nothing panics with it"), [false]);
    assert_eq!(armed, off);
    assert!(!folder.exists(), "nothing failed");
}
