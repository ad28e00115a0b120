//! Kernels for wide vectors, as texts.

use tracewell_array::DType;

/// A kernel of one size, the types of its buffers, and how many elements each has for one iteration.
pub(crate) struct Case {
    pub(crate) text: &'static str,
    pub(crate) buffers: &'static [(DType, usize)],
    /// At 256 bits as well.
    pub(crate) both: bool,
}

pub(crate) const CASES: &[Case] = &[
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

/// Loops around loops, and statements between them: at 512 bits one function without Cranelift, with the bits of 128.
pub(crate) const NESTS: &[(&str, &[(DType, usize)])] = &[
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
                        %g: f32 = load b6[%i*40 + %j] %h: f32 = load b8[%j + 2700]
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
    (
        "kernel @numbered(b0: f32, b1: f64, b2: mut f32, b3: mut f64, b4: mut i64) sizes 2 {
            each %i < s0 {
                %row: f32 = convert %i
                each %j < s1 {
                    %x: f32 = load b0[%i*s1 + %j] %k: i64 = add %i, %j %n: f32 = convert %k
                    %y: f32 = fma %x, %row, %n store b2[%i*s1 + %j], %y
                }
                %s: f64, %p: i64 = reduce add, max over %l < s1 {
                    %z: f64 = load b1[%i*s1 + %l] %m: i64 = mul %i, %l yield %z, %m
                }
                %w: f64 = convert %row %t: f64 = mul %s, %w store b3[%i], %t store b4[%i], %p
            }
        }",
        &[(DType::F32, 40), (DType::F64, 40), (DType::F32, 40), (DType::F64, 1), (DType::I64, 1)],
    ),
];
