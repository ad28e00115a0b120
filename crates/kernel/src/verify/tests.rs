//! What the verifier proves and what it refuses.

use expect_test::{Expect, expect};

use super::*;
use crate::ir::Region;

fn kernel(text: &str) -> Kernel {
    text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(super) fn check(result: Result<(), VerifyErrors>, expected: Expect) {
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
