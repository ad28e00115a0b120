//! Scans in bands, as text.

use expect_test::expect;
use tracewell_fuse::{Bands, Options};

use crate::compositions;
use crate::support::program;

/// Rows that go their own way through a scan are two iterations that threads share, each with memory of its own where it
/// needs much.
#[test]
fn bands_of_rows() {
    let bands = Bands { rows: 2, turn: 1, all: 0, most: 2, bytes: 0 };
    let options = Options { bands: Some(bands), ..Options::default() };
    let wide = program("wide", &compositions::wide_rows(), &options);
    expect![[r#"
        program @composition {
          $0: f32[5200] = input 0
          $1: f32[5200] = input 1
          $2: f32[10400] = input 2
          $3: f32[24] = input 3
          $4: f32[10400] = output
          $5: f32[10400] = temp at 0
          arena 41600
          kernel @scan(b0: f32, b1: f32, b2: f32, b3: f32, b4: own f32, b5: own f32) {
            local b6: f32[4]
            each %0 < 2 {
              each %1 < 5200 {
                %2: f32 = load b2[%0*5200 + %1]
                store b4[%0*5200 + %1], %2
              }
              for %3 < 3 {
                %4: f32 = load b3[%3*8 + %0*4]
                %5: f32 = load b3[%3*8 + %0*4 + 1]
                %6: f32 = load b3[%3*8 + %0*4 + 2]
                %7: f32 = load b3[%3*8 + %0*4 + 3]
                each %8 < 5200 {
                  %9: f32 = load b4[%0*5200 + %8]
                  %10: f32 = const 0.001
                  %11: f32 = mul %9, %10
                  store b4[%0*5200 + %8], %11
                }
                call gemm f32 batch [1,1] m 2 n 2 k 2600 from 0 by [0,1,2600,1], 0 by [0,1,2,1] (b4[%0*5200]: f32[2,2600], b0: f32[2600,2]) -> (b6: f32[2,2])
                %12: f32 = load b6[0]
                %13: f32 = add %12, %4
                store b6[0], %13
                %14: f32 = load b6[1]
                %15: f32 = add %14, %5
                store b6[1], %15
                %16: f32 = load b6[2]
                %17: f32 = add %16, %6
                store b6[2], %17
                %18: f32 = load b6[3]
                %19: f32 = add %18, %7
                store b6[3], %19
                call gemm f32 batch [1,1] m 2 n 2600 k 2 from 0 by [0,1,2,1], 0 by [0,1,2600,1] (b6: f32[2,2], b1: f32[2,2600]) -> (b5[%0*5200]: f32[2,2600])
                each %20 < 5200 {
                  %21: f32 = load b4[%0*5200 + %20]
                  %22: f32 = load b5[%20 + %0*5200]
                  %23: f32 = max %22, %21
                  %24: f32 = add %23, %21
                  store b4[%0*5200 + %20], %24
                }
                poll
              }
            }
          }
          launch @scan($0, $1, $2, $3, $4, $5) cost 43215
          return $4
        }
    "#]].assert_eq(&wide.to_string());
}

/// What is carried without rows each band has for itself, unless it is a result.
#[test]
fn bands_count_for_themselves() {
    let bands = Bands { rows: 1, turn: 1, all: 0, most: 8, bytes: 0 };
    let options = Options { bands: Some(bands), ..Options::default() };
    let has_bands = |is_result: bool| {
        program("counted", &compositions::counted_rows(is_result), &options)
            .to_string()
            .contains("each %0 < 6 {")
    };
    assert_eq!([false, true].map(has_bands), [true, false]);
}

/// Bands have as many rows each.
#[test]
fn bands_come_out_even() {
    let cut = |most: usize| {
        let bands = Bands { rows: 1, turn: 1, all: 0, most, bytes: 0 };
        let options = Options { bands: Some(bands), ..Options::default() };
        let text = program("counted", &compositions::counted_rows(false), &options).to_string();
        [2, 3, 6].map(|count| text.contains(&format!("each %0 < {count} {{")))
    };
    let [two, three, six] = [[true, false, false], [false, true, false], [false, false, true]];
    assert_eq!([2, 3, 4, 5, 6, 7].map(cut), [two, three, three, three, six, six]);
}

/// Few rows, little work, and what is inside of control flow, stay whole.
#[test]
fn small_scans_have_no_bands() {
    let graph = compositions::wide_rows();
    let of = |bands: Option<Bands>| program("wide", &graph, &Options { bands, ..Options::default() });
    let whole = of(None);
    let is_cut = |bands: Option<Bands>| of(bands) != whole;
    let least = Bands { rows: 1, turn: 1, all: 0, most: 8, bytes: 0 };
    assert_eq!([Bands::default(), least.clone()].map(|bands| is_cut(Some(bands))), [false, true]);
    // Four rows, of which a turn is 2 x 8 x 2600 operations of one product, 2 x 10400 x 2 of the other, 4 for each of three
    // times 10400 others and of 8.
    let turn = 41600 + 41600 + 3 * 41600 + 32;
    for few in [
        Bands { rows: 3, ..least.clone() },
        Bands { turn: turn / 2 + 1, ..least.clone() },
        Bands { all: 3 * turn + 1, ..least.clone() },
        Bands { most: 1, ..least.clone() },
    ] {
        assert!(!is_cut(Some(few.clone())), "{few:?}");
    }
    for enough in [
        Bands { rows: 2, ..least.clone() },
        Bands { turn: turn / 2, ..least.clone() },
        Bands { all: 3 * turn, ..least.clone() },
        Bands { most: 2, ..least },
    ] {
        assert!(is_cut(Some(enough.clone())), "{enough:?}");
    }
}

/// Turns that carry nothing are as many iterations as threads may share, each with memory of its own where it needs much:
/// the next turns of a band use it again.
#[test]
fn bands_of_turns() {
    let text = |bands: Option<Bands>| {
        program("free", &compositions::free_turns(true), &Options { bands, ..Options::default() }).to_string()
    };
    let bands = Bands { rows: 1, turn: 1, all: 0, most: 2, bytes: 1 << 20 };
    expect![[r#"
        program @composition {
          $0: f32[5200] = input 0
          $1: f32[5200] = input 1
          $2: f32[31200] = input 2
          $3: f32[31200] = output
          $4: f32[24] = output
          $5: f32[10400] = temp at 0
          arena 41600
          kernel @scan(b0: f32, b1: f32, b2: f32, b3: own f32, b4: own f32, b5: own f32) {
            local b6: f32[4]
            local b7: f32[6]
            each %0 < 2 {
              %1: f32 = const 0.75
              store b7[0], %1
              store b7[1], %1
              store b7[2], %1
              store b7[3], %1
              store b7[4], %1
              store b7[5], %1
              for %2 < 3 {
                %3: f32 = load b7[%2*-2 + 4]
                %4: f32 = load b7[%2*-2 + 5]
                each %5 < 5200 {
                  %6: f32 = load b2[%0*15600 + %2*-5200 + %5 + 10400]
                  %7: f32 = mul %6, %6
                  store b3[%0*15600 + %2*-5200 + %5 + 10400], %7
                }
                call gemm f32 batch [1,1] m 2 n 2 k 2600 from 0 by [0,1,2600,1], 0 by [0,1,2,1] (b3[%0*15600 + %2*-5200 + 10400]: f32[2,2600], b0: f32[2600,2]) -> (b6: f32[2,2])
                %8: f32 = load b6[0]
                store b4[%0*12 + %2*-4 + 8], %8
                %9: f32 = load b6[1]
                store b4[%0*12 + %2*-4 + 9], %9
                %10: f32 = load b6[2]
                store b4[%0*12 + %2*-4 + 10], %10
                %11: f32 = load b6[3]
                store b4[%0*12 + %2*-4 + 11], %11
                %12: f32 = load b4[%0*12 + %2*-4 + 8]
                %13: f32 = mul %12, %3
                store b4[%0*12 + %2*-4 + 8], %13
                %14: f32 = load b4[%0*12 + %2*-4 + 9]
                %15: f32 = mul %14, %4
                store b4[%0*12 + %2*-4 + 9], %15
                %16: f32 = load b4[%0*12 + %2*-4 + 10]
                %17: f32 = mul %16, %3
                store b4[%0*12 + %2*-4 + 10], %17
                %18: f32 = load b4[%0*12 + %2*-4 + 11]
                %19: f32 = mul %18, %4
                store b4[%0*12 + %2*-4 + 11], %19
                call gemm f32 batch [1,1] m 2 n 2600 k 2 from 0 by [0,1,2,1], 0 by [0,1,2600,1] (b4[%0*12 + %2*-4 + 8]: f32[2,2], b1: f32[2,2600]) -> (b5[%0*5200]: f32[2,2600])
                each %20 < 5200 {
                  %21: f32 = load b3[%0*15600 + %2*-5200 + %20 + 10400]
                  %22: f32 = load b5[%20 + %0*5200]
                  %23: f32 = max %22, %21
                  store b3[%0*15600 + %2*-5200 + %20 + 10400], %23
                }
                poll
              }
            }
          }
          launch @scan($0, $1, $2, $3, $4, $5) cost 43209
          return $3, $4
        }
    "#]].assert_eq(&text(Some(bands.clone())));
    // The largest array of a turn has 20,800 bytes, and a turn 2 x 8 x 2600 operations of either product, 4 for each of two
    // times 5200 others, of four that are broadcast and of four that are multiplied.
    let all = 6 * (2 * 20800 + 2 * 4 * 5200 + 2 * 16);
    let whole = text(None);
    let count = |bands: Bands| {
        let text = text(Some(bands));
        let found = [2, 3, 6].into_iter().find(|count| text.contains(&format!("each %0 < {count} {{")));
        assert_eq!(found.is_none(), text == whole, "{text}");
        found
    };
    let many = Bands { most: 8, ..bands };
    assert_eq!(count(many.clone()), Some(6));
    assert_eq!(count(Bands { bytes: 6 * 20800 - 1, ..many.clone() }), Some(3));
    assert_eq!(count(Bands { bytes: 2 * 20800 - 1, ..many.clone() }), None);
    assert_eq!(count(Bands { most: 5, ..many.clone() }), Some(3));
    assert_eq!([all, all + 1].map(|all| count(Bands { all, ..many.clone() })), [Some(6), None]);
}
