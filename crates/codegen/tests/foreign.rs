//! Code for machines that are not the one we run on: it is made, and read.

use tracewell_array::DType;
use tracewell_codegen::{Target, compile, disassemble};
use tracewell_kernel::math::FUNCTIONS;
use tracewell_kernel::{Kernel, generate};

fn aarch64() -> Target {
    Target::aarch64().expect("tests have this architecture").with_text()
}

/// The instructions of a kernel.
fn assembly(kernel: &Kernel) -> String {
    let code = compile(kernel, &aarch64()).unwrap_or_else(|error| panic!("{error}\n{kernel}"));
    assert!(code.wide.is_empty(), "wide code is of one architecture\n{kernel}");
    disassemble(&code)
}

#[test]
fn random_kernels() {
    for seed in 0..300 {
        assert!(assembly(&generate::kernel(seed).kernel).contains("ret"));
    }
}

/// Every math function is vectors of 128 bits, and calls nobody for a fused multiply-add.
#[test]
fn functions() {
    for function in FUNCTIONS {
        for (dtype, lanes) in [(DType::F32, ".4s"), (DType::F64, ".2d")] {
            let text = assembly(&function.kernel(dtype));
            assert!(text.contains(lanes), "{} of {dtype} has no vectors\n{text}", function.name);
            assert!(!text.contains("blr"), "{} of {dtype} calls a function\n{text}", function.name);
        }
    }
}
