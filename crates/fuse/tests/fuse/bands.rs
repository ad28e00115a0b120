//! Scans in bands of rows, as text.

use expect_test::expect;
use tracewell_fuse::{Bands, Options};

use crate::compositions;
use crate::support::program;

/// Rows that go their own way through a scan are two iterations that threads share, each with memory of its own where it
/// needs much.
#[test]
fn bands_of_rows() {
    let bands = Bands { rows: 2, turn: 1, all: 0, most: 2 };
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
    let bands = Bands { rows: 1, turn: 1, all: 0, most: 8 };
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
        let bands = Bands { rows: 1, turn: 1, all: 0, most };
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
    let least = Bands { rows: 1, turn: 1, all: 0, most: 8 };
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
