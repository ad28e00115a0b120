//! Code memory is freed when its last user drops.

use tracewell::prelude::*;

/// Compiles `n` different graphs, each used once.
fn compile_many(n: usize) {
    for i in 0..n {
        // Another constant for each: a graph, a trace and a program of its own, kernels with another literal.
        let c = i as f64 + 0.5;
        let f = tracewell::jit(move |x: &Array| (x * c).sin() + c);
        f.call(&Array::from([1.0f32, 2.0]));
    }
}

#[test]
fn ten_thousand_compiles_leave_code_memory_flat() {
    if std::env::var_os("TRACEWELL_TEST_CODE").is_some() {
        // The caches keep what they can; what is not kept must be freed.
        compile_many(500);
        tracewell::clear_caches();
        let early = tracewell_runtime::live_code_bytes();
        for _ in 0..19 {
            compile_many(500);
            tracewell::clear_caches();
        }
        let late = tracewell_runtime::live_code_bytes();
        assert!(late <= early + (64 << 10), "{early} bytes of code after 500 compiles, {late} after 10,000");
        return;
    }
    crate::alone("memory::ten_thousand_compiles_leave_code_memory_flat", "TRACEWELL_TEST_CODE");
}
