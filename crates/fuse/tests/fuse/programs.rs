//! The programs of small graphs, as text.

use expect_test::{Expect, expect};
use tracewell_fuse::Options;
use tracewell_graph::Graph;
use tracewell_graph::prim::*;

use crate::compositions::{self, Make};
use crate::support::program;

fn check(graph: &Graph, expected: Expect) {
    let options = Options { donated: vec![true; graph.inputs.len()], ..Options::default() };
    expected.assert_eq(&program("example", graph, &options).to_string());
}

/// Elementwise work is one loop, whatever the shape, in the memory of an argument that was given away.
#[test]
fn elementwise() {
    let mut m = Make::new();
    let (x, y) = (m.input(&[3, 5, 7]), m.input(&[3, 5, 7]));
    let sum = m.op(Add {}, &[&x, &y]);
    let flat = m.reshape(&sum, &[105]);
    let y = m.op(Mul {}, &[&flat, &flat]);
    check(
        &m.finish(&[&y]),
        expect![[r#"
            program @composition {
              $0: f32[105] = input 0
              $1: f32[105] = input 1
              $2: f32[105] = output reuse input 0
              kernel @add_mul(b0: f32, b1: f32, b2: mut f32) sizes 1 {
                each %0 < s0 {
                  %1: f32 = load b0[%0]
                  %2: f32 = load b1[%0]
                  %3: f32 = add %1, %2
                  %4: f32 = mul %3, %3
                  store b2[%0], %4
                }
              }
              launch @add_mul($0, $1, $2) sizes 105 cost 1
              return $2
            }
        "#]],
    );
}

/// Numbers that have nothing to do with each other are computed by one kernel, which reads all of them first: results are
/// in the memory of arguments that were given away, also of one that is read twice.
#[test]
fn numbers() {
    let mut m = Make::new();
    let (x, y, z) = (m.input(&[]), m.input(&[]), m.input(&[]));
    let outputs = [m.op(Neg {}, &[&x]), m.op(Mul {}, &[&y, &y]), m.op(Add {}, &[&z, &x])];
    check(
        &m.finish(&[&outputs[0], &outputs[1], &outputs[2]]),
        expect![[r#"
        program @composition {
          $0: f32[1] = input 0
          $1: f32[1] = input 1
          $2: f32[1] = input 2
          $3: f32[1] = output reuse input 0
          $4: f32[1] = output reuse input 1
          $5: f32[1] = output reuse input 2
          kernel @mul_and_1_more(b0: f32, b1: f32, b2: f32, b3: mut f32, b4: mut f32, b5: mut f32) {
            %0: f32 = load b1[0]
            %1: f32 = mul %0, %0
            %2: f32 = load b0[0]
            %3: f32 = load b2[0]
            %4: f32 = neg %2
            %5: f32 = add %3, %2
            store b4[0], %1
            store b5[0], %5
            store b3[0], %4
          }
          launch @mul_and_1_more($0, $1, $2, $3, $4, $5) cost 2
          return $3, $4, $5
        }
    "#]],
    );
}

/// A value that depends on the row alone is computed outside the loop over columns.
#[test]
fn broadcast() {
    let mut m = Make::new();
    let (x, s) = (m.input(&[30, 50]), m.input(&[30]));
    let s = m.op(Sqrt {}, &[&s]);
    let s = m.broadcast(&s, &[30, 50], &[0]);
    let y = m.op(Mul {}, &[&x, &s]);
    check(
        &m.finish(&[&y]),
        expect![[r#"
            program @composition {
              $0: f32[1500] = input 0
              $1: f32[30] = input 1
              $2: f32[1500] = output reuse input 0
              kernel @sqrt_mul(b0: f32, b1: f32, b2: mut f32) sizes 1 {
                each %0 < s0 {
                  %1: f32 = load b1[%0]
                  %2: f32 = sqrt %1
                  each %3 < 50 {
                    %4: f32 = load b0[%0*50 + %3]
                    %5: f32 = mul %4, %2
                    store b2[%0*50 + %3], %5
                  }
                }
              }
              launch @sqrt_mul($0, $1, $2) sizes 30 cost 16
              return $2
            }
        "#]],
    );
}

/// Both results of a step of an optimiser come from one loop.
#[test]
fn siblings() {
    check(
        &compositions::siblings(),
        expect![[r#"
            program @composition {
              $0: f32[12] = input 0
              $1: f32[12] = input 1
              $2: f32[12] = input 2
              $3: f32[12] = output reuse input 0
              $4: f32[12] = output reuse input 1
              kernel @mul_add_mul_sub(b0: f32, b1: f32, b2: f32, b3: mut f32, b4: mut f32) sizes 1 {
                each %0 < s0 {
                  %1: f32 = load b0[%0]
                  %2: f32 = load b1[%0]
                  %3: f32 = load b2[%0]
                  %4: f32 = const 0.9
                  %5: f32 = mul %3, %4
                  %6: f32 = add %5, %2
                  %7: f32 = const 0.1
                  %8: f32 = mul %6, %7
                  %9: f32 = sub %1, %8
                  store b3[%0], %9
                  store b4[%0], %6
                }
              }
              launch @mul_add_mul_sub($0, $1, $2, $4, $3) sizes 12 cost 1
              return $4, $3
            }
        "#]],
    );
}

/// Reductions, and what is between them, in one loop over rows.
#[test]
fn layernorm() {
    check(
        &compositions::layernorm(60, 190),
        expect![[r#"
            program @composition {
              $0: f32[11400] = input 0
              $1: f32[190] = input 1
              $2: f32[190] = input 2
              $3: f32[11400] = output reuse input 0
              kernel @reduce_sum_div_sub_sub_mul_reduce_sum_di(b0: f32, b1: f32, b2: f32, b3: mut f32) sizes 1 {
                each %0 < s0 {
                  %3: f32 = reduce add over %1 < 190 {
                    %2: f32 = load b0[%0*190 + %1]
                    yield %2
                  }
                  %4: f32 = const 190.0
                  %5: f32 = div %3, %4
                  %10: f32 = reduce add over %6 < 190 {
                    %7: f32 = load b0[%0*190 + %6]
                    %8: f32 = sub %7, %5
                    %9: f32 = mul %8, %8
                    yield %9
                  }
                  %11: f32 = div %10, %4
                  %12: f32 = const 1e-5
                  %13: f32 = add %11, %12
                  %14: f32 = sqrt %13
                  each %15 < 190 {
                    %16: f32 = load b0[%0*190 + %15]
                    %17: f32 = load b1[%15]
                    %18: f32 = load b2[%15]
                    %19: f32 = sub %16, %5
                    %20: f32 = div %19, %14
                    %21: f32 = mul %20, %17
                    %22: f32 = add %21, %18
                    store b3[%0*190 + %15], %22
                  }
                }
              }
              launch @reduce_sum_div_sub_sub_mul_reduce_sum_di($0, $1, $2, $3) sizes 60 cost 263
              return $3
            }
        "#]],
    );
}

/// Sums down columns walk along memory.
#[test]
fn columns() {
    check(
        &compositions::columns(90, 400),
        expect![[r#"
            program @composition {
              $0: f32[36000] = input 0
              $1: f32[90] = input 1
              $2: f32[400] = output
              kernel @mul_reduce_sum_reduce_max_add(b0: f32, b1: f32, b2: mut f32) sizes 10 {
                local b3: f32[1024]
                local b4: f32[1024]
                each %0 < s0 {
                  each %1 < s1 {
                    %2: f32 = const 0.0
                    store b3[%1], %2
                    %3: f32 = const -inf
                    store b4[%1], %3
                  }
                  for %4 < s2 {
                    each %5 < s1 {
                      %6: f32 = load b3[%5]
                      %7: f32 = load b4[%5]
                      %8: f32 = load b1[%4*4]
                      %9: f32 = load b0[%0*100 + %4*s3 + %5]
                      %10: f32 = mul %9, %8
                      %11: f32 = add %6, %10
                      %12: f32 = max %7, %9
                      %13: f32 = load b1[%4*4 + 1]
                      %14: f32 = load b0[%0*100 + %4*s3 + %5 + s4]
                      %15: f32 = mul %14, %13
                      %16: f32 = add %11, %15
                      %17: f32 = max %12, %14
                      %18: f32 = load b1[%4*4 + 2]
                      %19: f32 = load b0[%0*100 + %4*s3 + %5 + s5]
                      %20: f32 = mul %19, %18
                      %21: f32 = add %16, %20
                      %22: f32 = max %17, %19
                      %23: f32 = load b1[%4*4 + 3]
                      %24: f32 = load b0[%0*100 + %4*s3 + %5 + s6]
                      %25: f32 = mul %24, %23
                      %26: f32 = add %21, %25
                      %27: f32 = max %22, %24
                      store b3[%5], %26
                      store b4[%5], %27
                    }
                  }
                  for %28 < s7 {
                    %29: f32 = load b1[%28 + s8]
                    each %30 < s1 {
                      %31: f32 = load b3[%30]
                      %32: f32 = load b4[%30]
                      %33: f32 = load b0[%0*100 + %28*400 + %30 + s9]
                      %34: f32 = mul %33, %29
                      %35: f32 = add %31, %34
                      %36: f32 = max %32, %33
                      store b3[%30], %35
                      store b4[%30], %36
                    }
                  }
                  each %37 < s1 {
                    %38: f32 = load b3[%37]
                    %39: f32 = load b4[%37]
                    %40: f32 = add %38, %39
                    store b2[%0*100 + %37], %40
                  }
                }
              }
              launch @mul_reduce_sum_reduce_max_add($0, $1, $2) sizes 4, 100, 22, 1600, 400, 800, 1200, 2, 88, 35200 cost 3798
              return $2
            }
        "#]],
    );
}

/// A long sum is made of blocks.
#[test]
fn blocks() {
    check(
        &compositions::long_sum(70_000),
        expect![[r#"
            program @composition {
              $0: f64[70000] = input 0
              $1: f64[1] = output
              $2: f64[4] = temp at 0
              arena 64
              kernel @mul_reduce_sum(b0: f64, b1: mut f64) sizes 2 {
                each %0 < s0 {
                  %4: f64 = reduce add over %1 < s1 {
                    %2: f64 = load b0[%0*s1 + %1]
                    %3: f64 = mul %2, %2
                    yield %3
                  }
                  store b1[%0], %4
                }
              }
              kernel @mul_reduce_sum(b0: f64, b1: f64, b2: mut f64) sizes 3 {
                %3: f64 = reduce add over %0 < s0 {
                  %1: f64 = load b0[%0 + s1]
                  %2: f64 = mul %1, %1
                  yield %2
                }
                %6: f64 = reduce add over %4 < s2 {
                  %5: f64 = load b1[%4]
                  yield %5
                }
                %7: f64 = add %6, %3
                store b2[0], %7
              }
              launch @mul_reduce_sum#0($0, $2) sizes 4, 16384 cost 3933
              launch @mul_reduce_sum#1($0, $2, $1) sizes 4464, 65536, 4 cost 1073
              return $1
            }
        "#]],
    );
}

/// A row that is read twice is kept on the stack.
#[test]
fn kept_row() {
    let mut m = Make::new();
    let x = m.input(&[6, 100]);
    let scaled = m.fill(&x, 3.0);
    let e = m.op(Div {}, &[&x, &scaled]);
    let e = m.op(Sqrt {}, &[&e]);
    let total = m.sum(&e, &[1]);
    let total = m.broadcast(&total, &[6, 100], &[0]);
    let y = m.op(Div {}, &[&e, &total]);
    check(
        &m.finish(&[&y]),
        expect![[r#"
            program @composition {
              $0: f32[600] = input 0
              $1: f32[600] = output reuse input 0
              kernel @div_sqrt_reduce_sum_div(b0: f32, b1: mut f32) sizes 1 {
                local b2: f32[128]
                each %0 < s0 {
                  %1: f32 = const 3.0
                  each %2 < 100 {
                    %3: f32 = load b0[%0*100 + %2]
                    %4: f32 = div %3, %1
                    %5: f32 = sqrt %4
                    store b2[%2], %5
                  }
                  %8: f32 = reduce add over %6 < 100 {
                    %7: f32 = load b2[%6]
                    yield %7
                  }
                  each %9 < 100 {
                    %10: f32 = load b2[%9]
                    %11: f32 = div %10, %8
                    store b1[%0*100 + %9], %11
                  }
                }
              }
              launch @div_sqrt_reduce_sum_div($0, $1) sizes 6 cost 132
              return $1
            }
        "#]],
    );
}

/// A reshape between permutations is followed by finer loops.
#[test]
fn reshape() {
    let mut m = Make::new();
    let x = m.input(&[20, 30]);
    let split = m.reshape(&x, &[20, 3, 10]);
    let moved = m.permute(&split, &[1, 0, 2]);
    let y = m.reshape(&moved, &[60, 10]);
    let y = m.op(Neg {}, &[&y]);
    check(
        &m.finish(&[&y]),
        expect![[r#"
            program @composition {
              $0: f32[600] = input 0
              $1: f32[600] = output
              kernel @neg(b0: f32, b1: mut f32) sizes 1 {
                each %0 < s0 {
                  each %1 < 20 {
                    each %2 < 10 {
                      %3: f32 = load b0[%0*10 + %1*30 + %2]
                      %4: f32 = neg %3
                      store b1[%0*200 + %1*10 + %2], %4
                    }
                  }
                }
              }
              launch @neg($0, $1) sizes 3 cost 60
              return $1
            }
        "#]],
    );
}

/// A matrix product is called; what follows it is a kernel.
#[test]
fn product() {
    let mut m = Make::new();
    let (x, w, b) = (m.input(&[40, 60]), m.input(&[60, 50]), m.input(&[50]));
    let product = m.op(DotGeneral::matmul(), &[&x, &w]);
    let bias = m.broadcast(&b, &[40, 50], &[1]);
    let y = m.op(Add {}, &[&product, &bias]);
    check(
        &m.finish(&[&y]),
        expect![[r#"
            program @composition {
              $0: f32[2400] = input 0
              $1: f32[3000] = input 1
              $2: f32[50] = input 2
              $3: f32[2000] = output
              kernel @add(b0: f32, b1: f32, b2: mut f32) sizes 1 {
                each %0 < s0 {
                  each %1 < 50 {
                    %2: f32 = load b0[%1]
                    %3: f32 = load b1[%0*50 + %1]
                    %4: f32 = add %3, %2
                    store b2[%0*50 + %1], %4
                  }
                }
              }
              call gemm f32 batch [1,1] m 40 n 50 k 60 from 0 by [0,1,60,1], 0 by [0,1,50,1] ($0: f32[40,60], $1: f32[60,50]) -> ($3: f32[40,50])
              launch @add($2, $3, $3) sizes 40 cost 21
              return $3
            }
        "#]],
    );
}

/// Products with both sides of a large matrix are one kernel with what is between them; of a small one they are not.
#[test]
fn both_sides() {
    let graph = compositions::regression(4100, 64);
    expect![[r#"
        program @composition {
          $0: f32[262400] = input 0
          $1: f32[64] = input 1
          $2: f32[4100] = input 2
          $3: f32[4100] = temp at 0
          $4: f32[64] = output
          arena 16448
          kernel @sub_between_products(b0: f32, b1: f32, b2: f32, b3: own f32, b4: own f32) {
            call gemm f32 batch [1,1] m 4100 n 1 k 64 from 0 by [0,1,64,1], 0 by [0,1,1,1] (b0: f32[4100,64], b1: f32[64]) -> (b3: f32[4100])
            each %0 < 4100 {
              %1: f32 = load b2[%0]
              %2: f32 = load b3[%0]
              %3: f32 = sub %2, %1
              store b3[%0], %3
            }
            call gemm f32 batch [1,1] m 1 n 64 k 4100 from 0 by [0,1,1,1], 0 by [0,1,64,1] (b3: f32[4100], b0: f32[4100,64]) -> (b4: f32[64])
          }
          launch @sub_between_products($0, $1, $2, $3, $4) cost 1
          return $4
        }
    "#]].assert_eq(&program("regression", &graph, &Options::default()).to_string());
    let steps = |rows: usize, columns: usize| {
        let graph = compositions::regression(rows, columns);
        program("regression", &graph, &Options::default()).steps.len()
    };
    assert_eq!([steps(410, 64), steps(41_000, 8)], [3, 3]);
}

/// Products read queries and keys where they lie.
#[test]
fn parts_of_one_array() {
    check(
        &compositions::scores(false),
        expect![[r#"
        program @composition {
          $0: f32[4608] = input 0
          $1: f32[1152] = output
          call gemm f32 batch [2,4] m 12 n 12 k 16 from 64 by [2304,16,192,1], 128 by [2304,16,1,192] ($0: f32[2,12,192], $0: f32[2,12,192]) -> ($1: f32[2,4,12,12])
          return $1
        }
    "#]],
    );
}

/// What has to be computed for them is computed in the order in which they read it.
#[test]
fn parts_of_what_is_computed() {
    check(
        &compositions::scores(true),
        expect![[r#"
            program @composition {
              $0: f32[4608] = input 0
              $1: f32[1536] = temp at 0
              $2: f32[1536] = temp at 6144
              $3: f32[1152] = output
              arena 12288
              kernel @neg(b0: f32, b1: mut f32) sizes 3 {
                each %0 < s0 {
                  each %1 < 4 {
                    each %2 < 12 {
                      each %3 < 16 {
                        %4: f32 = load b0[%0*s1 + %1*16 + %2*192 + %3 + 64]
                        %5: f32 = neg %4
                        store b1[%0*s2 + %1*192 + %2*16 + %3], %5
                      }
                    }
                  }
                }
              }
              kernel @neg(b0: f32, b1: mut f32) sizes 3 {
                each %0 < s0 {
                  each %1 < 4 {
                    each %2 < 12 {
                      each %3 < 16 {
                        %4: f32 = load b0[%0*s1 + %1*16 + %2*192 + %3 + 128]
                        %5: f32 = neg %4
                        store b1[%0*s2 + %1*192 + %2*16 + %3], %5
                      }
                    }
                  }
                }
              }
              launch @neg#0($0, $1) sizes 2, 2304, 768 cost 231
              launch @neg#1($0, $2) sizes 2, 2304, 768 cost 231
              call gemm f32 batch [1,8] m 12 n 12 k 16 from 0 by [0,192,16,1], 0 by [0,192,1,16] ($1: f32[2,4,12,16], $2: f32[2,4,12,16]) -> ($3: f32[2,4,12,12])
              return $3
            }
        "#]],
    );
}

/// Kernels and bytes of scratch of a program.
fn counts(graph: &Graph) -> (usize, usize) {
    let program = program("example", graph, &Options::default());
    (program.kernels.len(), program.arena)
}

/// Reductions along the last axis join their kernel, whatever the rank, and however short the axes around them are.
#[test]
fn softmax_of_any_rank_is_one_kernel() {
    for shape in [&[48, 3000][..], &[2, 24, 3000], &[2, 3, 8, 3000], &[3, 1, 2, 8, 3000]] {
        assert_eq!(counts(&compositions::softmax(shape)), (1, 0), "softmax of {shape:?}");
    }
}

/// Several rows are combined at once where a wide loop has pointers for all of them: not for four sums of two arrays.
#[test]
fn rows_at_once_have_pointers() {
    let loads_of = |sums: usize| {
        let mut m = Make::new();
        let (x, y) = (m.input(&[96, 400]), m.input(&[96, 400]));
        let (both, square) = (m.op(Mul {}, &[&x, &y]), m.op(Mul {}, &[&x, &x]));
        let all = [&x, &y, &both, &square].map(|array| m.sum(array, &[0]));
        let mut total = all[0].clone();
        for sum in &all[1..sums] {
            total = m.op(Add {}, &[&total, sum]);
        }
        let graph = m.finish(&[&total]);
        let options = Options { donated: vec![false; 2], ..Options::default() };
        let text = program("example", &graph, &options).to_string();
        (text.matches("kernel @").count(), text.matches("load b0[").count())
    };
    assert_eq!((loads_of(2), loads_of(4)), ((1, 4), (1, 1)));
}

/// What is only another view of an array is read at many places of one kernel, without a copy.
#[test]
fn many_parts_of_a_view_need_no_copy() {
    let mut m = Make::new();
    let x = m.input(&[20, 300]);
    let turned = m.permute(&x, &[1, 0]);
    let part = |m: &mut Make, k: usize| {
        m.op(Slice { start: vec![0, k], limit: vec![300, k + 1], step: vec![1, 1] }, &[&turned])
    };
    let mut sum = part(&mut m, 0);
    for k in 1..20 {
        let next = part(&mut m, k);
        sum = m.op(Add {}, &[&sum, &next]);
    }
    assert_eq!(counts(&m.finish(&[&sum])), (1, 0));
}

/// Rows are normalised where they are: each is read to its end before it is overwritten.
#[test]
fn rows_in_place() {
    check(
        &compositions::softmax(&[40, 30]),
        expect![[r#"
            program @composition {
              $0: f32[1200] = input 0
              $1: f32[1200] = output reuse input 0
              kernel @reduce_max_sub_exp_reduce_sum_div(b0: f32, b1: mut f32) sizes 1 {
                local b2: f32[32]
                each %0 < s0 {
                  %3: f32 = reduce max over %1 < 30 {
                    %2: f32 = load b0[%0*30 + %1]
                    yield %2
                  }
                  each %4 < 30 {
                    %5: f32 = load b0[%0*30 + %4]
                    %6: f32 = sub %5, %3
                    %7: f32 = const 1.0
                    %8: f32 = const 0.0
                    %9: f32 = const -104.0
                    %10: bool = lt %6, %9
                    %11: f32 = const 89.0
                    %12: bool = lt %11, %6
                    %13: f32 = select %12, %11, %6
                    %14: f32 = select %10, %8, %13
                    %15: f32 = const 1.442695
                    %16: f32 = const 12582912.0
                    %17: f32 = fma %14, %15, %16
                    %18: f32 = sub %17, %16
                    %19: f32 = const -0.6931472
                    %20: f32 = const 1.9046542e-9
                    %21: f32 = fma %18, %19, %14
                    %22: f32 = fma %18, %20, %21
                    %23: f32 = const 0.0013839651
                    %24: f32 = const 0.008369205
                    %25: f32 = fma %23, %22, %24
                    %26: f32 = const 0.0416681
                    %27: f32 = fma %25, %22, %26
                    %28: f32 = const 0.16666517
                    %29: f32 = fma %27, %22, %28
                    %30: f32 = const 0.49999994
                    %31: f32 = fma %29, %22, %30
                    %32: f32 = mul %22, %22
                    %33: f32 = mul %32, %31
                    %34: f32 = add %22, %33
                    %35: f32 = add %7, %34
                    %36: f32 = const 0.5
                    %37: f32 = fma %18, %36, %16
                    %38: i32 = bitcast %17
                    %39: i32 = bitcast %37
                    %40: i32 = sub %38, %39
                    %41: i32 = const 23
                    %42: i32 = shl %39, %41
                    %43: i32 = const 1065353216
                    %44: i32 = add %42, %43
                    %45: f32 = bitcast %44
                    %46: i32 = shl %40, %41
                    %47: i32 = add %46, %43
                    %48: f32 = bitcast %47
                    %49: f32 = mul %35, %45
                    %50: f32 = mul %49, %48
                    %51: f32 = scaled %50, %35, %18
                    %52: f32 = select %10, %8, %51
                    store b2[%4], %52
                  }
                  %55: f32 = reduce add over %53 < 30 {
                    %54: f32 = load b2[%53]
                    yield %54
                  }
                  each %56 < 30 {
                    %57: f32 = load b2[%56]
                    %58: f32 = div %57, %55
                    store b1[%0*30 + %56], %58
                  }
                }
              }
              launch @reduce_max_sub_exp_reduce_sum_div($0, $1) sizes 40 cost 87
              return $1
            }
        "#]],
    );
}

/// What is needed only before a result is written lies in the result's memory.
#[test]
fn scratch_in_results() {
    let kept = Options { donated: Vec::new(), ..Options::default() };
    expect![[r#"
        program @composition {
          $0: f32[1024] = input 0
          $1: f32[1024] = input 1
          $2: f32[1024] = temp at 0 of $4
          $3: f32[1024] = temp at 0
          $4: f32[1024] = output
          arena 4096
          call gemm f32 batch [1,1] m 32 n 32 k 32 from 0 by [0,1,32,1], 0 by [0,1,32,1] ($0: f32[32,32], $1: f32[32,32]) -> ($2: f32[32,32])
          call gemm f32 batch [1,1] m 32 n 32 k 32 from 0 by [0,1,32,1], 0 by [0,1,32,1] ($2: f32[32,32], $2: f32[32,32]) -> ($3: f32[32,32])
          call gemm f32 batch [1,1] m 32 n 32 k 32 from 0 by [0,1,32,1], 0 by [0,1,32,1] ($3: f32[32,32], $3: f32[32,32]) -> ($4: f32[32,32])
          return $4
        }
    "#]].assert_eq(&program("example", &compositions::squares(), &kept).to_string());
}
