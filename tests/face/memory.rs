//! Code memory is freed when its last user drops; guarded buffers find every access outside.

use std::process::Command;

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
        compile_many(500);
        let early = tracewell_runtime::live_code_bytes();
        compile_many(9500);
        let late = tracewell_runtime::live_code_bytes();
        assert!(late <= early * 2, "{early} bytes of code after 500 compiles, {late} after 10,000");
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::ten_thousand_compiles_leave_code_memory_flat", "--test-threads", "1"])
        .env("TRACEWELL_TEST_CODE", "1")
        .env("TRACEWELL_CACHE_MIB", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && text.contains("1 passed"), "{text}\n{}", String::from_utf8_lossy(&child.stderr));
}
