//! Wide code, read back by a decoder that is not ours: whole instructions, of the features of its level only.
#![cfg(target_arch = "x86_64")]

use iced_x86::{
    Code as Instruction, CpuidFeature, Decoder, DecoderOptions, FlowControl, Formatter as _, NasmFormatter,
};
use tracewell_codegen::{Code, Target, Width, compile};
use tracewell_kernel::{Kernel, generate};

fn kernel(text: &str) -> Kernel {
    text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What a machine of a width has.
fn features(width: Width) -> &'static [CpuidFeature] {
    use CpuidFeature as F;
    const AVX2: &[CpuidFeature] =
        &[F::INTEL8086, F::INTEL386, F::X64, F::SSE, F::AVX, F::AVX2, F::FMA, F::BMI2];
    const AVX512: &[CpuidFeature] = &[
        F::INTEL8086,
        F::INTEL386,
        F::X64,
        F::MULTIBYTENOP,
        F::SSE,
        F::AVX,
        F::BMI2,
        F::AVX512F,
        F::AVX512CD,
        F::AVX512BW,
        F::AVX512DQ,
        F::AVX512VL,
    ];
    match width {
        Width::W128 => &[],
        Width::W256 => AVX2,
        Width::W512 => AVX512,
    }
}

/// The instructions of all wide functions as text, if they are what they must be.
fn read_back(code: &Code, width: Width) -> Vec<String> {
    let mut lines = Vec::new();
    let mut formatter = NasmFormatter::new();
    for range in &code.wide {
        let bytes = &code.bytes[range.clone()];
        let mut decoder = Decoder::with_ip(64, bytes, range.start as u64, DecoderOptions::NONE);
        let mut zeroed = false;
        let mut pushed: Vec<String> = Vec::new();
        for instruction in &mut decoder {
            let mut text = String::new();
            formatter.format(&instruction, &mut text);
            assert!(!instruction.is_invalid(), "at {:x}: {bytes:02x?}\n{lines:#?}", instruction.ip());
            for feature in instruction.cpuid_features() {
                assert!(features(width).contains(feature), "{text} needs {feature:?}");
            }
            // Whoever is called returns, and only with the upper parts of vectors zero; nobody is called.
            match instruction.flow_control() {
                FlowControl::Return => assert!(zeroed, "returns without vzeroupper"),
                FlowControl::Next | FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {}
                other => panic!("{text} is {other:?}"),
            }
            if matches!(
                instruction.flow_control(),
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
            ) {
                let target = instruction.near_branch_target() as usize;
                assert!(range.contains(&target), "{text} leaves its function");
            }
            // Registers of the caller are saved before they are changed, and come back in the opposite order.
            if let Some(register) = text.strip_prefix("push ") {
                pushed.push(register.to_owned());
            } else if let Some(register) = text.strip_prefix("pop ") {
                assert_eq!(pushed.pop().as_deref(), Some(register), "{text}");
            } else if let Some((_, operands)) = text.split_once(' ')
                && let Some(own) = ["rbx", "rbp", "r12", "r13", "r14", "r15"]
                    .into_iter()
                    .find(|own| operands.starts_with(own))
            {
                assert!(
                    pushed.iter().any(|register| register == own),
                    "{text} changes a register of the caller"
                );
            }
            zeroed |= instruction.code() == Instruction::VEX_Vzeroupper;
            lines.push(text);
        }
        // What a function prepares may be behind its end, and then goes back.
        assert!(lines.last().is_some_and(|line| line == "ret" || line.starts_with("jmp")), "{lines:#?}");
        assert!(lines.iter().any(|line| line == "ret"));
    }
    lines
}

fn widths() -> Vec<(Width, Target)> {
    let wide = Width::ALL.into_iter().filter(|&width| width > Width::W128);
    wide.filter_map(|width| Some((width, Target::host().with_width(width).ok()?))).collect()
}

#[test]
fn random_kernels_decode() {
    for (width, target) in widths() {
        let (mut functions, mut nests) = (0, 0);
        for kernel in (0..200)
            .map(|seed| generate::kernel(seed).kernel)
            .chain((0..200).map(|seed| generate::loops(seed).kernel))
        {
            let code =
                compile(&kernel, &target.with_text()).unwrap_or_else(|error| panic!("{error}\n{kernel}"));
            functions += code.wide.len();
            nests += usize::from(code.clif.is_none());
            read_back(&code, width);
        }
        assert!(functions > 20, "{functions} functions of {width} bits");
        assert!(nests > 20 || width != Width::W512, "{nests} kernels without Cranelift");
    }
}

#[test]
fn a_narrow_target_has_no_wide_code() {
    let narrow = Target::host().with_width(Width::W128).expect("every machine has it");
    let code = compile(&kernel(MULTIPLY_ADD), &narrow).expect("a kernel that compiles");
    assert!(code.wide.is_empty());
}

const MULTIPLY_ADD: &str = "kernel @mul_add(b0: f32, b1: f32, b2: f32, b3: mut f32) sizes 1 {
    each %i < s0 {
        %x: f32 = load b0[%i] %y: f32 = load b1[%i] %z: f32 = load b2[%i]
        %p: f32 = mul %x, %y %s: f32 = add %p, %z store b3[%i], %s
    }
}";

/// The loop of a multiplication and an addition: four copies, the same for arrays that no cache holds, then one under a
/// mask.
#[test]
fn loops_have_no_instruction_too_many() {
    for (width, target) in widths() {
        let code = compile(&kernel(MULTIPLY_ADD), &target).expect("a kernel that compiles");
        // At 512 bits a second time, for results that are stored past caches; never under a mask.
        let [copies, past] = if width == Width::W512 { [2, 8] } else { [1, 0] };
        assert_eq!(code.wide.len(), 1);
        let lines = read_back(&code, width);
        let count = |name: &str| lines.iter().filter(|line| line.starts_with(name)).count();
        assert_eq!((count("vmulps"), count("vaddps")), (9 * copies, 9 * copies), "{lines:#?}");
        assert_eq!((count("vmovntps"), count("sfence")), (past, past / 8), "{lines:#?}");
        assert!(lines.len() <= 115 * copies, "{lines:#?}");
    }
}

/// Loops of loops need nothing of Cranelift, and are one function; loops that hand something on are not that simple.
#[test]
fn loops_are_one_function() {
    let Ok(target) = Target::host().with_width(Width::W512) else { return };
    let loops = MULTIPLY_ADD
        .replace("each %i < s0 {", "each %j < s0 { %v: f32 = load b0[%j] store b3[%j], %v } each %i < s0 {");
    let rows = "kernel @rows(b0: f32, b1: mut f32) sizes 2 {
        each %i < s0 {
            %s: f32 = reduce add over %j < s1 { %x: f32 = load b0[%i*s1 + %j] yield %x }
            %r: f32 = sqrt %s store b1[%i], %r
        }
    }";
    let local = loops.replace(" sizes 1 {", " sizes 1 { local b4: f32[16000]");
    // More pointers than registers that need not be saved.
    let many = "kernel @many(b0: f32, b1: f32, b2: f32, b3: f32, b4: f32, b5: f32, b6: mut f32) sizes 1 {
        each %i < s0 {
            %a: f32 = load b0[%i] %b: f32 = load b1[%i] %c: f32 = load b2[%i] %d: f32 = load b3[%i]
            %e: f32 = load b4[%i] %f: f32 = load b5[%i] %ab: f32 = mul %a, %b %cd: f32 = mul %c, %d
            %ef: f32 = mul %e, %f %abcd: f32 = add %ab, %cd %all: f32 = add %abcd, %ef store b6[%i], %all
        }
    }";
    for text in [MULTIPLY_ADD, &loops, rows, &local, many] {
        let code = compile(&kernel(text), &target.with_text()).expect("a kernel that compiles");
        assert!(code.clif.is_none() && code.patches.is_empty(), "{text}");
        assert_eq!(code.wide.len(), 1);
        // Each page of a large frame is touched before any of it is used.
        let lines = read_back(&code, Width::W512);
        let touched = lines.iter().filter(|line| line.starts_with("mov [rsp-")).count();
        assert_eq!(touched, if text.contains("16000") { 16 } else { 0 }, "{lines:#?}");
    }
    let carried = "kernel @carried(b0: f32, b1: mut f32) sizes 1 {
        each %i < s0 { %x: f32 = load b0[%i] store b1[%i], %x }
        %zero: f32 = const 0.0
        %s: f32 = for %j < s0 with %c: f32 = %zero { %y: f32 = load b0[%j] %t: f32 = sub %y, %c yield %t }
        store b1[0], %s
    }";
    assert!(compile(&kernel(carried), &target.with_text()).is_ok_and(|code| code.clif.is_some()));
}

/// The rows of an array whose length is known, two at a time: additions, and next to nothing around them.
#[test]
fn short_rows_are_no_loops() {
    let Ok(target) = Target::host().with_width(Width::W512) else { return };
    let text = "kernel @rows(b0: f32, b1: mut f32) sizes 1 {
        each %i < s0 {
            %s: f32 = reduce add over %j < 40 { %x: f32 = load b0[%i*40 + %j] yield %x }
            %r: f32 = sqrt %s store b1[%i], %r
        }
    }";
    let code = compile(&kernel(text), &target).expect("a kernel that compiles");
    let lines = read_back(&code, Width::W512);
    // What is between the loop's start and its end is what is behind a jump and before one that goes back to it.
    let is_jump = |line: &&String| line.starts_with('j');
    let row = lines.split(|line| is_jump(&line)).max_by_key(|part| part.len()).expect("a loop");
    let adds = row.iter().filter(|line| line.starts_with("vaddps")).count();
    // Of two rows, the vector under a mask and the sum of two; then halves of lanes of both, and zero.
    assert_eq!(adds, 2 * (1 + 1) + 4 + 1, "{row:#?}");
    let others = row.iter().filter(|line| !line.starts_with('v') && !line.starts_with('k')).count();
    assert!(row.len() <= 30 && others <= 7, "{row:#?}");
}

/// Memory is asked for early where a loop goes on behind its end, and not where it jumps to another row.
#[test]
fn only_what_comes_next_is_asked_for_early() {
    let Ok(target) = Target::host().with_width(Width::W512) else { return };
    for (row, is_asked) in [("s1", true), ("s2", false)] {
        let text = format!(
            "kernel @rows(b0: f32, b1: mut f32) sizes 3 {{
                each %i < s0 {{
                    %m: f32 = reduce max over %j < s1 {{ %x: f32 = load b0[%i*{row} + %j] yield %x }}
                    store b1[%i], %m
                }}
            }}"
        );
        let code = compile(&kernel(&text), &target).expect("a kernel that compiles");
        let lines = read_back(&code, Width::W512);
        assert_eq!(lines.iter().any(|line| line.starts_with("prefetch")), is_asked, "{lines:#?}");
    }
}

/// Both operands of a sum that no cache may hold are asked for early, and not where caches hold them.
#[test]
fn every_operand_of_a_long_loop_is_asked_for_early() {
    let Ok(target) = Target::host().with_width(Width::W512) else { return };
    for (length, operands) in [("s0", 2), ("1000", 0)] {
        let text = format!(
            "kernel @sum(b0: f32, b1: f32, b2: mut f32) sizes 1 {{
                each %i < {length} {{
                    %x: f32 = load b0[%i] %y: f32 = load b1[%i] %z: f32 = add %x, %y store b2[%i], %z
                }}
            }}"
        );
        let code = compile(&kernel(&text), &target).expect("a kernel that compiles");
        let lines = read_back(&code, Width::W512);
        // Of what stands between brackets, the first register is the address of an operand.
        let asked =
            lines.iter().filter_map(|line| line.strip_prefix("prefetcht0 ")?.split(['[', '+', ']']).nth(1));
        let asked: std::collections::BTreeSet<&str> = asked.collect();
        assert_eq!(asked.len(), operands, "{lines:#?}");
    }
}

/// A vector is loaded at once from places that 32 bits say, and in two halves where their sum could need more.
#[test]
fn near_places_are_loaded_at_once() {
    let Some((width, target)) = widths().into_iter().find(|(width, _)| *width == Width::W512) else { return };
    for (scale, near) in [(1, true), (1_000, true), (1_000_000, false)] {
        let take = kernel(&format!(
            "kernel @take(b0: f32, b1: i32, b2: mut f32) sizes 1 {{
                each %i < s0 {{
                    %a: i32 = load b1[%i] %p: i32 = clamp %a < 5000 %q: i64 = convert %p
                    %r: i64 = convert %p %x: f32 = load b0[%q*{scale} + %r] store b2[%i], %x
                }}
            }}"
        ));
        let code = compile(&take, &target).expect("a kernel that compiles");
        let lines = read_back(&code, width);
        let has = |name: &str| lines.iter().any(|line| line.starts_with(name));
        assert_eq!((has("vgatherdps"), has("vgatherqps")), (near, !near), "{lines:#?}");
    }
}
