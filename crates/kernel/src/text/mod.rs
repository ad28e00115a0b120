//! The text form of kernels and programs, for people, tests and files.
//!
//! [`Display`](std::fmt::Display) writes it; [`read_kernel`] and [`read_program`] read it. Reading what was
//! written gives the same thing back, bit for bit, if its values are numbered in the order of their definition,
//! as a [`KernelBuilder`](crate::KernelBuilder) and the reader number them; otherwise it is the same but for
//! the numbers. The text is all there is: a constant is written in full, and only the functions of users are
//! named instead of written, for the reader's caller to find.
//!
//! Reading checks the form, that every value used was defined somewhere before, and nothing else: types,
//! scopes and bounds are the [verifier](crate::verify_program)'s, so that its errors can be tried out in text.

mod lex;
mod quoted;
mod read;
mod write;

pub use lex::ReadError;
pub use quoted::{number_len, quote, quoted_len, unquote, word_len};
pub use read::{MAX_DEPTH, read_kernel, read_program};
pub use write::Place;
pub(crate) use write::{
    Names, Notes, buffer_name, inner_regions, kernel_with_notes, name, program_with_notes, slot_name,
};

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::{Expect, expect};
    use proptest::prelude::*;
    use smallvec::smallvec;
    use tracewell_array::{DType, Literal, Tensor};

    use super::*;
    use crate::build::KernelBuilder;
    use crate::conv::{Conv, ConvResult, WindowAxis};
    use crate::ir::{Index, Kernel, Size};
    use crate::library::{
        BufferFn, BufferMut, BufferRef, CallError, Custom, Gemm, Library, LibraryCall, Matrices,
    };
    use crate::op::{Combine, Comparison, Op};
    use crate::program::{Program, Role, Slot, SlotId, Step};

    #[derive(Debug)]
    struct Nothing;

    impl BufferFn for Nothing {
        fn name(&self) -> &str {
            "does \"nothing\""
        }

        fn call(&self, _: &[BufferRef<'_>], _: &mut [BufferMut<'_>]) -> Result<(), CallError> {
            Ok(())
        }
    }

    fn index(offset: Size, terms: &[(crate::Value, Size)]) -> Index {
        Index { offset, terms: terms.into() }
    }

    /// A kernel with every kind of statement.
    fn everything(custom: &Custom) -> Kernel {
        use Size::Const;
        let mut b = KernelBuilder::new();
        let (x, y, f) = (b.param(DType::F32, false), b.param(DType::F32, true), b.param(DType::F64, true));
        let (rows, cols) = (b.size(), b.size());
        let local = b.local(DType::F32, 64);
        let two = b.constant(2.0f32);
        b.each(rows, |b, i| {
            let largest = b.reduce(cols, &[Combine::Max, Combine::Add], |b, j| {
                let element = b.load(x, index(Const(0), &[(i, cols), (j, Const(1))]));
                smallvec![element, j]
            });
            let after = b.for_loop(Const(3), &[largest[0]], |b, j, carried| {
                let next = b.op(Op::Mul, &[carried[0], two]);
                b.store(local, index(Const(4), &[(j, Const(-1))]), next);
                smallvec![next]
            });
            let zero = b.constant(0i64);
            let after = b.while_loop(
                &[after[0], zero],
                |b, carried| b.compare(Comparison::Lt, carried[0], two),
                |b, carried| {
                    let n = b.op(Op::Convert(DType::I64), &[carried[0]]);
                    smallvec![carried[0], n]
                },
            );
            let negative = b.compare(Comparison::Lt, after[0], two);
            let chosen = b.if_else(
                negative,
                |b| smallvec![b.op(Op::Fma, &[after[0], two, two])],
                |b| {
                    let place = b.op(Op::Clamp(cols), &[after[1]]);
                    smallvec![b.load(x, index(rows, &[(place, Const(1)), (i, cols)]))]
                },
            );
            b.if_else(
                negative,
                |b| {
                    let bits = b.op(Op::Bitcast(DType::I32), &[chosen[0]]);
                    let size = b.op(Op::Size(crate::SizeId(1)), &[]);
                    b.op(Op::Not, &[bits]);
                    b.op(Op::Neg, &[size]);
                    smallvec![]
                },
                |_| smallvec![],
            );
            b.store(y, index(Const(-7), &[(i, Const(2))]), chosen[0]);
        });
        b.store(y, Index::at(3), two);
        let call = LibraryCall {
            library: Library::Custom(custom.clone()),
            inputs: vec![(DType::F32, [2, 3].into())],
            outputs: vec![(DType::F64, [].into())],
        };
        b.call(call, [x, f].map(crate::ir::Window::whole).into());
        b.finish("everything at once")
    }

    fn program(custom: &Custom) -> Program {
        let mut copy = KernelBuilder::new();
        let (x, y) = (copy.param(DType::F64, false), copy.param(DType::F64, true));
        let one = copy.load(x, Index::at(0));
        copy.store(y, Index::at(0), one);
        let copy = Arc::new(copy.finish("copy"));
        let constant = [1.5, -0.0, f64::NAN, f64::NEG_INFINITY].map(Literal::new);
        let slot = |dtype, len, role| Slot { dtype, len, role };
        let flat = Tensor::from_literals(DType::F64, [4], &constant).unwrap();
        let all = Matrices { start: 0, batch: [0, 4], row: 2, col: 1 };
        let gemm = Gemm { dtype: DType::F64, batch: [1, 1], m: 2, n: 2, k: 2, a: all, b: all };
        let matrix = || (DType::F64, [2, 2].into());
        let axis = WindowAxis {
            image: 2,
            window: 3,
            places: 4,
            stride: 1,
            low: -1,
            image_dilation: 5,
            window_dilation: 6,
        };
        let conv = Conv {
            dtype: DType::F64,
            result: ConvResult::Kernel,
            batch: 1,
            groups: 2,
            from: 1,
            to: 3,
            axes: vec![axis, axis],
        };
        Program {
            name: "main".to_owned(),
            slots: vec![
                slot(DType::F64, 4, Role::Input(0)),
                slot(DType::F64, 4, Role::Output { reuse: Some(0) }),
                slot(DType::F64, 4, Role::Temp { of: None, offset: 64 }),
                slot(DType::U8, 3, Role::Temp { of: Some(SlotId(1)), offset: 0 }),
                slot(DType::F64, 4, Role::Constant(flat.reshape([2, 2]).unwrap())),
                slot(DType::F64, 4, Role::Constant(flat)),
                slot(DType::Bool, usize::MAX, Role::Output { reuse: None }),
                slot(DType::I32, 1, Role::Constant(Tensor::scalar(-3))),
                slot(DType::U8, 0, Role::Constant(Tensor::zeros(DType::U8, [0]))),
            ],
            kernels: vec![Arc::clone(&copy), copy, Arc::new(everything(custom))],
            steps: vec![
                Step::Launch { kernel: 1, slots: vec![SlotId(0), SlotId(1)], sizes: vec![], cost: 0 },
                Step::Launch { kernel: 2, slots: vec![], sizes: vec![10, i64::MIN], cost: 12 },
                Step::Call {
                    call: LibraryCall {
                        library: Library::Gemm(gemm),
                        inputs: vec![matrix(), matrix()],
                        outputs: vec![matrix()],
                    },
                    slots: vec![SlotId(0), SlotId(3), SlotId(1)],
                },
                Step::Call {
                    call: LibraryCall {
                        library: Library::Conv(conv),
                        inputs: vec![matrix(), matrix()],
                        outputs: vec![matrix()],
                    },
                    slots: vec![SlotId(0), SlotId(3), SlotId(1)],
                },
            ],
            results: vec![SlotId(1), SlotId(0)],
            arena: 128,
        }
    }

    #[test]
    fn every_form() {
        let custom = Custom::new(Nothing);
        let program = program(&custom);
        let text = program.to_string();
        expect![[r#"
            program @main {
              $0: f64[4] = input 0
              $1: f64[4] = output reuse input 0
              $2: f64[4] = temp at 64
              $3: u8[3] = temp at 0 of $1
              $4: f64[4] = constant f64[2,2] [1.5, -0.0, nan, -inf]
              $5: f64[4] = constant [1.5, -0.0, nan, -inf]
              $6: bool[18446744073709551615] = output
              $7: i32[1] = constant i32[] [-3]
              $8: u8[0] = constant []
              arena 128
              kernel @copy(b0: f64, b1: mut f64) {
                %0: f64 = load b0[0]
                store b1[0], %0
              }
              kernel @copy(b0: f64, b1: mut f64) {
                %0: f64 = load b0[0]
                store b1[0], %0
              }
              kernel @"everything at once"(b0: f32, b1: mut f32, b2: mut f64) sizes 2 {
                local b3: f32[64]
                %0: f32 = const 2.0
                each %1 < s0 {
                  %4: f32, %5: i64 = reduce max, add over %2 < s1 {
                    %3: f32 = load b0[%1*s1 + %2]
                    yield %3, %2
                  }
                  %8: f32 = for %6 < 3 with %7: f32 = %4 {
                    %9: f32 = mul %7, %0
                    store b3[%6*-1 + 4], %9
                    yield %9
                  }
                  %10: i64 = const 0
                  %12: f32, %14: i64 = while with %11: f32 = %8, %13: i64 = %10 {
                    %15: bool = lt %11, %0
                    yield %15
                  } do {
                    %16: i64 = convert %11
                    yield %11, %16
                  }
                  %17: bool = lt %12, %0
                  %21: f32 = if %17 {
                    %18: f32 = fma %12, %0, %0
                    yield %18
                  } else {
                    %19: i64 = clamp %14 < s1
                    %20: f32 = load b0[%19 + %1*s1 + s0]
                    yield %20
                  }
                  if %17 {
                    %22: i32 = bitcast %21
                    %23: i64 = size s1
                    %24: i32 = not %22
                    %25: i64 = neg %23
                  }
                  store b1[%1*2 - 7], %21
                }
                store b1[3], %0
                call custom "does \"nothing\"" (b0: f32[2,3]) -> (b2: f64[])
              }
              launch @copy#1($0, $1)
              launch @"everything at once"() sizes 10, -9223372036854775808 cost 12
              call gemm f64 batch [1,1] m 2 n 2 k 2 from 0 by [0,4,2,1], 0 by [0,4,2,1] ($0: f64[2,2], $3: f64[2,2]) -> ($1: f64[2,2])
              call conv kernel f64 batch 1 groups 2 from 1 to 3 over [places 4 stride 1 of window 3 by 6 low -1 on image 2 by 5, places 4 stride 1 of window 3 by 6 low -1 on image 2 by 5] ($0: f64[2,2], $3: f64[2,2]) -> ($1: f64[2,2])
              return $1, $0
            }
        "#]].assert_eq(&text);
        let resolve = |name: &str| (name == "does \"nothing\"").then(|| custom.clone());
        assert_eq!(read_program(&text, &resolve).unwrap(), program);
        let kernel = everything(&custom);
        assert_eq!(read_kernel(&kernel.to_string(), &resolve).unwrap(), kernel);
    }

    /// Text in which values have names, and which is not laid out.
    #[test]
    fn reading_is_lenient() {
        let text = "kernel @k(b0: mut f32) { // nothing
            each %i < 4 { %x: f32 = const 1 store b0[2 + %i*1 + %i - 0], %x } each %j < 1 {} }";
        let error = "2:68: an index has one offset";
        assert_eq!(text.parse::<Kernel>().unwrap_err().to_string(), error);
        let kernel: Kernel = text.replace(" - 0", "").parse().unwrap();
        expect![[r#"
            kernel @k(b0: mut f32) {
              each %0 < 4 {
                %1: f32 = const 1.0
                store b0[%0 + %0 + 2], %1
              }
              each %2 < 1 {
              }
            }
        "#]]
        .assert_eq(&kernel.to_string());
    }

    #[test]
    fn errors() {
        let cases = [
            "kernel",
            "kernel @a() {} x",
            "kernel @a(b1: f32) {}",
            "kernel @a(b0: f33) {}",
            "kernel @a(b0: f32) { local b0: f32[1] }",
            "kernel @a() { %0: f32 = foo %0 }",
            "kernel @a() { %0: f32 = neg %0 }",
            "kernel @a() { %0: i32 = const 1.5 }",
            "kernel @a() { %0: i32 = const 1 %0: i32 = const 1 }",
            "kernel @a() { %0: f32, %1: f32 = const 1 }",
            "kernel @a() { neg }",
            "kernel @a() { each %0 < 99999999999999999999 {} }",
            "kernel @a() { each %0 < 9223372036854775808 {} }",
            "kernel @a() { %1: f32 = for %0 < 1 {} }",
            "kernel @a() { %1: f32 = reduce over %0 < 1 {} }",
            "kernel @a() { %1: f32 = reduce sum over %0 < 1 {} }",
            "kernel @a() { store b00[0], %0 }",
            "kernel @a() { while {} }",
            "kernel @a() { call gemm f32 batch [1,1] m 1 n 1 k x }",
            "kernel @a() { call gemm f32 batch [1,1] m 1 n 1 k 1 from 0 by [1,1], 0 by [1,1,1,1] () -> () }",
            "kernel @a() { call custom \"f\" () -> () }",
            "kernel @\"\\q\"() {}",
            "kernel @a() sizes 99999999999999999999 {}",
            "kernel @a() { yield %0 }",
            "kernel @a() {",
        ];
        let text: Vec<String> =
            cases.iter().map(|text| format!("{text}\n  {}", text.parse::<Kernel>().unwrap_err())).collect();
        expect![[r#"
            kernel
              1:7: expected `@`, found the end of the text
            kernel @a() {} x
              1:16: expected the end of the text, found `x`
            kernel @a(b1: f32) {}
              1:11: the next buffer is `b0`
            kernel @a(b0: f33) {}
              1:15: there is no type `f33`
            kernel @a(b0: f32) { local b0: f32[1] }
              1:28: the next buffer is `b1`
            kernel @a() { %0: f32 = foo %0 }
              1:25: there is no operation `foo`
            kernel @a() { %0: f32 = neg %0 }
              1:29: `%0` is not defined
            kernel @a() { %0: i32 = const 1.5 }
              1:31: `1.5` is not a literal of type i32
            kernel @a() { %0: i32 = const 1 %0: i32 = const 1 }
              1:33: `%0` is defined twice
            kernel @a() { %0: f32, %1: f32 = const 1 }
              1:34: `const` does not have several results
            kernel @a() { neg }
              1:15: `neg` is not a statement without a result
            kernel @a() { each %0 < 99999999999999999999 {} }
              1:25: `99999999999999999999` is not a number that fits here
            kernel @a() { each %0 < 9223372036854775808 {} }
              1:25: the number does not fit 64 bits
            kernel @a() { %1: f32 = for %0 < 1 {} }
              1:25: a loop has one result for each value handed on
            kernel @a() { %1: f32 = reduce over %0 < 1 {} }
              1:25: a `reduce` has one combination for each result
            kernel @a() { %1: f32 = reduce sum over %0 < 1 {} }
              1:32: `sum` is not a combination such as `add`
            kernel @a() { store b00[0], %0 }
              1:21: expected a buffer such as `b0`, found `b00`
            kernel @a() { while {} }
              1:24: expected `do`, found `}`
            kernel @a() { call gemm f32 batch [1,1] m 1 n 1 k x }
              1:51: expected a number, found `x`
            kernel @a() { call gemm f32 batch [1,1] m 1 n 1 k 1 from 0 by [1,1], 0 by [1,1,1,1] () -> () }
              1:63: expected 4 numbers
            kernel @a() { call custom "f" () -> () }
              1:27: there is no function `f`
            kernel @"\q"() {}
              1:9: an escape is not one of `\"`, `\\`, `\n`, `\u{...}`
            kernel @a() sizes 99999999999999999999 {}
              1:19: `99999999999999999999` is not a number that fits here
            kernel @a() { yield %0 }
              1:21: `%0` is not defined
            kernel @a() {
              1:14: expected a statement, found the end of the text"#]]
        .assert_eq(&text.join("\n"));
        let cases = [
            "program @p { $1: f32[1] = input 0 return }",
            "program @p { $0: f32[1] = inout 0 return }",
            "program @p { $0: f32[2] = constant [1] return }",
            "program @p { $0: f32[2] = constant f32[9999999999,9999999999] [1] return }",
            "program @p { launch @a() return }",
            "program @p { kernel @a() {} kernel @a() {} launch @a() return }",
            "program @p { kernel @a() {} launch @a#1() return }",
            "program @p { return $x }",
            "program @p { arena 1 }",
        ];
        let text: Vec<String> =
            cases.iter().map(|text| format!("{text}\n  {}", text.parse::<Program>().unwrap_err())).collect();
        expect![[r#"
            program @p { $1: f32[1] = input 0 return }
              1:14: the next slot is `$0`
            program @p { $0: f32[1] = inout 0 return }
              1:27: a slot is `input`, `output`, `temp` or `constant`, not `inout`
            program @p { $0: f32[2] = constant [1] return }
              1:36: 1 element does not fit shape [2]
            program @p { $0: f32[2] = constant f32[9999999999,9999999999] [1] return }
              1:36: shape [9999999999,9999999999] is too large
            program @p { launch @a() return }
              1:21: there is no such kernel
            program @p { kernel @a() {} kernel @a() {} launch @a() return }
              1:51: several kernels have this name: write the number after `#`
            program @p { kernel @a() {} launch @a#1() return }
              1:36: there is no such kernel
            program @p { return $x }
              1:21: `$x` is not a slot such as `$0`
            program @p { arena 1 }
              1:22: expected `launch`, `copy`, `call` or `return`, found `}`"#]]
        .assert_eq(&text.join("\n"));
    }

    /// Each way to sort and to add at places says which one it is.
    #[test]
    fn words_of_calls() {
        let types = "(b0: f32[4], b1: f32[2], b2: i32[2]) -> (b3: f32[4])";
        for call in
            ["sort ascending keys 1 rows 1 len 4 kept 4", "sort descending keys 2 rows 3 len 4 kept 0"]
                .into_iter()
                .chain(["add_at front clip", "add_at front drop", "add_at back clip", "add_at back drop"])
        {
            let buffers = "b0: f32, b1: f32, b2: i32, b3: mut f32";
            let text = format!("kernel @k({buffers}) {{\n  call {call} {types}\n}}\n");
            let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{text}{error}"));
            assert_eq!(kernel.to_string(), text);
        }
        let error = "kernel @k() { call add_at left drop () -> () }".parse::<Kernel>().unwrap_err();
        assert_eq!(error.message, "expected `front` or `back`, found `left`");
    }

    #[test]
    fn depth_is_limited() {
        let nest = |depth: usize| {
            let open: String = (0..depth).map(|i| format!("each %{i} < 1 {{ ")).collect();
            format!("kernel @deep() {{ {open}{} }}", "} ".repeat(depth))
        };
        assert!(nest(MAX_DEPTH - 1).parse::<Kernel>().is_ok());
        let error = nest(100_000).parse::<Kernel>().unwrap_err();
        assert_eq!(error.message, "regions nest more than 64 deep");
    }

    /// Kernels that break rules can still be written; the notes are the verifier's.
    #[test]
    fn broken_kernels_are_written() {
        let check = |kernel: &Kernel, expected: Expect| expected.assert_eq(&kernel.to_string());
        let mut kernel: Kernel = "kernel @k() { %0: f32 = const 1.0 %1: f32 = neg %0 }".parse().unwrap();
        kernel.values = vec![DType::I32];
        check(
            &kernel,
            expect![[r#"
            kernel @k() {
              %0: i32 = const f32 1.0
              %undefined1: ? = neg %0
            }
        "#]],
        );
    }

    proptest! {
        /// Every kernel of the generator reads back; cut and damaged texts are errors or kernels, never panics.
        #[test]
        fn damaged_text(seed in 0u64..200, at in any::<prop::sample::Index>(), cut in 0usize..40, put in "[ -~]{0,8}") {
            let text = crate::generate::kernel(seed).kernel.to_string();
            let start = at.index(text.len());
            let end = (start + cut).min(text.len());
            let damaged = format!("{}{put}{}", &text[..start], &text[end..]);
            if let Ok(kernel) = damaged.parse::<Kernel>() {
                prop_assert_eq!(kernel.to_string().parse::<Kernel>(), Ok(kernel));
            }
        }
    }
}
