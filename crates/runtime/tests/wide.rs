//! Vectors of every width that the machine has give the bits of 128, for every length, and touch nothing else.

mod common;

use common::{Machine, Random, check, same};
use tracewell_array::{DType, Literal, Tensor};
use tracewell_codegen::{Target, Width, compile};
use tracewell_kernel::Kernel;
use tracewell_kernel::math::FUNCTIONS;

/// The machine with each width that it has beyond 128 bits.
fn widths() -> Vec<Target> {
    let wide = Width::ALL.into_iter().filter(|&width| width > Width::W128);
    wide.filter_map(|width| Target::host().with_width(width).ok()).collect()
}

fn narrow() -> Target {
    Target::host().with_width(Width::W128).expect("every machine has it")
}

/// The first elements of a tensor.
fn first(tensor: &Tensor, len: usize) -> Tensor {
    let literals: Vec<Literal> = tensor.literals().take(len).collect();
    Tensor::from_literals(tensor.dtype(), [len], &literals).expect("as many as there are")
}

/// Numbers for which nothing is rare.
fn common(random: &mut Random, dtype: DType, len: usize) -> Tensor {
    let literals: Vec<Literal> =
        (0..len).map(|_| Literal::from_f64(dtype, (random.next() % 900) as f64 / 1000.0 + 0.03)).collect();
    Tensor::from_literals(dtype, [len], &literals).expect("as many as asked for")
}

/// Each math function of each float type is wide code, and has the bits of 128 at every length, for odd arguments and for
/// common ones.
#[test]
fn functions() {
    const MOST: usize = 200;
    let mut random = Random(11);
    for (math, is_common) in FUNCTIONS.iter().flat_map(|math| [(math, false), (math, true)]) {
        for dtype in [DType::F32, DType::F64] {
            let kernel = math.kernel(dtype);
            let make = if is_common { common } else { Random::tensor };
            let mut buffers: Vec<Tensor> =
                (0..=math.arity()).map(|_| make(&mut random, dtype, MOST)).collect();
            let expected = Machine::new(&kernel, &narrow()).run(&buffers, &[MOST as i64], &[MOST as i64]);
            let expected = expected.last().expect("the result").clone();
            buffers.pop();
            for target in widths() {
                let code = compile(&kernel, &target).expect("a kernel that compiles");
                assert!(!code.wide.is_empty(), "{} of {dtype} at {}", math.name, target.width());
                let machine = Machine::new(&kernel, &target);
                for length in 0..=MOST {
                    let mut inputs: Vec<Tensor> =
                        buffers.iter().map(|tensor| first(tensor, length.max(1))).collect();
                    inputs.push(random.tensor(dtype, length.max(1)));
                    let before = inputs.last().expect("the result").clone();
                    let found = machine.run(&inputs, &[length as i64], &[length as i64]);
                    let found = found.last().expect("the result");
                    let expected = if length == 0 { before } else { first(&expected, length) };
                    for (at, (f, e)) in found.literals().zip(expected.literals()).enumerate() {
                        let (name, width) = (math.name, target.width());
                        assert!(
                            same(f, e),
                            "{name} of {dtype} at {width}, {length} long, [{at}]: {f}, not {e}"
                        );
                    }
                }
            }
        }
    }
}

/// A kernel of one size, the types of its buffers, and how many elements each has for one iteration.
struct Case {
    text: &'static str,
    buffers: &'static [(DType, usize)],
    /// At 256 bits as well.
    both: bool,
}

const CASES: &[Case] = &[
    Case {
        text: "kernel @exchanged(b0: f32, b1: own f32, b2: mut f32) sizes 1 {
            each %i < s0 {
                %x: f32 = load b0[%i] %old: f32 = load b1[%i]
                store b1[%i], %x
                %d: f32 = sub %x, %old store b2[%i], %d
            }
        }",
        buffers: &[(DType::F32, 1), (DType::F32, 1), (DType::F32, 1)],
        both: true,
    },
    // Bitwise operations on results of others: every pair of them, from either side.
    Case {
        text: "kernel @bitwise(b0: u32, b1: u32, b2: u32, b3: mut u32) sizes 1 {
            each %i < s0 {
                %x: u32 = load b0[%i] %y: u32 = load b1[%i] %z: u32 = load b2[%i]
                %p00: u32 = and %x, %y %l00: u32 = and %z, %p00 %q00: u32 = and %y, %x %r00: u32 = and %q00, %z
                %p01: u32 = or %x, %y %l01: u32 = and %z, %p01 %q01: u32 = or %y, %x %r01: u32 = and %q01, %z
                %p02: u32 = xor %x, %y %l02: u32 = and %z, %p02 %q02: u32 = xor %y, %x %r02: u32 = and %q02, %z
                %p10: u32 = and %x, %y %l10: u32 = or %z, %p10 %q10: u32 = and %y, %x %r10: u32 = or %q10, %z
                %p11: u32 = or %x, %y %l11: u32 = or %z, %p11 %q11: u32 = or %y, %x %r11: u32 = or %q11, %z
                %p12: u32 = xor %x, %y %l12: u32 = or %z, %p12 %q12: u32 = xor %y, %x %r12: u32 = or %q12, %z
                %p20: u32 = and %x, %y %l20: u32 = xor %z, %p20 %q20: u32 = and %y, %x %r20: u32 = xor %q20, %z
                %p21: u32 = or %x, %y %l21: u32 = xor %z, %p21 %q21: u32 = or %y, %x %r21: u32 = xor %q21, %z
                %p22: u32 = xor %x, %y %l22: u32 = xor %z, %p22 %q22: u32 = xor %y, %x %r22: u32 = xor %q22, %z
                %w: u32 = const 2654435761
                %m0: u32 = mul %x, %w %t0: u32 = add %m0, %l00 %m1: u32 = mul %t0, %w %t1: u32 = add %m1, %r00
                %m2: u32 = mul %t1, %w %t2: u32 = add %m2, %l01 %m3: u32 = mul %t2, %w %t3: u32 = add %m3, %r01
                %m4: u32 = mul %t3, %w %t4: u32 = add %m4, %l02 %m5: u32 = mul %t4, %w %t5: u32 = add %m5, %r02
                %m6: u32 = mul %t5, %w %t6: u32 = add %m6, %l10 %m7: u32 = mul %t6, %w %t7: u32 = add %m7, %r10
                %m8: u32 = mul %t7, %w %t8: u32 = add %m8, %l11 %m9: u32 = mul %t8, %w %t9: u32 = add %m9, %r11
                %m10: u32 = mul %t9, %w %t10: u32 = add %m10, %l12 %m11: u32 = mul %t10, %w %t11: u32 = add %m11, %r12
                %m12: u32 = mul %t11, %w %t12: u32 = add %m12, %l20 %m13: u32 = mul %t12, %w %t13: u32 = add %m13, %r20
                %m14: u32 = mul %t13, %w %t14: u32 = add %m14, %l21 %m15: u32 = mul %t14, %w %t15: u32 = add %m15, %r21
                %m16: u32 = mul %t15, %w %t16: u32 = add %m16, %l22 %m17: u32 = mul %t16, %w %t17: u32 = add %m17, %r22
                store b3[%i], %t17
            }
        }",
        buffers: &[(DType::U32, 1), (DType::U32, 1), (DType::U32, 1), (DType::U32, 1)],
        both: true,
    },
    // Rotations, and what looks like one: other amounts, other operands, signs that are shifted in.
    Case {
        text: "kernel @rotations(b0: u32, b1: i64, b2: i32, b3: mut u32, b4: mut i64, b5: mut i32) sizes 1 {
            each %i < s0 {
                %x: u32 = load b0[%i] %c13: u32 = const 13 %c19: u32 = const 19 %c18: u32 = const 18
                %l: u32 = shl %x, %c13 %r: u32 = shr_logical %x, %c19 %o: u32 = or %l, %r
                %s: u32 = shr_logical %x, %c18 %p: u32 = or %s, %l %q: u32 = shr_logical %o, %c19
                %t: u32 = or %l, %q %ll: u32 = shl %x, %c19 %u: u32 = or %l, %ll %v: u32 = or %r, %ll
                %a: u32 = sub %o, %p %b: u32 = sub %t, %a %c: u32 = sub %u, %b %d: u32 = sub %v, %c
                store b3[%i], %d
                %y: i64 = load b1[%i] %c7: i64 = const 7 %c57: i64 = const 57
                %f: i64 = shr_logical %y, %c57 %g: i64 = shl %y, %c7 %h: i64 = or %f, %g store b4[%i], %h
                %z: i32 = load b2[%i] %k1: i32 = const 1 %k31: i32 = const 31
                %m: i32 = shl %z, %k1 %n: i32 = shr %z, %k31 %e: i32 = or %m, %n store b5[%i], %e
            }
        }",
        buffers: &[
            (DType::U32, 1),
            (DType::I64, 1),
            (DType::I32, 1),
            (DType::U32, 1),
            (DType::I64, 1),
            (DType::I32, 1),
        ],
        both: true,
    },
    // Several results, of several widths, from operands at several places.
    Case {
        text: "kernel @stencil(b0: f32, b1: mut f32, b2: mut f64, b3: mut i32, b4: mut i64) sizes 1 {
            each %i < s0 {
                %x: f32 = load b0[%i] %y: f32 = load b0[%i + 1] %z: f32 = load b0[%i + 2]
                %s: f32 = add %x, %y %t: f32 = sub %s, %z store b1[%i], %t
                %w: f64 = convert %t %v: f64 = mul %w, %w store b2[%i], %v
                %less: bool = lt %x, %z %one: i32 = const 1 %two: i32 = const -2
                %c: i32 = select %less, %one, %two store b3[%i], %c
                %five: i64 = const 5 %n: i64 = add %i, %five %m: i64 = mul %n, %i store b4[%i], %m
            }
        }",
        buffers: &[(DType::F32, 3), (DType::F32, 1), (DType::F64, 1), (DType::I32, 1), (DType::I64, 1)],
        both: true,
    },
    // Bytes in, bytes out.
    Case {
        text: "kernel @bytes(b0: u8, b1: bool, b2: mut u8, b3: mut bool) sizes 1 {
            each %i < s0 {
                %x: u8 = load b0[%i] %p: bool = load b1[%i] %k: u8 = const 77
                %y: u8 = add %x, %k %z: u8 = select %p, %y, %x store b2[%i], %z
                %q: bool = gt %z, %k %r: bool = xor %p, %q store b3[%i], %r
            }
        }",
        buffers: &[(DType::U8, 1), (DType::Bool, 1), (DType::U8, 1), (DType::Bool, 1)],
        both: false,
    },
    // Operands that are not neighbours.
    Case {
        text: "kernel @apart(b0: f32, b1: f64, b2: i32, b3: mut f64) sizes 1 {
            each %i < s0 {
                %x: f32 = load b0[%i*3 + 1] %y: f64 = load b1[%i*2] %z: i32 = load b2[%i*5 + 4]
                %u: f64 = convert %x %v: f64 = convert %z
                %s: f64 = add %u, %y %t: f64 = mul %s, %v store b3[%i], %t
            }
        }",
        buffers: &[(DType::F32, 3), (DType::F64, 2), (DType::I32, 5), (DType::F64, 1)],
        both: false,
    },
    // Operands two, three and four apart, up to the last element of their memory.
    Case {
        text: "kernel @picked(b0: f32, b1: f32, b2: f64, b3: i64, b4: mut f64) sizes 1 {
            each %i < s0 {
                %a: f32 = load b0[%i*3] %b: f32 = load b0[%i*3 + 1] %c: f32 = load b0[%i*3 + 2]
                %d: f32 = load b1[%i*4 + 3] %e: f64 = load b2[%i*2 + 1] %f: i64 = load b3[%i*4 + 3]
                %1: f32 = sub %a, %b %2: f32 = mul %1, %c %3: f32 = add %2, %d
                %4: f64 = convert %3 %5: f64 = convert %f %6: f64 = mul %4, %e %7: f64 = sub %6, %5
                store b4[%i], %7
            }
        }",
        buffers: &[(DType::F32, 3), (DType::F32, 4), (DType::F64, 2), (DType::I64, 4), (DType::F64, 1)],
        both: false,
    },
    Case {
        text: "kernel @picked_sums(b0: f32, b1: i64, b2: mut f32, b3: mut i64) sizes 1 {
            %a: f32, %b: f32, %c: f32 = reduce add, max, min over %i < s0 {
                %x: f32 = load b0[%i*3] %y: f32 = load b0[%i*3 + 1] %z: f32 = load b0[%i*3 + 2]
                yield %x, %y, %z
            }
            store b2[0], %a
            store b2[1], %b
            store b2[2], %c
            each %j < s0 {
                %n: i64 = load b1[%j*3 + 2]
                store b3[%j], %n
            }
        }",
        buffers: &[(DType::F32, 3), (DType::I64, 3), (DType::F32, 3), (DType::I64, 1)],
        both: false,
    },
    // Results that are not neighbours, some beside each other.
    Case {
        text: "kernel @columns(b0: f32, b1: mut f32, b2: mut f64, b3: mut i64) sizes 1 {
            each %i < s0 {
                %x: f32 = load b0[%i] %y: f32 = mul %x, %x %z: f32 = sub %y, %x
                store b1[%i*3], %x store b1[%i*3 + 2], %y store b1[%i*3 + 1], %z
                %w: f64 = convert %z store b2[%i*2 + 1], %w
                %n: i64 = mul %i, %i store b3[%i*5 + 4], %n
            }
        }",
        buffers: &[(DType::F32, 1), (DType::F32, 3), (DType::F64, 2), (DType::I64, 5)],
        both: false,
    },
    // Operands from anywhere.
    Case {
        text: "kernel @take(b0: f32, b1: f64, b2: i64, b3: i32, b4: mut f64) sizes 1 {
            each %i < s0 {
                %a: i64 = load b2[%i] %p: i64 = clamp %a < s0
                %b: i32 = load b3[%i] %q: i64 = convert %b %r: i64 = clamp %q < s0
                %x: f32 = load b0[%p*2 + 1] %y: f64 = load b1[%i + %r*3]
                %u: f64 = convert %x %s: f64 = add %u, %y store b4[%i], %s
            }
        }",
        buffers: &[(DType::F32, 2), (DType::F64, 4), (DType::I64, 1), (DType::I32, 1), (DType::F64, 1)],
        both: false,
    },
    // Operands from places that 32 bits say.
    Case {
        text: "kernel @near(b0: f32, b1: i32, b2: i32, b3: i32, b4: mut f32, b5: mut i32) sizes 1 {
            each %i < s0 {
                %a: i32 = load b2[%i] %p: i32 = clamp %a < 4 %q: i64 = convert %p
                %b: i32 = load b3[%i] %r: i32 = clamp %b < 6 %s: i64 = convert %r
                %x: f32 = load b0[%q*6 + %s] %y: i32 = load b1[%s + 1]
                store b4[%i], %x store b5[%i], %y
            }
        }",
        buffers: &[
            (DType::F32, 24),
            (DType::I32, 7),
            (DType::I32, 1),
            (DType::I32, 1),
            (DType::F32, 1),
            (DType::I32, 1),
        ],
        both: false,
    },
    // Sums of what is computed and of what is counted, of every width, with an operand that is the same throughout.
    Case {
        text: "kernel @sums(b0: f32, b1: u8, b2: mut f32, b3: mut f64, b4: mut i64, b5: mut u8) sizes 1 {
            %a: f32, %b: f64, %c: i64, %d: u8 = reduce add, add, max, xor over %i < s0 {
                %x: f32 = load b0[%i] %h: f32 = load b0[0] %y: f32 = mul %x, %h %w: f64 = convert %y
                %k: u8 = load b1[%i]
                yield %y, %w, %i, %k
            }
            store b2[0], %a
            store b3[0], %b
            store b4[0], %c
            store b5[0], %d
        }",
        buffers: &[
            (DType::F32, 1),
            (DType::U8, 1),
            (DType::F32, 1),
            (DType::F64, 1),
            (DType::I64, 1),
            (DType::U8, 1),
        ],
        both: false,
    },
    // More values at once than there are registers.
    Case {
        text: "kernel @crowd(b0: f64, b1: mut f64) sizes 1 {
            each %i < s0 {
                %a: f64 = load b0[%i] %b: f64 = mul %a, %a %c: f64 = mul %b, %a %d: f64 = mul %c, %a
                %e: f64 = mul %d, %a %f: f64 = mul %e, %a %g: f64 = mul %f, %a %h: f64 = mul %g, %a
                %k: f64 = mul %h, %a %l: f64 = mul %k, %a %m: f64 = mul %l, %a %n: f64 = mul %m, %a
                %o: f64 = mul %n, %a %p: f64 = mul %o, %a %q: f64 = mul %p, %a %r: f64 = mul %q, %a
                %s: f64 = mul %r, %a %t: f64 = mul %s, %a
                %1: f64 = sub %t, %a %2: f64 = fma %1, %b, %s %3: f64 = fma %2, %c, %r %4: f64 = fma %3, %d, %q
                %5: f64 = fma %4, %e, %p %6: f64 = fma %5, %f, %o %7: f64 = fma %6, %g, %n %8: f64 = fma %7, %h, %m
                %9: f64 = fma %8, %k, %l %10: f64 = add %9, %b %11: f64 = sub %10, %c %12: f64 = add %11, %d
                %13: f64 = sub %12, %e %14: f64 = add %13, %f %15: f64 = sub %14, %g %16: f64 = add %15, %h
                %17: f64 = sub %16, %k %18: f64 = add %17, %l %19: f64 = sub %18, %m %20: f64 = add %19, %n
                %21: f64 = sub %20, %o %22: f64 = add %21, %p %23: f64 = sub %22, %q %24: f64 = add %23, %r
                %25: f64 = sub %24, %s %26: f64 = add %25, %t store b1[%i], %26
            }
        }",
        buffers: &[(DType::F64, 1), (DType::F64, 1)],
        both: true,
    },
];

/// A loop that hands something on is Cranelift's, and then so is what is around the others of a kernel.
const HANDED_ON: &str =
    "%none: f32 = const 0.0 %last: f32 = for %turn < 1 with %kept: f32 = %none { yield %kept }";

/// A kernel, and the same with something in it that is Cranelift's, for all widths.
fn ways(text: &str) -> Vec<(String, Target)> {
    // Behind the brace that opens the kernel.
    let (head, body) = text.split_once('{').expect("a kernel");
    let (local, body) = match body.trim_start().strip_prefix("local") {
        Some(rest) => {
            rest.split_once(']').map(|(local, body)| (format!("local{local}]"), body)).expect("a length")
        }
        None => (String::new(), body),
    };
    let within = format!("{head}{{ {local} {HANDED_ON} {body}");
    let of = |text: &str| widths().into_iter().map(|width| (text.to_owned(), width)).collect::<Vec<_>>();
    [of(text), of(&within)].concat()
}

/// Kernels that read and write in every way that wide code takes.
#[test]
fn accesses() {
    let mut random = Random(12);
    for case in CASES {
        for (text, target) in ways(case.text) {
            let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
            let code = compile(&kernel, &target.with_text()).expect("a kernel that compiles");
            let taken = case.both || target.width() == Width::W512;
            let loops = text.matches("< s0 {").count();
            // Without Cranelift all loops are one function.
            let functions = match code.clif {
                None => 1,
                _ if taken => loops,
                _ => 0,
            };
            assert_eq!(code.wide.len(), functions, "at {}\n{text}", target.width());
            let is_whole = target.width() == Width::W512 && !text.contains(HANDED_ON);
            assert_eq!(code.clif.is_none(), is_whole, "at {}\n{text}", target.width());
            let machine = Machine::new(&kernel, &target);
            for length in (0..=70).chain([79, 80, 127, 128, 129, 200]) {
                let buffers: Vec<Tensor> = case
                    .buffers
                    .iter()
                    .map(|&(dtype, each)| random.tensor(dtype, (length * each).max(each)))
                    .collect();
                check(&machine, &buffers, &[length as i64]);
            }
        }
    }
}

/// Results that no cache holds are stored past them: the same bits, in whole vectors and beside them.
#[test]
fn large_results() {
    const LENGTH: usize = (4 << 20) + 37;
    let text = "kernel @past(b0: f32, b1: f64, b2: mut f32, b3: mut f64) sizes 1 {
            each %i < s0 {
                %x: f32 = load b0[%i] %y: f64 = load b1[%i]
                %double: f32 = add %x, %x store b2[%i], %double
                %square: f64 = mul %y, %y store b3[%i], %square
            }
        }";
    // One element is not like the others.
    let rare = text.replace(
        "store b2[%i], %double",
        "%far: f32 = const 2000000.0 %is: bool = eq %x, %far %rare: bool = rarely %is
                %same: f32 = select %rare, %x, %double store b2[%i], %same",
    );
    for text in [text, rare.as_str()] {
        large_result(text, LENGTH, |i| if text == rare && i == 2_000_000 { 1.0 } else { 2.0 });
    }
}

fn large_result(text: &str, length: usize, times: impl Fn(usize) -> f32) {
    let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let floats = Tensor::from_fn([length], |i| i as f32);
    let doubles = Tensor::from_fn([length], |i| i as f64);
    let buffers = [floats.clone(), doubles.clone(), floats, doubles];
    for target in widths() {
        let code = compile(&kernel, &target).expect("a kernel that compiles");
        assert_eq!(code.wide.len(), 1);
        let machine = Machine::new(&kernel, &target);
        // The second part starts inside a vector.
        for ends in [vec![length as i64], vec![length as i64 / 2 + 3, length as i64]] {
            let found = machine.run(&buffers, &[length as i64], &ends);
            let floats = found[2].to_vec::<f32>().expect("floats");
            let doubles = found[3].to_vec::<f64>().expect("doubles");
            assert!(floats.iter().enumerate().all(|(i, &x)| x == times(i) * i as f32), "{ends:?}");
            assert!(doubles.iter().enumerate().all(|(i, &x)| x == i as f64 * i as f64), "{ends:?}");
        }
    }
}

/// A kernel of one loop that wants single elements of arrays too, here and there in them; in whole and in parts.
#[test]
fn single_elements() {
    let text = "kernel @single(b0: f32, b1: f32, b2: f64, b3: mut f32, b4: mut f64) sizes 1 {
            each %i < s0 {
                %x: f32 = load b0[%i] %s: f32 = load b1[3] %t: f64 = load b2[2]
                %y: f32 = mul %x, %s %w: f64 = convert %y %z: f64 = add %w, %t
                store b3[%i], %y store b4[%i], %z
            }
        }";
    let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    for len in [0, 1, 15, 16, 17, 200] {
        let buffers = [
            Tensor::from_fn([len], |i| i as f32 - 7.5),
            Tensor::from_fn([4], |i| i as f32 + 0.25),
            Tensor::from_fn([3], |i| i as f64 + 0.125),
            Tensor::from_fn([len], |_| 0.0f32),
            Tensor::from_fn([len], |_| 0.0f64),
        ];
        let sizes = [len as i64];
        let expected = Machine::new(&kernel, &narrow()).run(&buffers, &sizes, &sizes);
        for target in widths() {
            let machine = Machine::new(&kernel, &target);
            for ends in [vec![len as i64], vec![len as i64 / 3, len as i64]] {
                let found = machine.run(&buffers, &sizes, &ends);
                for (found, expected) in found.iter().zip(&expected) {
                    let equal = found.literals().zip(expected.literals()).all(|(a, b)| same(a, b));
                    assert!(equal, "{len} in {ends:?} at {}", target.width());
                }
            }
        }
    }
}

/// Loops around loops, and statements between them: at 512 bits one function without Cranelift, with the bits of 128.
const NESTS: &[(&str, &[(DType, usize)])] = &[
    (
        "kernel @norms(b0: f32, b1: f64, b2: mut f32, b3: mut f64, b4: mut f32) sizes 2 {
            each %i < s0 {
                %s: f32, %m: f32 = reduce add, max over %j < s1 {
                    %x: f32 = load b0[%i*s1 + %j] %y: f32 = mul %x, %x yield %y, %x
                }
                %t: f64 = reduce min over %k < s1 { %z: f64 = load b1[%i*s1 + %k] yield %z }
                %r: f32 = sqrt %s %w: f64 = convert %m %u: f64 = sub %t, %w
                store b2[%i], %r
                store b3[%i], %u
                each %l < s1 { %v: f32 = load b0[%i*s1 + %l] %q: f32 = div %v, %r store b4[%i*s1 + %l], %q }
            }
        }",
        &[(DType::F32, 40), (DType::F64, 40), (DType::F32, 1), (DType::F64, 1), (DType::F32, 40)],
    ),
    (
        "kernel @columns(b0: f32, b1: mut f32) sizes 2 {
            local b2: f32[40]
            each %p < 1 {
                each %i < 40 { %zero: f32 = const -1.5 store b2[%i], %zero }
                for %j < s0 {
                    each %k < 40 {
                        %a: f32 = load b2[%k] %x: f32 = load b0[%j*40 + %k] %b: f32 = sub %x, %a store b2[%k], %b
                    }
                }
                each %l < s1 { %c: f32 = load b2[%l] store b1[%l], %c }
            }
        }",
        &[(DType::F32, 40), (DType::F32, 40)],
    ),
    (
        "kernel @chosen(b0: f32, b1: i32, b2: bool, b3: own f32, b4: mut bool, b5: mut u8) sizes 2 {
            each %i < s0 {
                %n: i32 = load b1[%i] %p: i32 = clamp %n < s0 %q: i64 = convert %p
                %is: bool = load b2[%i] %f: f32 = load b0[%q*s1]
                each %j < s1 {
                    %x: f32 = load b0[%q*s1 + %j] %y: f32 = add %x, %f %z: f32 = select %is, %y, %x
                    store b3[%i*s1 + %j], %z
                }
                %any: bool, %all: bool = reduce or, and over %k < s1 {
                    %v: f32 = load b3[%i*s1 + %k] %g: bool = lt %f, %v yield %g, %g
                }
                %both: bool = xor %any, %all
                store b4[%i], %both
                %count: u8 = reduce add over %l < s1 {
                    %w: f32 = load b3[%i*s1 + %l] %h: bool = lt %w, %f %c: u8 = convert %h yield %c
                }
                %size: i64 = size s1 %few: u8 = convert %size %sum: u8 = add %few, %count
                store b5[%i], %sum
            }
        }",
        &[
            (DType::F32, 40),
            (DType::I32, 1),
            (DType::Bool, 1),
            (DType::F32, 40),
            (DType::Bool, 1),
            (DType::U8, 1),
        ],
    ),
    (
        "kernel @rare_rows(b0: f32, b1: f32, b2: f32, b3: f32, b4: f32, b5: f32, b6: f32, b7: mut f32) sizes 2 {
            local b8: f32[3000]
            each %p < 1 {
                each %z < 3000 { %one: f32 = const 1.25 store b8[%z], %one }
                for %i < s0 {
                    each %j < s1 {
                        %a: f32 = load b0[%i*40 + %j] %b: f32 = load b1[%i*40 + %j] %c: f32 = load b2[%i*40 + %j]
                        %d: f32 = load b3[%i*40 + %j] %e: f32 = load b4[%i*40 + %j] %f: f32 = load b5[%i*40 + %j]
                        %g: f32 = load b6[%i*40 + %j] %h: f32 = load b8[%j + 2900]
                        %ab: f32 = sub %a, %b %cd: f32 = mul %c, %d %ef: f32 = sub %e, %f %gh: f32 = mul %g, %h
                        %less: bool = lt %ab, %ef %rare: bool = rarely %less
                        %x: f32 = add %cd, %gh %y: f32 = sub %x, %ab %w: f32 = select %rare, %y, %x
                        store b7[%i*40 + %j], %w
                    }
                }
            }
        }",
        &[
            (DType::F32, 40),
            (DType::F32, 40),
            (DType::F32, 40),
            (DType::F32, 40),
            (DType::F32, 40),
            (DType::F32, 40),
            (DType::F32, 40),
            (DType::F32, 40),
        ],
    ),
    (
        "kernel @whole_sums(b0: i64, b1: u32, b2: mut i64, b3: mut u32) sizes 2 {
            %a: i64, %b: i64 = reduce add, max over %i < s0 { %x: i64 = load b0[%i*40] yield %x, %x }
            %c: u32 = reduce max over %j < s0 { %y: u32 = load b1[%j] yield %y }
            %d: i64 = sub %a, %b store b2[0], %d store b3[0], %c
        }",
        &[(DType::I64, 40), (DType::U32, 1), (DType::I64, 1), (DType::U32, 1)],
    ),
];

#[test]
fn nests() {
    let mut random = Random(16);
    for (text, buffers) in NESTS {
        for (text, target) in ways(text) {
            let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
            let code = compile(&kernel, &target.with_text()).expect("a kernel that compiles");
            let is_whole = target.width() == Width::W512 && !text.contains(HANDED_ON);
            assert_eq!(code.clif.is_none(), is_whole, "{text}");
            let machine = Machine::new(&kernel, &target);
            for rows in 0..=9 {
                for columns in [0, 1, 15, 16, 17, 31, 32, 33, 40] {
                    let tensor =
                        |&(dtype, each): &(DType, usize)| random.tensor(dtype, (rows * each).max(each));
                    let buffers: Vec<Tensor> = buffers.iter().map(tensor).collect();
                    check(&machine, &buffers, &[rows as i64, columns]);
                }
            }
        }
    }
}

/// Loops that compute little have a copy for arrays that no cache holds, which leaves the last iterations to the others:
/// the bits of 128, on both sides of the size from which on it runs, in one loop and in rows.
#[test]
fn long_walks() {
    let map = "kernel @map(b0: f32, b1: mut f32) sizes 2 {
            each %i < s0 {
                %x: f32 = load b0[%i] %a: f32 = mul %x, %x %b: f32 = add %a, %x %c: f32 = mul %b, %a
                store b1[%i], %c
            }
        }";
    let rows = "kernel @rows(b0: f32, b1: mut f32) sizes 2 {
            each %i < s0 {
                %y: f32 = reduce max over %j < s1 { %x: f32 = load b0[%i*s1 + %j] yield %x }
                store b1[%i], %y
            }
        }";
    for (text, sizes) in [
        (map, [(1 << 18) - 1, 1]),
        (map, [1 << 18, 1]),
        (map, [(1 << 18) + 77, 1]),
        (rows, [77, 3405]),
        (rows, [76, 3405]),
        (rows, [3, (1 << 17) + 5]),
    ] {
        let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
        let number = |i: usize| ((i * 7919) % 4001) as f32 * 0.25 - 500.0;
        let input = Tensor::from_fn([(sizes[0] * sizes[1]) as usize], number);
        let buffers = [input, Tensor::from_fn([sizes[0] as usize], |_| 0.0f32)];
        let expected = Machine::new(&kernel, &narrow()).run(&buffers, &sizes, &[sizes[0]]);
        for target in widths() {
            let code = compile(&kernel, &target).expect("a kernel that compiles");
            assert!(!code.wide.is_empty(), "{sizes:?} at {}\n{text}", target.width());
            let machine = Machine::new(&kernel, &target);
            for ends in [vec![sizes[0]], vec![sizes[0] / 2, sizes[0]]] {
                let found = machine.run(&buffers, &sizes, &ends);
                let equal = found[1].literals().zip(expected[1].literals()).all(|(a, b)| same(a, b));
                assert!(equal, "{sizes:?} in {ends:?} at {}\n{text}", target.width());
            }
        }
    }
}

/// Turns in which something holds that hardly ever does: a second function is for them, and does what the first had not
/// begun.
#[test]
fn rare_turns() {
    let text = "kernel @rare(b0: f32, b1: own f32) sizes 1 {
            each %i < s0 {
                %x: f32 = load b0[%i] %y: f32 = load b1[%i]
                %limit: f32 = const 100.0
                %is_large: bool = lt %limit, %x
                %rare: bool = rarely %is_large
                %root: f32 = sqrt %x
                %sum: f32 = add %x, %y
                %z: f32 = select %rare, %root, %sum
                %all: f32 = add %z, %y
                store b1[%i], %all
            }
        }";
    for (text, target) in ways(text) {
        let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
        let code = compile(&kernel, &target.with_text()).expect("a kernel that compiles");
        let is_new = target.width() == Width::W512;
        assert_eq!(code.wide.len(), if is_new && code.clif.is_some() { 2 } else { 1 });
        assert_eq!(code.clif.is_none(), is_new && !text.contains(HANDED_ON));
        let machine = Machine::new(&kernel, &target);
        for length in (1..=40).chain([79, 80, 81, 200]) {
            for large in
                [vec![], vec![0], vec![length - 1], vec![length / 2, length / 3], (0..length).collect()]
            {
                let x = |i: usize| if large.contains(&i) { 900.0 + i as f32 } else { i as f32 * 0.25 };
                let buffers = [Tensor::from_fn([length], x), Tensor::from_fn([length], |i| i as f32)];
                check(&machine, &buffers, &[length as i64]);
            }
        }
    }
}

/// The same in a process whose buffers end before protected pages: nothing beyond them is touched.
#[cfg(unix)]
#[test]
fn guarded() {
    if std::env::var_os("TRACEWELL_GUARD").is_some() {
        return;
    }
    let tests = std::env::current_exe().expect("a running test");
    for test in ["functions", "accesses", "large_results", "nests", "rare_turns"] {
        let output = std::process::Command::new(&tests)
            .args(["--exact", test])
            .env("TRACEWELL_GUARD", "1")
            .output()
            .expect("the same test binary");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("1 passed") && output.status.success(), "{:?}\n{text}", output.status);
    }
}
