//! What the verifier proves and what it refuses of programs.

use expect_test::expect;

use super::tests::check;
use super::*;

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
