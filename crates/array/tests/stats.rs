//! The memory counters, in a process where nothing else allocates tensors.
//!
//! Invariant: this file holds one test, because the counters are global and tests run side by side.

use tracewell_array::{DType, Tensor, stats};

#[test]
fn counters_follow_the_buffers() {
    let (allocations, live) = (stats::allocations(), stats::live_bytes());
    let seen = || (stats::allocations() - allocations, stats::live_bytes() - live);

    let fresh = Tensor::zeros(DType::F64, [1000]);
    let (count, bytes) = seen();
    assert_eq!(count, 1);
    assert!(bytes >= 8000);

    let clone = fresh.clone();
    let view = fresh.reshape([10, 100]).expect("as many elements");
    assert_eq!(seen(), (1, bytes), "sharing allocates nothing");

    let mut values = Vec::with_capacity(50);
    values.extend([1i32, 2, 3]);
    let taken = Tensor::from_vec(values, [3]).expect("three elements");
    assert_eq!(seen(), (1, bytes + 200), "a `Vec` is held, but not allocated by us");

    drop((fresh, clone));
    assert_eq!(seen(), (1, bytes + 200), "a view keeps the buffer");
    drop((view, taken));
    assert_eq!(seen(), (1, 0));

    // What one thread makes, another may drop, also when it ends.
    thread_local! {
        static LAST: std::cell::RefCell<Option<Tensor>> = const { std::cell::RefCell::new(None) };
    }
    let of_another = std::thread::spawn(|| Tensor::zeros(DType::F64, [1000])).join().expect("it ends well");
    assert_eq!(seen(), (2, bytes));
    std::thread::spawn(move || LAST.set(Some(of_another))).join().expect("it ends well");
    assert_eq!(seen(), (2, 0));
}
