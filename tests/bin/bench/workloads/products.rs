//! Products of matrices and vectors.

use tracewell::prelude::*;

use super::ROUNDING;
use crate::beside::{Program, Work, in_numpy};
use crate::inputs::{floats, on};

pub(super) const PROGRAMS: &[Program] = &[
    of_matrices("matmul_f32_64", 64, || squares(64, F32)),
    of_matrices("matmul_f32_128", 128, || squares(128, F32)),
    of_matrices("matmul_f32_256", 256, || squares(256, F32)),
    of_matrices("matmul_f32_512", 512, || squares(512, F32)),
    of_matrices("matmul_f32_1024", 1024, || squares(1024, F32)),
    of_matrices("matmul_f32_2048", 2048, || squares(2048, F32)),
    of_matrices("matmul_f64_64", 64, || squares(64, F64)).doubles(),
    of_matrices("matmul_f64_128", 128, || squares(128, F64)).doubles(),
    of_matrices("matmul_f64_256", 256, || squares(256, F64)).doubles(),
    of_matrices("matmul_f64_512", 512, || squares(512, F64)).doubles(),
    of_matrices("matmul_f64_1024", 1024, || squares(1024, F64)).doubles(),
    of_matrices("matmul_f64_2048", 2048, || squares(2048, F64)).doubles(),
    in_numpy("batched_matmul_64", ROUNDING, || {
        on([floats([64, 64, 64], 1), floats([64, 64, 64], 2)], |[a, b]| matmul(a, b))
    })
    .flops(2.0 * 64.0 * 64.0 * 64.0 * 64.0),
    in_numpy("matvec_4096", ROUNDING, || on([floats([4096, 4096], 1), floats([4096], 2)], |[a, x]| a.dot(x)))
        .flops(2.0 * 4096.0 * 4096.0),
];

const fn of_matrices(name: &'static str, size: u64, make: fn() -> Work) -> Program {
    in_numpy(name, ROUNDING, make).flops(2.0 * (size * size * size) as f64)
}

fn squares(size: usize, dtype: DType) -> Work {
    let matrix = |seed| floats([size, size], seed).convert(dtype);
    on([matrix(1), matrix(2)], |[a, b]| a.dot(b))
}
