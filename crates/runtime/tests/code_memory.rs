//! Code is given back. Alone in its process: the counter is the process's.

use std::sync::Arc;

use smallvec::smallvec;
use tracewell_array::DType;
use tracewell_kernel::{Index, Kernel, KernelBuilder, Op, Size};
use tracewell_runtime::{compiled, live_code_bytes};

/// A kernel that no other number has.
fn kernel(number: i64) -> Arc<Kernel> {
    let mut b = KernelBuilder::new();
    let (x, y) = (b.param(DType::I64, false), b.param(DType::I64, true));
    let constant = b.constant(number);
    let place = Index { offset: Size::Const(0), terms: smallvec![] };
    let value = b.load(x, place.clone());
    let sum = b.op(Op::Add, &[value, constant]);
    b.store(y, place, sum);
    Arc::new(b.finish("add"))
}

#[test]
fn code_is_given_back() {
    let before = live_code_bytes();
    let held = compiled(&[kernel(-1)]).expect("a kernel that compiles");
    let one = live_code_bytes() - before;
    assert!(one > 0);
    for round in 0..40 {
        let kernels: Vec<_> = (0..50).map(|k| kernel(round * 50 + k)).collect();
        let round = compiled(&kernels).expect("kernels that compile");
        assert_eq!(live_code_bytes(), before + one * 51);
        let again = compiled(&kernels).expect("kernels that compile");
        assert!(round.iter().zip(&again).all(|(a, b)| Arc::ptr_eq(a, b)));
        drop((round, again));
        assert_eq!(live_code_bytes(), before + one);
    }
    drop(held);
    assert_eq!(live_code_bytes(), before);
}
