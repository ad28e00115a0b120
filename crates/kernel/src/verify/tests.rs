//! What the verifier proves and what it refuses.

use expect_test::{Expect, expect};

use super::*;
use crate::ir::Region;

fn kernel(text: &str) -> Kernel {
    text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn check(result: Result<(), VerifyErrors>, expected: Expect) {
    expected.assert_eq(&result.map_or_else(|errors| errors.to_string(), |()| "verified\n".to_owned()));
}

/// The messages about one-line bodies, each launched with buffers of 10 elements and sizes of 10 and 0.
fn messages(bodies: &[&str]) -> String {
    let mut out = String::new();
    for body in bodies {
        let kernel =
            kernel(&format!("kernel @k(b0: f32, b1: mut f32) sizes 2 {{ local b2: f32[4] {body} }}"));
        out += &format!("{body}\n");
        match verify_launch(&kernel, &[10, 10], &[10, 0]) {
            Ok(()) => out += "  verified\n",
            Err(errors) => errors.errors().iter().for_each(|e| out += &format!("  {}\n", e.message)),
        }
    }
    out
}

#[test]
fn errors_stand_under_their_lines() {
    let kernel = kernel(
        "kernel @k(b0: f32) {
           local b1: f32[99999]
           each %0 < s0 {
             %1: f32 = load b2[%0]
             store b0[%0], %0
             %4: i32 = reduce add over %2 < 4 { %3: f32 = neg %0 yield %3 }
           }
           %5: f32 = neg %1
         }",
    );
    check(
        verify_kernel(&kernel),
        expect![[r#"
            kernel @k(b0: f32) {
              // error: stack buffers take more than 65536 bytes
              local b1: f32[99999]
              each %0 < s0 {
                // error: there is no size `s0`
                %1: f32 = load b2[%0]
                // error: there is no buffer `b2`
                store b0[%0], %0
                // error: `b0` is not `mut`, so nothing is stored to it
                // error: the stored value is i64, not f32
                %4: i32 = reduce add over %2 < 4 {
                  // error: value 0 that the body yields is f32, not i32
                  %3: f32 = neg %0
                  // error: the result is f32, not i64
                  yield %3
                }
              }
              %5: f32 = neg %1
              // error: `%1` is used outside the region that defines it
            }
        "#]],
    );
}

#[test]
fn kernels() {
    let text = messages(&[
        "%0: f32 = const f64 1.0",
        "%0: f32 = const 1.0 %1: f64 = convert f32 %0",
        "%0: f32 = const 1.0 %1: f32 = add %0",
        "%0: f32 = const 1.0 %1: bool = not %0",
        "%0: i64 = size s2",
        "each %0: i32 < 3 {}",
        "each %0 < 3 { yield %0 }",
        "%0: i64 = const 1 %2: i64 = for %1 < 2 with %3: i64 = %0 {}",
        "%0: i64 = const 1 %2: f32 = for %1 < 2 with %3: i64 = %0 { yield %1 }",
        "%0: i64 = const 1 %2: i64 = while with %1: i64 = %0 { yield %1 } do { yield %1 }",
        "%0: i64 = const 1 if %0 {}",
        "%0: bool = const true %1: f32 = if %0 { yield %0 } else { %2: f32 = const 1.0 yield %2 }",
        "%0: bool = const true %1: bool = if %0 { yield %0 }",
        "%1: f32 = reduce and over %0 < 2 { %2: f32 = const 1.0 yield %2 }",
        "reduce over %0 < 2 { %1: f32 = const 1.0 store b2[0], %1 }",
        "each %0 < 2 { %1: f32 = const 1.0 } store b1[0], %1",
        "%0: f32 = const 1.0 store b0[0], %0",
        "%0: f32 = load b1[0]",
        "%0: f32 = const 1.0 store b1[0], %0 %1: f32 = load b1[0] %2: f32 = load b1[1]",
        "%0: f32 = const 1.0 for %1 < 2 { store b1[%1], %0 } %2: f32 = load b1[0]",
        "%0: f32 = const 1.0 %1: f32 = load b0[%0]",
        "call gemm f32 batch [1,1] m 2 n 5 k 2 from 0 by [0,4,2,1], 0 by [0,10,5,1] (b2: f32[4], b0: f32[2,5]) -> (b1: f32[10])",
        "call gemm f32 batch [1,1] m 2 n 5 k 3 from 0 by [0,4,2,1], 0 by [0,10,5,1] (b2: f32[4], b0: f32[2,5]) -> (b1: f32[10])",
        "call gemm f32 batch [1,1] m 2 n 2 k 2 from 0 by [0,4,2,1], 0 by [0,10,5,1] (b2: f32[4], b0: f32[2,5]) -> (b1: f32[10])",
        "call gemm f64 batch [1,1] m 2 n 5 k 2 from 0 by [0,4,2,1], 0 by [0,10,5,1] (b2: f32[4], b0: f32[2,5]) -> (b1: f32[10])",
        "call gemm f32 batch [1,1] m 2 n 5 k 2 from 0 by [0,4,2,1], 0 by [0,10,5,1] (b2: f32[4], b1: f32[10]) -> (b1: f32[10])",
        "call gemm f32 batch [1,1] m 1 n 5 k 1 from 0 by [0,0,0,0], 0 by [0,0,0,1] (b0: f32[3], b0: f32[10]) -> (b2: f32[5])",
        "call conv image f32 batch 1 groups 1 from 1 to 2 over [places 5 stride 1 of window 3 by 1 low 1 on image 5 by 1] (b2: f32[4], b0: f32[3,1,2]) -> (b1: f32[10])",
        "call conv image f32 batch 1 groups 1 from 1 to 2 over [places 5 stride 1 of window 3 by 1 low 1 on image 4 by 0] (b2: f32[4], b0: f32[3,1,2]) -> (b1: f32[10])",
        "call conv kernel f32 batch 1 groups 1 from 1 to 2 over [places 5 stride 1 of window 3 by 1 low -1 on image 4 by 1] (b2: f32[4], b0: f32[3,1,2]) -> (b1: f32[10])",
    ]);
    expect![[r#"
        %0: f32 = const f64 1.0
          the result is f32, not f64
        %0: f32 = const 1.0 %1: f64 = convert f32 %0
          the result is f64, not f32
        %0: f32 = const 1.0 %1: f32 = add %0
          `add` is not defined on (f32)
        %0: f32 = const 1.0 %1: bool = not %0
          `not` is not defined on (f32)
        %0: i64 = size s2
          there is no size `s2`
        each %0: i32 < 3 {}
          the loop variable is i32, not i64
        each %0 < 3 { yield %0 }
          the body of an `each` yields 1 value, not 0
        %0: i64 = const 1 %2: i64 = for %1 < 2 with %3: i64 = %0 {}
          the body yields 0 values, not 1
        %0: i64 = const 1 %2: f32 = for %1 < 2 with %3: i64 = %0 { yield %1 }
          `%3` is f32, not i64
        %0: i64 = const 1 %2: i64 = while with %1: i64 = %0 { yield %1 } do { yield %1 }
          value 0 that the condition yields is i64, not bool
        %0: i64 = const 1 if %0 {}
          the condition is i64, not bool
        %0: bool = const true %1: f32 = if %0 { yield %0 } else { %2: f32 = const 1.0 yield %2 }
          value 0 that the first branch yields is bool, not f32
        %0: bool = const true %1: bool = if %0 { yield %0 }
          the second branch yields 0 values, not 1
        %1: f32 = reduce and over %0 < 2 { %2: f32 = const 1.0 yield %2 }
          `and` is not defined on f32
        reduce over %0 < 2 { %1: f32 = const 1.0 store b2[0], %1 }
          nothing is stored inside a `reduce`
        each %0 < 2 { %1: f32 = const 1.0 } store b1[0], %1
          `%1` is used outside the region that defines it
        %0: f32 = const 1.0 store b0[0], %0
          `b0` is not `mut`, so nothing is stored to it
        %0: f32 = load b1[0]
          `b1` is written: it is loaded only where this iteration stored before
        %0: f32 = const 1.0 store b1[0], %0 %1: f32 = load b1[0] %2: f32 = load b1[1]
          `b1` is written: it is loaded only where this iteration stored before
        %0: f32 = const 1.0 for %1 < 2 { store b1[%1], %0 } %2: f32 = load b1[0]
          `b1` is written: it is loaded only where this iteration stored before
        %0: f32 = const 1.0 %1: f32 = load b0[%0]
          `%0` in the index is f32, not i64
        call gemm f32 batch [1,1] m 2 n 5 k 2 from 0 by [0,4,2,1], 0 by [0,10,5,1] (b2: f32[4], b0: f32[2,5]) -> (b1: f32[10])
          verified
        call gemm f32 batch [1,1] m 2 n 5 k 3 from 0 by [0,4,2,1], 0 by [0,10,5,1] (b2: f32[4], b0: f32[2,5]) -> (b1: f32[10])
          `gemm` reaches outside an operand
        call gemm f32 batch [1,1] m 2 n 2 k 2 from 0 by [0,4,2,1], 0 by [0,10,5,1] (b2: f32[4], b0: f32[2,5]) -> (b1: f32[10])
          the result of `gemm` is [1,1,2,2], not [10]
        call gemm f64 batch [1,1] m 2 n 5 k 2 from 0 by [0,4,2,1], 0 by [0,10,5,1] (b2: f32[4], b0: f32[2,5]) -> (b1: f32[10])
          the operands of `gemm` have its type, which is not bool
        call gemm f32 batch [1,1] m 2 n 5 k 2 from 0 by [0,4,2,1], 0 by [0,10,5,1] (b2: f32[4], b1: f32[10]) -> (b1: f32[10])
          operand 2 is written and must not be another operand too
        call gemm f32 batch [1,1] m 1 n 5 k 1 from 0 by [0,0,0,0], 0 by [0,0,0,1] (b0: f32[3], b0: f32[10]) -> (b2: f32[5])
          `b2` has 4 elements, not those of the call
        call conv image f32 batch 1 groups 1 from 1 to 2 over [places 5 stride 1 of window 3 by 1 low 1 on image 5 by 1] (b2: f32[4], b0: f32[3,1,2]) -> (b1: f32[10])
          operand 0 of `conv` is [1,5,1], not [4]
        call conv image f32 batch 1 groups 1 from 1 to 2 over [places 5 stride 1 of window 3 by 1 low 1 on image 4 by 0] (b2: f32[4], b0: f32[3,1,2]) -> (b1: f32[10])
          a window of `conv` moves too far, or over a dilation of 0
        call conv kernel f32 batch 1 groups 1 from 1 to 2 over [places 5 stride 1 of window 3 by 1 low -1 on image 4 by 1] (b2: f32[4], b0: f32[3,1,2]) -> (b1: f32[10])
          operand 1 of `conv` is [1,5,2], not [3,1,2]
    "#]].assert_eq(&text);
}

#[test]
fn bounds() {
    let text = messages(&[
        "each %0 < 10 { %1: f32 = load b0[%0] }",
        "each %0 < 11 { %1: f32 = load b0[%0] }",
        "each %0 < 10 { %1: f32 = load b0[%0 - 1] }",
        "each %0 < 10 { %1: f32 = load b0[%0*-1 + 9] }",
        "each %0 < 5 { each %1 < 2 { %2: f32 = load b0[%0*2 + %1] %3: f32 = load b0[%0*3 + %1 - 2] } }",
        "each %0 < s1 { %1: f32 = load b0[%0 + 100] each %2 < 4 { store b1[0], %1 } }",
        "each %0 < -5 { %1: f32 = load b0[%0 + 100] }",
        "%0: i64 = const 9 %1: f32 = load b0[%0] %2: f32 = load b0[%0 + 1]",
        "%0: i64 = size s0 %1: f32 = load b0[%0 - 1] %2: f32 = load b0[%0]",
        "%0: i64 = const 99 %1: i64 = clamp %0 < s0 %2: f32 = load b0[%1]",
        "%0: i64 = const 99 %1: i64 = clamp %0 < s1 %2: f32 = load b0[%1] %3: f32 = load b0[%1 - 1]",
        "%0: i64 = const 1 %1: i64 = add %0, %0 %2: f32 = load b0[%1] %3: f32 = load b0[%1*0]",
        "each %0 < 9223372036854775807 { %1: f32 = load b0[%0*9223372036854775807 + %0*9223372036854775807] }",
        "each %0 < 9223372036854775807 { each %1 < 9223372036854775807 { \
         %2: f32 = load b0[%0*9223372036854775807 + %1*9223372036854775807 + 9223372036854775807] } }",
        "each %0 < 2 { %1: f32 = load b0[%0*10 + %0*-10 + 9] }",
    ]);
    expect![[r#"
            each %0 < 10 { %1: f32 = load b0[%0] }
              verified
            each %0 < 11 { %1: f32 = load b0[%0] }
              reaches element 10 of `b0`, which has 10
            each %0 < 10 { %1: f32 = load b0[%0 - 1] }
              reaches element -1 of `b0`, which has 10
            each %0 < 10 { %1: f32 = load b0[%0*-1 + 9] }
              verified
            each %0 < 5 { each %1 < 2 { %2: f32 = load b0[%0*2 + %1] %3: f32 = load b0[%0*3 + %1 - 2] } }
              reaches element -2 of `b0`, which has 10
            each %0 < s1 { %1: f32 = load b0[%0 + 100] each %2 < 4 { store b1[0], %1 } }
              verified
            each %0 < -5 { %1: f32 = load b0[%0 + 100] }
              verified
            %0: i64 = const 9 %1: f32 = load b0[%0] %2: f32 = load b0[%0 + 1]
              reaches element 10 of `b0`, which has 10
            %0: i64 = size s0 %1: f32 = load b0[%0 - 1] %2: f32 = load b0[%0]
              reaches element 10 of `b0`, which has 10
            %0: i64 = const 99 %1: i64 = clamp %0 < s0 %2: f32 = load b0[%1]
              verified
            %0: i64 = const 99 %1: i64 = clamp %0 < s1 %2: f32 = load b0[%1] %3: f32 = load b0[%1 - 1]
              reaches element -1 of `b0`, which has 10
            %0: i64 = const 1 %1: i64 = add %0, %0 %2: f32 = load b0[%1] %3: f32 = load b0[%1*0]
              the index is not proved to be inside: clamp `%1`
            each %0 < 9223372036854775807 { %1: f32 = load b0[%0*9223372036854775807 + %0*9223372036854775807] }
              reaches element 170141183460469231676347071494755450884 of `b0`, which has 10
            each %0 < 9223372036854775807 { each %1 < 9223372036854775807 { %2: f32 = load b0[%0*9223372036854775807 + %1*9223372036854775807 + 9223372036854775807] } }
              reaches element 170141183460469231685570443531610226691 of `b0`, which has 10
            each %0 < 2 { %1: f32 = load b0[%0*10 + %0*-10 + 9] }
              verified
        "#]].assert_eq(&text);
}

#[test]
fn iterations_do_not_meet() {
    let store = |index: &str| {
        format!("each %0 < 5 {{ each %1 < 2 {{ %2: f32 = const 1.0 store b1[{index}], %2 }} }}")
    };
    let two = |a: &str, b: &str| {
        format!("each %0 < 3 {{ %1: f32 = const 1.0 store b1[{a}], %1 store b1[{b}], %1 }}")
    };
    let bodies = [
        store("%0*2 + %1"),
        store("%1*5 + %0"),
        store("%0*-2 + %1 + 8"),
        store("%0 + %1"),
        store("%0"),
        store("%0*2"),
        store("5"),
        two("%0*2", "%0*2 + 1"),
        two("%0", "%0 + 3"),
        two("%0", "%0 + 2"),
        two("%0", "%0*2"),
        two("%0*3", "%0*3"),
        // Rows made of two pieces, in both orders of the loops.
        "each %0 < 2 { %9: f32 = const 1.0 each %1 < 2 { store b1[%0*5 + %1], %9 } \
         each %2 < 3 { store b1[%0*5 + %2 + 2], %9 } }"
            .to_owned(),
        "each %0 < 2 { %9: f32 = const 1.0 each %1 < 2 { store b1[%0 + %1*2], %9 } \
         each %2 < 3 { store b1[%0 + %2*2 + 4], %9 } }"
            .to_owned(),
        // A stack buffer: used after the loop, only inside it, and by a loop inside.
        "%9: f32 = const 1.0 each %0 < 4 { store b2[0], %9 } %1: f32 = load b2[0]".to_owned(),
        "%9: f32 = const 1.0 each %0 < 4 { store b2[0], %9 %1: f32 = load b2[0] }".to_owned(),
        "%9: f32 = const 1.0 each %0 < 4 { each %1 < 3 { store b2[%1 + 1], %9 %2: f32 = load b2[%1] } \
         %3: f32 = load b2[0] }"
            .to_owned(),
        // What another iteration stores.
        "%9: f32 = const 1.0 store b1[0], %9 each %0 < 4 { %1: f32 = load b1[0] store b1[%0], %1 }"
            .to_owned(),
        // A value that is the same for all iterations is no reason to meet.
        "%8: i64 = const 7 %7: i64 = clamp %8 < 5 %9: f32 = const 1.0 each %0 < 5 { store b1[%0 + %7], %9 }"
            .to_owned(),
        "each %0 < 5 { %7: i64 = clamp %0 < 5 %9: f32 = const 1.0 store b1[%0 + %7], %9 }".to_owned(),
        // A scatter in blocks.
        "each %0 < 2 { for %1 < 3 { %7: i64 = clamp %1 < 5 %9: f32 = const 1.0 store b1[%0*5 + %7], %9 } }"
            .to_owned(),
        "each %0 < 2 { call gemm f32 batch [1,1] m 1 n 10 k 1 from 0 by [0,0,0,0], 0 by [0,0,0,1] \
         (b2: f32[4], b0: f32[10]) -> (b1: f32[10]) }"
            .to_owned(),
        // Columns side by side: in steps of two rows, and one that is looked up.
        "each %0 < 2 { %9: f32 = const 1.0 for %1 < 2 { store b1[%0 + %1*4], %9 store b1[%0 + %1*4 + 2], %9 } \
         %2: i64 = const 1 %3: i64 = clamp %2 < 5 store b1[%0 + %3*2], %9 }"
            .to_owned(),
        // Each iteration calls with windows of its own, and then with one that reaches into the next.
        "each %0 < 2 { call gemm f32 batch [1,1] m 1 n 5 k 1 from 0 by [0,0,0,0], 0 by [0,0,0,1] \
         (b0: f32[1], b0[%0*5]: f32[5]) -> (b1[%0*5]: f32[5]) }"
            .to_owned(),
        "each %0 < 2 { call gemm f32 batch [1,1] m 1 n 5 k 1 from 0 by [0,0,0,0], 0 by [0,0,0,1] \
         (b0: f32[1], b0[%0*5]: f32[5]) -> (b1[%0*4]: f32[5]) }"
            .to_owned(),
    ];
    let text = messages(&bodies.each_ref().map(String::as_str));
    expect![[r#"
        each %0 < 5 { each %1 < 2 { %2: f32 = const 1.0 store b1[%0*2 + %1], %2 } }
          verified
        each %0 < 5 { each %1 < 2 { %2: f32 = const 1.0 store b1[%1*5 + %0], %2 } }
          verified
        each %0 < 5 { each %1 < 2 { %2: f32 = const 1.0 store b1[%0*-2 + %1 + 8], %2 } }
          verified
        each %0 < 5 { each %1 < 2 { %2: f32 = const 1.0 store b1[%0 + %1], %2 } }
          iterations of `each %0` may meet in `b1`
        each %0 < 5 { each %1 < 2 { %2: f32 = const 1.0 store b1[%0], %2 } }
          iterations of `each %1` may meet in `b1`
        each %0 < 5 { each %1 < 2 { %2: f32 = const 1.0 store b1[%0*2], %2 } }
          iterations of `each %1` may meet in `b1`
        each %0 < 5 { each %1 < 2 { %2: f32 = const 1.0 store b1[5], %2 } }
          iterations of `each %1` may meet in `b1`
          iterations of `each %0` may meet in `b1`
        each %0 < 3 { %1: f32 = const 1.0 store b1[%0*2], %1 store b1[%0*2 + 1], %1 }
          verified
        each %0 < 3 { %1: f32 = const 1.0 store b1[%0], %1 store b1[%0 + 3], %1 }
          verified
        each %0 < 3 { %1: f32 = const 1.0 store b1[%0], %1 store b1[%0 + 2], %1 }
          iterations of `each %0` may meet in `b1`
        each %0 < 3 { %1: f32 = const 1.0 store b1[%0], %1 store b1[%0*2], %1 }
          iterations of `each %0` may meet in `b1`
        each %0 < 3 { %1: f32 = const 1.0 store b1[%0*3], %1 store b1[%0*3], %1 }
          verified
        each %0 < 2 { %9: f32 = const 1.0 each %1 < 2 { store b1[%0*5 + %1], %9 } each %2 < 3 { store b1[%0*5 + %2 + 2], %9 } }
          verified
        each %0 < 2 { %9: f32 = const 1.0 each %1 < 2 { store b1[%0 + %1*2], %9 } each %2 < 3 { store b1[%0 + %2*2 + 4], %9 } }
          verified
        %9: f32 = const 1.0 each %0 < 4 { store b2[0], %9 } %1: f32 = load b2[0]
          iterations of `each %1` may meet in `b2`
        %9: f32 = const 1.0 each %0 < 4 { store b2[0], %9 %1: f32 = load b2[0] }
          verified
        %9: f32 = const 1.0 each %0 < 4 { each %1 < 3 { store b2[%1 + 1], %9 %2: f32 = load b2[%1] } %3: f32 = load b2[0] }
          iterations of `each %2` may meet in `b2`
        %9: f32 = const 1.0 store b1[0], %9 each %0 < 4 { %1: f32 = load b1[0] store b1[%0], %1 }
          iterations of `each %1` may meet in `b1`
        %8: i64 = const 7 %7: i64 = clamp %8 < 5 %9: f32 = const 1.0 each %0 < 5 { store b1[%0 + %7], %9 }
          verified
        each %0 < 5 { %7: i64 = clamp %0 < 5 %9: f32 = const 1.0 store b1[%0 + %7], %9 }
          iterations of `each %0` may meet in `b1`
        each %0 < 2 { for %1 < 3 { %7: i64 = clamp %1 < 5 %9: f32 = const 1.0 store b1[%0*5 + %7], %9 } }
          verified
        each %0 < 2 { call gemm f32 batch [1,1] m 1 n 10 k 1 from 0 by [0,0,0,0], 0 by [0,0,0,1] (b2: f32[4], b0: f32[10]) -> (b1: f32[10]) }
          iterations of `each %0` may meet in `b1`
        each %0 < 2 { %9: f32 = const 1.0 for %1 < 2 { store b1[%0 + %1*4], %9 store b1[%0 + %1*4 + 2], %9 } %2: i64 = const 1 %3: i64 = clamp %2 < 5 store b1[%0 + %3*2], %9 }
          verified
        each %0 < 2 { call gemm f32 batch [1,1] m 1 n 5 k 1 from 0 by [0,0,0,0], 0 by [0,0,0,1] (b0: f32[1], b0[%0*5]: f32[5]) -> (b1[%0*5]: f32[5]) }
          verified
        each %0 < 2 { call gemm f32 batch [1,1] m 1 n 5 k 1 from 0 by [0,0,0,0], 0 by [0,0,0,1] (b0: f32[1], b0[%0*5]: f32[5]) -> (b1[%0*4]: f32[5]) }
          iterations of `each %0` may meet in `b1`
    "#]].assert_eq(&text);
}

/// The proof against counting: random nests with two stores, each iteration compared with each other.
#[test]
fn proofs_are_right() {
    let (mut proved, mut apart) = (0, 0);
    let mut state = 1u64;
    let mut draw = |range: std::ops::Range<i64>| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        range.start + ((state >> 33) % (range.end - range.start) as u64) as i64
    };
    for _ in 0..20_000 {
        let [n, m] = [draw(1..5), draw(1..5)];
        let (a, b) =
            ([draw(-6..7), draw(-6..7), 50 + draw(0..8)], [draw(-6..7), draw(-6..7), 50 + draw(0..8)]);
        let b = if draw(0..2) == 0 { [a[0], a[1], b[2]] } else { b };
        let at = |[i, j]: [i64; 2], s: [i64; 3]| s[0] * i + s[1] * j + s[2];
        let all = || (0..n).flat_map(|i| (0..m).map(move |j| [i, j]));
        // An iteration of either loop is one of both.
        let meet = all().any(|p| {
            let met = |q| [(a, b), (a, a), (b, b)].iter().any(|(s, t)| at(p, *s) == at(q, *t));
            all().any(|q| p != q && met(q))
        });
        let text = format!(
            "kernel @k(b0: mut f32) {{ %2: f32 = const 1.0 each %0 < {n} {{ each %1 < {m} {{
             store b0[%0*{} + %1*{} + {}], %2 store b0[%0*{} + %1*{} + {}], %2 }} }} }}",
            a[0], a[1], a[2], b[0], b[1], b[2]
        );
        let verified = verify_launch(&kernel(&text), &[200], &[]).is_ok();
        assert!(!(verified && meet), "{text}");
        proved += usize::from(verified);
        apart += usize::from(!meet);
    }
    // The proof is not complete, but it must not be useless either.
    assert!(proved * 10 > apart * 7, "{proved} of {apart}");
}

#[test]
fn launches() {
    let kernel =
        kernel("kernel @k(b0: mut f32) sizes 1 { each %0 < s0 { %1: f32 = const 1.0 store b0[%0], %1 } }");
    check(
        verify_launch(&kernel, &[10], &[10]),
        expect![[r#"
            verified
        "#]],
    );
    check(
        verify_launch(&kernel, &[10], &[11]),
        expect![[r#"
            kernel @k(b0: mut f32) sizes 1 {
              each %0 < s0 {
                %1: f32 = const 1.0
                store b0[%0], %1
                // error: reaches element 10 of `b0`, which has 10
              }
            }
        "#]],
    );
    check(
        verify_launch(&kernel, &[10, 10], &[11]),
        expect![[r#"
                kernel @k(b0: mut f32) sizes 1 {
                  // error: it is given 2 buffers, not 1
                  each %0 < s0 {
                    %1: f32 = const 1.0
                    store b0[%0], %1
                  }
                }
            "#]],
    );
    check(
        verify_launch(&kernel, &[10], &[]),
        expect![[r#"
                kernel @k(b0: mut f32) sizes 1 {
                  // error: it is given 0 sizes, not 1
                  each %0 < s0 {
                    %1: f32 = const 1.0
                    store b0[%0], %1
                  }
                }
            "#]],
    );
    check(
        verify_launch(&kernel, &[0], &[i64::MIN]),
        expect![[r#"
            verified
        "#]],
    );
    check(
        verify_launch(&kernel, &[usize::MAX], &[i64::MAX]),
        expect![[r#"
            verified
        "#]],
    );
}

const KERNELS: &str = "
    kernel @copy(b0: f32, b1: mut f32) sizes 1 { each %0 < s0 { %1: f32 = load b0[%0] store b1[%0], %1 } }
    kernel @shift(b0: f32, b1: mut f32) {
      each %0 < 9 { %1: f32 = load b0[%0 + 1] store b1[%0], %1 } }
    kernel @late(b0: f32, b1: mut f32) {
      each %0 < 10 { %1: f32 = const 1.0 store b1[%0], %1 %2: f32 = load b0[%0] } }
    kernel @scan(b0: f32, b1: mut f32) sizes 1 {
      %0: f32 = const 0.0
      %3: f32 = for %1 < 10 with %2: f32 = %0 {
        %4: f32 = load b0[%1*s0] %5: f32 = add %2, %4 store b1[%1*s0], %5 yield %5 } }
    kernel @rows(b0: f32, b1: mut f32) sizes 1 {
      each %0 < 5 {
        %3: f32 = reduce add over %1 < s0 { %2: f32 = load b0[%0*2 + %1] yield %2 }
        each %4 < 2 { %5: f32 = load b0[%0*2 + %4] %6: f32 = div %5, %3 store b1[%0*2 + %4], %6 } } }
    kernel @again(b0: f32, b1: mut f32) {
      each %0 < 5 {
        each %1 < 2 { %2: f32 = const 1.0 store b1[%0*2 + %1], %2 }
        %5: f32 = reduce add over %3 < 2 { %4: f32 = load b0[%0*2 + %3] yield %4 } } }
    kernel @wrong(b0: f32) { %0: i32 = load b0[0] }";

fn program(slots: &str, steps: &str) -> Result<(), VerifyErrors> {
    let kernels: Vec<&str> = KERNELS.split("kernel").skip(1).collect();
    // Only the kernels that are used, so that the texts stay short.
    let used = kernels.iter().filter(|text| steps.contains(text.split('(').next().unwrap_or("").trim()));
    let used: String = used.map(|text| format!("kernel{text}")).collect();
    let text = format!("program @p {{ {slots} {used} {steps} }}");
    verify_program(&text.parse().unwrap_or_else(|error| panic!("{error}\n{text}")))
}

fn program_messages(cases: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for (slots, steps) in cases {
        out += &format!("{slots}\n{steps}\n");
        match program(slots, steps) {
            Ok(()) => out += "  verified\n",
            Err(errors) => {
                errors.errors().iter().for_each(|e| out += &format!("  {:?}: {}\n", e.place, e.message));
            }
        }
    }
    out
}

#[test]
fn program_errors_stand_under_their_lines() {
    let slots = "$0: f32[10] = input 0 $1: f32[10] = temp at 32 $2: f64[10] = output arena 64";
    let steps = "launch @copy($0, $1) sizes 11 launch @copy($1, $2) sizes 10 launch @wrong($0) return $1, $3";
    check(
        program(slots, steps),
        expect![[r#"
            program @p {
              $0: f32[10] = input 0
              $1: f32[10] = temp at 32
              // error: the offset is not a multiple of 64
              // error: 40 bytes at 32 are not inside the arena
              $2: f64[10] = output
              arena 64
              kernel @copy(b0: f32, b1: mut f32) sizes 1 {
                each %0 < s0 {
                  %1: f32 = load b0[%0]
                  store b1[%0], %1
                }
              }
              kernel @wrong(b0: f32) {
                %0: i32 = load b0[0]
                // error: the result is i32, not f32
              }
              launch @copy($0, $1) sizes 11
              // error: in @copy, `%1: f32 = load b0[%0]`: reaches element 10 of `b0`, which has 10
              // error: in @copy, `store b1[%0], %1`: reaches element 10 of `b1`, which has 10
              launch @copy($1, $2) sizes 10
              // error: `$2` is f64, `b1` is f32
              launch @wrong($0)
              return $1, $3
              // error: `$1` is a temporary and cannot be a result
              // error: there is no slot `$3`
            }
        "#]],
    );
}

#[test]
fn programs() {
    let io = "$0: f32[10] = input 0 $1: f32[10] = output";
    let text = program_messages(&[
        (io, "launch @copy($0, $1) sizes 10 return $1, $0"),
        (io, "return $1"),
        (io, "launch @copy($1, $1) sizes 10 return $1"),
        (io, "launch @copy($0, $1) sizes 10 launch @copy($1, $1) sizes 10 return $1"),
        (io, "launch @copy($0, $1) sizes 10 launch @shift($1, $1) return $1"),
        (io, "launch @copy($1, $0) sizes 10 return $0"),
        (io, "launch @copy($0) return $0"),
        (io, "launch @copy($0, $1) return $0"),
        (io, "launch @copy($0, $9) return $0"),
        ("$0: f32[2] = input 0 $1: f32[2] = input 0", "return"),
        ("$0: f32[2] = constant f64[2] [1.0, 2.0] $1: f32[3] = constant f32[2] [1.0, 2.0]", "return"),
        ("$0: f32[9223372036854775807] = input 0", "return"),
        ("$0: f32[1] = constant [1.0] $1: f32[1] = output", "launch @copy($0, $0) sizes 1 return"),
    ]);
    expect![[r#"
        $0: f32[10] = input 0 $1: f32[10] = output
        launch @copy($0, $1) sizes 10 return $1, $0
          verified
        $0: f32[10] = input 0 $1: f32[10] = output
        return $1
          Slot(1): the output is never written
        $0: f32[10] = input 0 $1: f32[10] = output
        launch @copy($1, $1) sizes 10 return $1
          Step(0): `$1` is read before anything is written to it
        $0: f32[10] = input 0 $1: f32[10] = output
        launch @copy($0, $1) sizes 10 launch @copy($1, $1) sizes 10 return $1
          verified
        $0: f32[10] = input 0 $1: f32[10] = output
        launch @copy($0, $1) sizes 10 launch @shift($1, $1) return $1
          Step(1): in @shift, `store b1[%0], %1`: iterations of `each %0` may meet in `b1`
        $0: f32[10] = input 0 $1: f32[10] = output
        launch @copy($1, $0) sizes 10 return $0
          Step(0): `$1` is read before anything is written to it
          Step(0): `$0` is an input and is not written
          Slot(1): the output is never written
        $0: f32[10] = input 0 $1: f32[10] = output
        launch @copy($0) return $0
          Step(0): it is given 1 slot, not 2
          Slot(1): the output is never written
        $0: f32[10] = input 0 $1: f32[10] = output
        launch @copy($0, $1) return $0
          Step(0): it is given 0 sizes, not 1
        $0: f32[10] = input 0 $1: f32[10] = output
        launch @copy($0, $9) return $0
          Step(0): there is no slot `$9`
          Slot(1): the output is never written
        $0: f32[2] = input 0 $1: f32[2] = input 0
        return
          Slot(1): another slot is input 0 already
        $0: f32[2] = constant f64[2] [1.0, 2.0] $1: f32[3] = constant f32[2] [1.0, 2.0]
        return
          Slot(0): type or length is not that of the constant
          Slot(1): type or length is not that of the constant
        $0: f32[9223372036854775807] = input 0
        return
          Slot(0): no machine has so much memory
        $0: f32[1] = constant [1.0] $1: f32[1] = output
        launch @copy($0, $0) sizes 1 return
          Step(0): `$0` is a constant and is not written
          Slot(1): the output is never written
    "#]]
    .assert_eq(&text);
}

#[test]
fn temporaries() {
    let slots = |offsets: [usize; 3], arena: usize| {
        let [a, b, c] = offsets;
        format!(
            "$0: f32[10] = input 0 $1: f32[10] = output $2: f32[10] = temp at {a} \
             $3: f32[10] = temp at {b} $4: f32[10] = temp at {c} arena {arena}"
        )
    };
    let steps = "launch @copy($0, $2) sizes 10 launch @copy($2, $3) sizes 10 \
                 launch @copy($3, $4) sizes 10 launch @copy($4, $1) sizes 10 return $1";
    let text = program_messages(&[
        (&slots([0, 64, 128], 192), steps),
        (&slots([0, 64, 0], 128), steps),
        (&slots([0, 0, 64], 128), steps),
        (&slots([64, 0, 0], 128), steps),
        (&slots([0, 64, 128], 160), steps),
        (&slots([0, 64, 100], 192), steps),
        (&slots([0, 64, usize::MAX], 192), steps),
    ]);
    expect![[r#"
            $0: f32[10] = input 0 $1: f32[10] = output $2: f32[10] = temp at 0 $3: f32[10] = temp at 64 $4: f32[10] = temp at 128 arena 192
            launch @copy($0, $2) sizes 10 launch @copy($2, $3) sizes 10 launch @copy($3, $4) sizes 10 launch @copy($4, $1) sizes 10 return $1
              verified
            $0: f32[10] = input 0 $1: f32[10] = output $2: f32[10] = temp at 0 $3: f32[10] = temp at 64 $4: f32[10] = temp at 0 arena 128
            launch @copy($0, $2) sizes 10 launch @copy($2, $3) sizes 10 launch @copy($3, $4) sizes 10 launch @copy($4, $1) sizes 10 return $1
              verified
            $0: f32[10] = input 0 $1: f32[10] = output $2: f32[10] = temp at 0 $3: f32[10] = temp at 0 $4: f32[10] = temp at 64 arena 128
            launch @copy($0, $2) sizes 10 launch @copy($2, $3) sizes 10 launch @copy($3, $4) sizes 10 launch @copy($4, $1) sizes 10 return $1
              Slot(3): overlaps `$2`, which is in use at the same time
            $0: f32[10] = input 0 $1: f32[10] = output $2: f32[10] = temp at 64 $3: f32[10] = temp at 0 $4: f32[10] = temp at 0 arena 128
            launch @copy($0, $2) sizes 10 launch @copy($2, $3) sizes 10 launch @copy($3, $4) sizes 10 launch @copy($4, $1) sizes 10 return $1
              Slot(4): overlaps `$3`, which is in use at the same time
            $0: f32[10] = input 0 $1: f32[10] = output $2: f32[10] = temp at 0 $3: f32[10] = temp at 64 $4: f32[10] = temp at 128 arena 160
            launch @copy($0, $2) sizes 10 launch @copy($2, $3) sizes 10 launch @copy($3, $4) sizes 10 launch @copy($4, $1) sizes 10 return $1
              Slot(4): 40 bytes at 128 are not inside the arena
            $0: f32[10] = input 0 $1: f32[10] = output $2: f32[10] = temp at 0 $3: f32[10] = temp at 64 $4: f32[10] = temp at 100 arena 192
            launch @copy($0, $2) sizes 10 launch @copy($2, $3) sizes 10 launch @copy($3, $4) sizes 10 launch @copy($4, $1) sizes 10 return $1
              Slot(4): the offset is not a multiple of 64
              Slot(4): overlaps `$3`, which is in use at the same time
            $0: f32[10] = input 0 $1: f32[10] = output $2: f32[10] = temp at 0 $3: f32[10] = temp at 64 $4: f32[10] = temp at 18446744073709551615 arena 192
            launch @copy($0, $2) sizes 10 launch @copy($2, $3) sizes 10 launch @copy($3, $4) sizes 10 launch @copy($4, $1) sizes 10 return $1
              Slot(4): the offset is not a multiple of 64
              Slot(4): 40 bytes at 18446744073709551615 are not inside the arena
        "#]].assert_eq(&text);
}

/// Scratch may lie in an output until that is touched.
#[test]
fn temporaries_in_outputs() {
    let slots = |of: &str| format!("$0: f32[20] = input 0 $1: f32[30] = output $2: f32[10] = temp at {of}");
    let steps = "launch @copy($0, $2) sizes 10 launch @copy($0, $1) sizes 20 return $1";
    let late = "launch @copy($0, $2) sizes 10 launch @copy($2, $1) sizes 10 return $1";
    let two = "$3: f32[10] = temp at 0 of $1";
    let both =
        "launch @copy($0, $2) sizes 10 launch @copy($2, $3) sizes 10 launch @copy($0, $1) sizes 20 return $1";
    let text = program_messages(&[
        (&slots("0 of $1"), steps),
        (&slots("64 of $1"), steps),
        (&slots("128 of $1"), steps),
        (&slots("0 of $1"), late),
        (&slots("0 of $0"), steps),
        (&slots("0 of $2"), steps),
        (&slots("0 of $7"), steps),
        (&slots("0 of $1").replace("output", "output reuse input 0").replace("[20]", "[30]"), steps),
        (&format!("{} {two}", slots("64 of $1")), both),
        (&format!("{} {two}", slots("0 of $1")), both),
        (&format!("{} {two} arena 64", slots("0")), both),
    ]);
    expect![[r#"
        $0: f32[20] = input 0 $1: f32[30] = output $2: f32[10] = temp at 0 of $1
        launch @copy($0, $2) sizes 10 launch @copy($0, $1) sizes 20 return $1
          verified
        $0: f32[20] = input 0 $1: f32[30] = output $2: f32[10] = temp at 64 of $1
        launch @copy($0, $2) sizes 10 launch @copy($0, $1) sizes 20 return $1
          verified
        $0: f32[20] = input 0 $1: f32[30] = output $2: f32[10] = temp at 128 of $1
        launch @copy($0, $2) sizes 10 launch @copy($0, $1) sizes 20 return $1
          Slot(2): 40 bytes at 128 are not inside `$1`
        $0: f32[20] = input 0 $1: f32[30] = output $2: f32[10] = temp at 0 of $1
        launch @copy($0, $2) sizes 10 launch @copy($2, $1) sizes 10 return $1
          Slot(2): is in use when `$1` is touched
        $0: f32[20] = input 0 $1: f32[30] = output $2: f32[10] = temp at 0 of $0
        launch @copy($0, $2) sizes 10 launch @copy($0, $1) sizes 20 return $1
          Slot(2): `$0` is no output that reuses nothing
          Slot(2): is in use when `$0` is touched
        $0: f32[20] = input 0 $1: f32[30] = output $2: f32[10] = temp at 0 of $2
        launch @copy($0, $2) sizes 10 launch @copy($0, $1) sizes 20 return $1
          Slot(2): `$2` is no output that reuses nothing
          Slot(2): is in use when `$2` is touched
        $0: f32[20] = input 0 $1: f32[30] = output $2: f32[10] = temp at 0 of $7
        launch @copy($0, $2) sizes 10 launch @copy($0, $1) sizes 20 return $1
          Slot(2): `$7` is no output that reuses nothing
        $0: f32[30] = input 0 $1: f32[30] = output reuse input 0 $2: f32[10] = temp at 0 of $1
        launch @copy($0, $2) sizes 10 launch @copy($0, $1) sizes 20 return $1
          Slot(2): `$1` is no output that reuses nothing
        $0: f32[20] = input 0 $1: f32[30] = output $2: f32[10] = temp at 64 of $1 $3: f32[10] = temp at 0 of $1
        launch @copy($0, $2) sizes 10 launch @copy($2, $3) sizes 10 launch @copy($0, $1) sizes 20 return $1
          verified
        $0: f32[20] = input 0 $1: f32[30] = output $2: f32[10] = temp at 0 of $1 $3: f32[10] = temp at 0 of $1
        launch @copy($0, $2) sizes 10 launch @copy($2, $3) sizes 10 launch @copy($0, $1) sizes 20 return $1
          Slot(3): overlaps `$2`, which is in use at the same time
        $0: f32[20] = input 0 $1: f32[30] = output $2: f32[10] = temp at 0 $3: f32[10] = temp at 0 of $1 arena 64
        launch @copy($0, $2) sizes 10 launch @copy($2, $3) sizes 10 launch @copy($0, $1) sizes 20 return $1
          verified
    "#]].assert_eq(&text);
}

#[test]
fn outputs_that_reuse_inputs() {
    let io = "$0: f32[10] = input 0 $1: f32[10] = output reuse input 0";
    let text = program_messages(&[
        (io, "launch @copy($0, $1) sizes 10 return $1"),
        (io, "launch @shift($0, $1) return $1"),
        (io, "launch @late($0, $1) return $1"),
        (io, "launch @scan($0, $1) sizes 1 return $1"),
        (io, "launch @scan($0, $1) sizes 0 return $1"),
        (io, "launch @copy($0, $1) sizes 10 return $1, $0"),
        (io, "launch @copy($0, $1) sizes 10 launch @copy($0, $1) sizes 10 return $1"),
        ("$0: f32[9] = input 0 $1: f32[10] = output reuse input 0", "launch @copy($0, $1) sizes 9 return $1"),
        ("$0: f32[9] = input 0 $1: f32[9] = output reuse input 1", "launch @copy($0, $1) sizes 9 return $1"),
        (
            "$0: f32[9] = input 0 $1: f32[9] = output reuse input 0 $2: f32[9] = output reuse input 0",
            "launch @copy($0, $1) sizes 9 launch @copy($1, $2) sizes 9 return $1",
        ),
        (
            "$0: f32[4] = input 0 $1: f32[4] = output reuse input 0",
            "call gemm f32 batch [1,1] m 2 n 2 k 2 from 0 by [0,0,2,1], 0 by [0,0,2,1] \
             ($0: f32[4], $0: f32[4]) -> ($1: f32[4]) return $1",
        ),
    ]);
    expect![[r#"
        $0: f32[10] = input 0 $1: f32[10] = output reuse input 0
        launch @copy($0, $1) sizes 10 return $1
          verified
        $0: f32[10] = input 0 $1: f32[10] = output reuse input 0
        launch @shift($0, $1) return $1
          Step(0): in @shift, `store b1[%0], %1`: iterations of `each %0` may meet in `b1`
        $0: f32[10] = input 0 $1: f32[10] = output reuse input 0
        launch @late($0, $1) return $1
          Slot(1): input 0 is not read only at the index where the output is stored
        $0: f32[10] = input 0 $1: f32[10] = output reuse input 0
        launch @scan($0, $1) sizes 1 return $1
          verified
        $0: f32[10] = input 0 $1: f32[10] = output reuse input 0
        launch @scan($0, $1) sizes 0 return $1
          Step(0): in @scan, `%3: f32 = for %1 < 10 with %2: f32 = %0`: an iteration loads what another one stored in place
        $0: f32[10] = input 0 $1: f32[10] = output reuse input 0
        launch @copy($0, $1) sizes 10 return $1, $0
          Slot(1): input 0 is a result itself
        $0: f32[10] = input 0 $1: f32[10] = output reuse input 0
        launch @copy($0, $1) sizes 10 launch @copy($0, $1) sizes 10 return $1
          Slot(1): input 0 is read after the output is written
        $0: f32[9] = input 0 $1: f32[10] = output reuse input 0
        launch @copy($0, $1) sizes 9 return $1
          Slot(1): input 0 has another number or size of elements
        $0: f32[9] = input 0 $1: f32[9] = output reuse input 1
        launch @copy($0, $1) sizes 9 return $1
          Slot(1): there is no input 1
        $0: f32[9] = input 0 $1: f32[9] = output reuse input 0 $2: f32[9] = output reuse input 0
        launch @copy($0, $1) sizes 9 launch @copy($1, $2) sizes 9 return $1
          Slot(2): another output may reuse input 0 already
        $0: f32[4] = input 0 $1: f32[4] = output reuse input 0
        call gemm f32 batch [1,1] m 2 n 2 k 2 from 0 by [0,0,2,1], 0 by [0,0,2,1] ($0: f32[4], $0: f32[4]) -> ($1: f32[4]) return $1
          Slot(1): input 0 is not read only at the index where the output is stored
    "#]].assert_eq(&text);
}

/// A turn of the loops around may overwrite what it has read, and nothing that another turn reads.
#[test]
fn rows_that_are_overwritten() {
    let (one, other) = (
        "$0: f32[10] = input 0 $1: f32[10] = output",
        "$0: f32[10] = input 0 $1: f32[10] = output reuse input 0",
    );
    let text = program_messages(&[
        (one, "launch @copy($0, $1) sizes 10 launch @rows($1, $1) sizes 2 return $1"),
        (one, "launch @copy($0, $1) sizes 10 launch @rows($1, $1) sizes 1 return $1"),
        (one, "launch @copy($0, $1) sizes 10 launch @rows($1, $1) sizes 0 return $1"),
        (
            "$0: f32[20] = input 0 $1: f32[20] = output",
            "launch @copy($0, $1) sizes 20 launch @rows($1, $1) sizes 3 return $1",
        ),
        (one, "launch @copy($0, $1) sizes 10 launch @again($1, $1) return $1"),
        (other, "launch @rows($0, $1) sizes 2 return $1"),
        (other, "launch @again($0, $1) return $1"),
        (
            "$0: f32[20] = input 0 $1: f32[20] = output reuse input 0",
            "launch @rows($0, $1) sizes 3 return $1",
        ),
    ]);
    expect![[r#"
        $0: f32[10] = input 0 $1: f32[10] = output
        launch @copy($0, $1) sizes 10 launch @rows($1, $1) sizes 2 return $1
          verified
        $0: f32[10] = input 0 $1: f32[10] = output
        launch @copy($0, $1) sizes 10 launch @rows($1, $1) sizes 1 return $1
          verified
        $0: f32[10] = input 0 $1: f32[10] = output
        launch @copy($0, $1) sizes 10 launch @rows($1, $1) sizes 0 return $1
          verified
        $0: f32[20] = input 0 $1: f32[20] = output
        launch @copy($0, $1) sizes 20 launch @rows($1, $1) sizes 3 return $1
          Step(1): in @rows, `store b1[%0*2 + %4], %6`: iterations of `each %0` may meet in `b1`
        $0: f32[10] = input 0 $1: f32[10] = output
        launch @copy($0, $1) sizes 10 launch @again($1, $1) return $1
          Step(1): `$1` is `b1` and `b0`, whose indices differ
        $0: f32[10] = input 0 $1: f32[10] = output reuse input 0
        launch @rows($0, $1) sizes 2 return $1
          verified
        $0: f32[10] = input 0 $1: f32[10] = output reuse input 0
        launch @again($0, $1) return $1
          Slot(1): input 0 is not read only at the index where the output is stored
        $0: f32[20] = input 0 $1: f32[20] = output reuse input 0
        launch @rows($0, $1) sizes 3 return $1
          Step(0): in @rows, `store b1[%0*2 + %4], %6`: iterations of `each %0` may meet in `b1`
    "#]]
    .assert_eq(&text);
}

#[test]
fn deep_kernels_are_refused() {
    let mut body = Region::default();
    let mut values = Vec::new();
    for i in 0..70 {
        values.push(tracewell_array::DType::I64);
        let var = crate::Value(i);
        body = Region {
            stmts: vec![Stmt::Each { var, extent: crate::Size::Const(1), body }],
            yields: Default::default(),
        };
    }
    let kernel = Kernel { name: "deep".to_owned(), params: vec![], locals: vec![], sizes: 0, values, body };
    let errors = verify_kernel(&kernel).unwrap_err();
    assert_eq!(errors.errors()[0].message, "regions nest more than 64 deep");
}
