//! Donation: memory is taken over only where the call holds the sole reference. Allocations are counted.
//!
//! The counter is of the whole process, so these tests run in one function, in a process of their own where
//! other tests do not allocate: see `counted`.

use tracewell::prelude::*;

jit! {
    #[jit(donate(x))]
    fn step(x: Array, y: &Array) -> Array { x * 0.5 + y }

    #[jit(donate(a, b))]
    fn swap(a: Array, b: Array) -> (Array, Array) { (&a + &b, &a - &b) }

    #[jit(donate(x))]
    fn twofold(x: Array) -> (Array, Array) { (&x + 1.0, &x * 3.0) }

    #[jit(donate(x))]
    fn reversed_use(x: Array) -> Array { x.reshape([2, 512]).t().reshape([1024]) + &x }
}

fn allocations(f: impl FnOnce()) -> u64 {
    let before = tracewell_array::stats::allocations();
    f();
    tracewell_array::stats::allocations() - before
}

fn address(x: &Array) -> *const f32 {
    x.as_slice::<f32>().unwrap().as_ptr()
}

fn fresh() -> Array {
    Array::from(vec![1.0f32; 1024])
}

/// Run in a child process by the test below.
fn cases() {
    let y = fresh();
    drop(step(fresh(), &y));

    let x = fresh();
    let at = address(&x);
    let mut result = None;
    assert_eq!(allocations(|| result = Some(step(x, &y))), 0, "a sole reference is taken over");
    assert_eq!(address(&result.unwrap()), at);

    drop(twofold(fresh()));
    let x = fresh();
    let mut result = None;
    assert_eq!(allocations(|| result = Some(twofold(x))), 1, "an argument is taken over once");
    let (sums, products) = result.unwrap();
    assert_eq!(sums.as_slice::<f32>().unwrap(), [2.0; 1024]);
    assert_eq!(products.as_slice::<f32>().unwrap(), [3.0; 1024]);

    let x = fresh();
    let shared = x.clone();
    let mut result = None;
    assert_eq!(allocations(|| result = Some(step(x, &y))), 1, "a clone keeps the memory");
    assert_eq!(shared.as_slice::<f32>().unwrap(), [1.0; 1024]);
    assert_eq!(result.unwrap().as_slice::<f32>().unwrap(), [1.5; 1024]);

    let x = fresh();
    let view = x.reshape([32, 32]);
    let mut result = None;
    assert_eq!(allocations(|| result = Some(step(x, &y))), 1, "a view keeps the memory");
    assert_eq!(view.as_slice::<f32>().unwrap(), [1.0; 1024]);

    let x = fresh();
    let mut result = None;
    assert_eq!(
        allocations(|| result = Some(step(x.clone(), &x))),
        1,
        "an argument that occurs twice is kept"
    );
    assert_eq!(x.as_slice::<f32>().unwrap(), [1.0; 1024]);

    drop(swap(fresh(), fresh()));
    let (a, b) = (fresh(), fresh());
    let mut result = None;
    let made = allocations(|| result = Some(swap(a, b)));
    let (sum, difference) = result.unwrap();
    assert_eq!(sum.as_slice::<f32>().unwrap(), [2.0; 1024]);
    assert_eq!(difference.as_slice::<f32>().unwrap(), [0.0; 1024]);
    assert!(made <= 2, "{made}");

    // The result reads the operand at another index than it writes: taking over would destroy it.
    let x = Array::arange(1024, F32);
    let expected: Vec<f32> = (0..1024).map(|i| ((i % 2) * 512 + i / 2 + i) as f32).collect();
    assert_eq!(reversed_use(x).as_slice::<f32>().unwrap(), expected);

    // In a loop nothing is allocated after the first step.
    let mut state = fresh();
    state = step(state, &y);
    assert_eq!(
        allocations(|| {
            for _ in 0..100 {
                state = step(std::mem::replace(&mut state, Array::from(0.0f32)), &y);
            }
        }),
        // The placeholder of `replace` is a scalar made from a Rust number.
        allocations(|| (0..100).for_each(|_| drop(Array::from(0.0f32)))),
    );
}

#[test]
fn shared_cloned_viewed_and_repeated_arguments() {
    if std::env::var_os("TRACEWELL_TEST_DONATION").is_some() {
        return cases();
    }
    crate::alone("donation::shared_cloned_viewed_and_repeated_arguments", "TRACEWELL_TEST_DONATION");
}
