//! The shape of generated code, and what is refused.

use tracewell_codegen::{CodegenError, Target, Width, clif_text, compile, disassemble};
use tracewell_kernel::{Kernel, KernelBuilder, Op};

fn kernel(text: &str) -> Kernel {
    text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

const MULTIPLY_ADD: &str = "kernel @mul_add(b0: f32, b1: f32, b2: f32, b3: mut f32) sizes 1 {
    each %i < s0 {
        %x: f32 = load b0[%i] %y: f32 = load b1[%i] %z: f32 = load b2[%i]
        %p: f32 = mul %x, %y %s: f32 = add %p, %z store b3[%i], %s
    }
}";

/// The instructions of the block that adds most, which is the innermost loop.
fn inner_loop(assembly: &str) -> Vec<&str> {
    let blocks =
        assembly.split("block").map(|block| block.lines().skip(1).map(str::trim).collect::<Vec<_>>());
    blocks.max_by_key(|block| count(block, "vaddps")).unwrap_or_default()
}

fn count(block: &[&str], instruction: &str) -> usize {
    block.iter().filter(|line| line.starts_with(instruction)).count()
}

#[test]
fn loops_have_no_instruction_too_many() {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let features = ["has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_avx", "has_avx2", "has_fma"];
    let target = Target::named(&features).expect("features of the architecture").with_text();
    let code = compile(&kernel(MULTIPLY_ADD), &target).expect("a kernel that compiles");
    let assembly = disassemble(&code);
    let block = inner_loop(&assembly);
    // Four vectors, each loaded, multiplied and added from memory, and stored.
    for (instruction, expected) in [("vmovups", 8), ("vmulps", 4), ("vaddps", 4)] {
        assert_eq!(count(&block, instruction), expected, "{assembly}");
    }
    assert!(block.len() <= 20, "{assembly}");

    let sum = kernel(
        "kernel @sum(b0: f32, b1: mut f32) sizes 1 {
            %s: f32 = reduce add over %i < s0 { %x: f32 = load b0[%i] yield %x }
            store b1[0], %s
        }",
    );
    let assembly = disassemble(&compile(&sum, &target).expect("a kernel that compiles"));
    let block = inner_loop(&assembly);
    assert_eq!(count(&block, "vaddps"), 8, "{assembly}");
    assert!(block.len() <= 22, "{assembly}");
}

#[test]
fn text_on_demand() {
    let kernel = kernel(MULTIPLY_ADD);
    let code = compile(&kernel, Target::host()).expect("a kernel that compiles");
    assert_eq!(code.clif, None);
    let bytes = disassemble(&code);
    assert!(bytes.starts_with("000000  "), "{bytes}");
    assert_eq!(bytes.lines().count(), code.bytes.len().div_ceil(16));
    let narrow = Target::host().with_width(Width::W128).expect("every machine has it");
    let code = compile(&kernel, &narrow.with_text()).expect("a kernel that compiles");
    assert!(code.clif.as_ref().is_some_and(|text| text.starts_with("function")));
    assert!(disassemble(&code).contains("block0:"));
    // What is compiled without Cranelift has no text of its.
    let code = compile(&kernel, &Target::host().with_text()).expect("a kernel that compiles");
    let text = clif_text(&kernel).expect("a kernel that compiles");
    assert!(code.clif.as_ref() == Some(&text) || code.clif.is_none() && text.starts_with("; "), "{text}");
}

#[test]
fn limits() {
    let mut b = KernelBuilder::new();
    let out = b.param(tracewell_array::DType::I64, true);
    let mut value = b.constant(1i64);
    for _ in 0..200_002 {
        value = b.op(Op::Not, &[value]);
    }
    b.store(out, tracewell_kernel::Index::at(0), value);
    let error = compile(&b.finish("long"), Target::host()).expect_err("too long");
    assert_eq!(error.to_string(), "kernel `long` needs more than 200000 instructions");
}

#[test]
fn panics_are_errors() {
    let mut broken = kernel("kernel @broken(b0: mut i64) { %x: i64 = const 1 store b0[0], %x }");
    broken.body.stmts.remove(0);
    let error = compile(&broken, Target::host()).expect_err("a value that nobody defines");
    assert!(matches!(error, CodegenError::Panicked { .. }), "{error}");
    assert!(clif_text(&broken).is_err());
}
