//! Loops and branches inside vector loops: each lane does what it would do alone.

mod common;

use common::{Machine, Random, check};
use tracewell_array::{DType, Literal, Tensor};
use tracewell_codegen::{Target, Width, compile};
use tracewell_kernel::Kernel;

/// Compares for lengths around the width of vectors. `lens` says how long the buffers are for a length.
fn compare(text: &str, vectors: bool, dtypes: &[DType], lens: impl Fn(usize) -> Vec<usize>, small: bool) {
    let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    // With wider vectors, some need nothing of Cranelift.
    let narrow = Target::host().with_width(Width::W128).expect("every machine has it");
    let code = compile(&kernel, &narrow.with_text()).expect("a kernel that compiles");
    let clif = code.clif.expect("text was asked for");
    assert_eq!(clif.contains("x4") || clif.contains("x2"), vectors, "{text}\n{clif}");
    let mut random = Random(4);
    for target in [Target::host(), &narrow, &Target::named(&[]).expect("the baseline")] {
        let machine = Machine::new(&kernel, target);
        for length in 0..=13 {
            let tensor = |(&dtype, len): (&DType, usize)| {
                let literals: Vec<Literal> =
                    random
                        .tensor(dtype, len.max(1))
                        .literals()
                        // Few steps for loops whose length depends on the data.
                        .map(|x| {
                            if small {
                                Literal::from_f64(dtype, (x.bits() % 13) as f64 / 4.0 - 1.0)
                            } else {
                                x
                            }
                        })
                        .collect();
                Tensor::from_literals(dtype, [literals.len()], &literals).expect("as many as there were")
            };
            let buffers: Vec<Tensor> = dtypes.iter().zip(lens(length)).map(tensor).collect();
            check(&machine, &buffers, &[length as i64]);
        }
    }
}

#[test]
fn short_reductions() {
    let text = "kernel @norms(b0: f32, b1: mut f32, b2: mut f32) sizes 1 {
        each %i < s0 {
            %s: f32, %m: f32 = reduce add, max over %j < 3 {
                %x: f32 = load b0[%i*3 + %j] %y: f32 = mul %x, %x yield %y, %x
            }
            store b1[%i], %s
            store b2[%i], %m
        }
    }";
    compare(text, true, &[DType::F32; 3], |n| vec![3 * n, n, n], false);
}

#[test]
fn long_reductions_down_columns() {
    for dtype in ["f64", "u8", "i64", "f32"] {
        let text = format!(
            "kernel @columns(b0: {dtype}, b1: mut {dtype}, b2: mut i64) sizes 1 {{
                each %i < s0 {{
                    %s: {dtype}, %n: i64 = reduce add, max over %j < 70 {{
                        %x: {dtype} = load b0[%i + %j*s0] yield %x, %j
                    }}
                    store b1[%i], %s
                    store b2[%i], %n
                }}
            }}"
        );
        let dtype = DType::parse(dtype).expect("a dtype");
        compare(&text, true, &[dtype, dtype, DType::I64], |n| vec![70 * n, n, n], false);
    }
}

#[test]
fn loops_in_order() {
    let text = "kernel @series(b0: f64, b1: mut f64, b2: mut bool, b3: mut i64) sizes 1 {
        each %i < s0 {
            %x: f64 = load b0[%i]
            %one: f64 = const 1.0
            %f: bool = const false
            %zero: i64 = const 0
            %y: f64, %flag: bool, %n: i64 = for %k < 9 with %a: f64 = %one, %b: bool = %f, %c: i64 = %zero {
                %m: f64 = mul %a, %x
                %t: f64 = add %m, %one
                %g: bool = gt %t, %a
                %h: bool = xor %g, %b
                %d: i64 = add %c, %k
                yield %t, %h, %d
            }
            store b1[%i], %y
            store b2[%i], %flag
            store b3[%i], %n
        }
    }";
    compare(text, true, &[DType::F64, DType::F64, DType::Bool, DType::I64], |n| vec![n; 4], false);
}

#[test]
fn branches() {
    let text = "kernel @branch(b0: f32, b1: f64, b2: mut f64, b3: mut i32) sizes 1 {
        each %i < s0 {
            %x: f32 = load b0[%i]
            %zero: f32 = const 0.0
            %negative: bool = lt %x, %zero
            %y: f64, %k: i32 = if %negative {
                %p: f64 = load b1[%i] %q: f64 = neg %p %seven: i32 = const 7 yield %q, %seven
            } else {
                %w: f64 = convert %x
                %s: f64 = reduce add over %j < 20 { %e: f64 = convert %j %f: f64 = mul %e, %w yield %f }
                %c: i32 = convert %x
                yield %s, %c
            }
            store b2[%i], %y
            store b3[%i], %k
        }
    }";
    compare(text, true, &[DType::F32, DType::F64, DType::F64, DType::I32], |n| vec![n; 4], false);
}

#[test]
fn lanes_stop_at_different_times() {
    // The inner loop would never end for lanes that do not get there.
    let text = "kernel @escape(b0: f32, b1: f32, b2: mut i32, b3: mut f32) sizes 1 {
        each %i < s0 {
            %cr: f32 = load b0[%i]
            %ci: f32 = load b1[%i]
            %zero: f32 = const 0.0
            %none: i32 = const 0
            %one: i32 = const 1
            %most: i32 = const 30
            %four: f32 = const 4.0
            %n: i32, %r: f32, %m: f32 = while with %k: i32 = %none, %zr: f32 = %zero, %zi: f32 = %zero {
                %rr: f32 = mul %zr, %zr %ii: f32 = mul %zi, %zi %size: f32 = add %rr, %ii
                %near: bool = lt %size, %four %few: bool = lt %k, %most %both: bool = and %near, %few
                yield %both
            } do {
                %a: f32 = mul %zr, %zr %b: f32 = mul %zi, %zi %d: f32 = sub %a, %b %nr: f32 = add %d, %cr
                %e: f32 = mul %zr, %zi %f: f32 = add %e, %e %ni: f32 = add %f, %ci
                %next: i32 = add %k, %one
                yield %next, %nr, %ni
            }
            %positive: bool = gt %cr, %zero
            %halved: f32 = if %positive {
                %half: f32 = const 0.5
                %tiny: f32 = const 0.1
                %h: f32 = while with %v: f32 = %cr {
                    %large: bool = ne %v, %tiny %big: bool = gt %v, %tiny %go: bool = and %large, %big yield %go
                } do {
                    %w: f32 = mul %v, %half yield %w
                }
                yield %h
            } else {
                yield %ci
            }
            store b2[%i], %n
            store b3[%i], %halved
        }
    }";
    compare(text, true, &[DType::F32, DType::F32, DType::I32, DType::F32], |n| vec![n; 4], true);
}

/// A lane that is not meant must not keep a loop going for ever.
#[test]
fn lanes_that_are_not_meant_do_not_loop() {
    let text = "kernel @count(b0: i32, b1: mut i32) sizes 1 {
        each %i < s0 {
            %x: i32 = load b0[%i]
            %zero: i32 = const 0
            %one: i32 = const 1
            %positive: bool = gt %x, %zero
            %y: i32 = if %positive {
                %d: i32 = while with %v: i32 = %x { %go: bool = ne %v, %zero yield %go }
                    do { %w: i32 = sub %v, %one yield %w }
                yield %d
            } else {
                yield %x
            }
            store b1[%i], %y
        }
    }";
    compare(text, true, &[DType::I32; 2], |n| vec![n; 2], true);
}

/// A stack buffer that each iteration has to itself, and stores under a condition, are not for lanes.
#[test]
fn what_lanes_cannot_share() {
    let scratch = "kernel @scratch(b0: f32, b1: mut f32) sizes 1 {
        local b2: f32[2]
        each %i < s0 {
            %x: f32 = load b0[%i]
            store b2[0], %x
            %y: f32 = sqrt %x
            store b2[1], %y
            %z: f32 = load b2[0]
            store b1[%i], %z
        }
    }";
    compare(scratch, false, &[DType::F32; 2], |n| vec![n; 2], false);
    let stores = "kernel @stores(b0: f32, b1: mut f32) sizes 1 {
        each %i < s0 {
            %x: f32 = load b0[%i]
            %zero: f32 = const 0.0
            %negative: bool = lt %x, %zero
            if %negative { store b1[%i], %zero } else { %y: f32 = sqrt %x store b1[%i], %y }
        }
    }";
    compare(stores, false, &[DType::F32; 2], |n| vec![n; 2], false);
}

/// Rows of a matrix: the inner loop is the one with neighbours in memory.
#[test]
fn rows() {
    let text = "kernel @softmax(b0: f32, b1: mut f32) sizes 1 {
        each %i < s0 {
            %m: f32 = reduce max over %j < 37 { %x: f32 = load b0[%i*37 + %j] yield %x }
            %s: f32 = reduce add over %k < 37 {
                %y: f32 = load b0[%i*37 + %k] %d: f32 = sub %y, %m %e: f32 = mul %d, %d yield %e
            }
            each %l < 37 {
                %z: f32 = load b0[%i*37 + %l] %q: f32 = div %z, %s store b1[%i*37 + %l], %q
            }
        }
    }";
    compare(text, true, &[DType::F32; 2], |n| vec![37 * n; 2], false);
}

/// Zero where a condition holds, and where it does not, beside other choices by the same condition; with NaN, which no
/// comparison but one holds for.
#[test]
fn choices_of_zero() {
    for (dtype, zero) in
        [(DType::F32, "0.0"), (DType::F64, "0.0"), (DType::I32, "0"), (DType::I64, "0"), (DType::U32, "0")]
    {
        for comparison in ["lt", "le", "eq", "ne", "gt", "ge"] {
            let text = format!(
                "kernel @choices(b0: {dtype}, b1: {dtype}, b2: mut {dtype}, b3: mut {dtype}, b4: mut {dtype}) sizes 1 {{
                    each %i < s0 {{
                        %x: {dtype} = load b0[%i] %y: {dtype} = load b1[%i]
                        %below: bool = {comparison} %x, %y
                        %zero: {dtype} = const {zero}
                        %sum: {dtype} = add %x, %y
                        %none: {dtype} = select %below, %zero, %sum
                        %either: {dtype} = select %below, %sum, %y
                        %product: {dtype} = mul %x, %y
                        %only: bool = {comparison} %x, %sum
                        %kept: {dtype} = select %only, %product, %zero
                        store b2[%i], %none store b3[%i], %either store b4[%i], %kept
                    }}
                }}"
            );
            let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
            let mut random = Random(7);
            for target in common::other_widths().iter().chain([Target::host()]) {
                let machine = Machine::new(&kernel, target);
                for n in [1, 15, 16, 33, 150] {
                    let buffers: Vec<Tensor> = (0..5).map(|_| random.tensor(dtype, n)).collect();
                    check(&machine, &buffers, &[n as i64]);
                }
            }
        }
    }
}
