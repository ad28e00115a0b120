//! JAX's times on another machine, by another program: whether we measure it as it is.

use super::row::Row;
use super::table;

/// Milliseconds of JAX 0.10.2 on one thread and on two, on 2 cores with AVX-512 (48 KiB and 2 MiB of caches each) that
/// multiplied and added at 170 GFLOP/s of f32, copied memory at 13 GB/s and called Python in twice the time.
const TIMES: &[(&str, [f64; 2])] = &[
    ("multiply_add_1e4", [0.0344, 0.025]),
    ("multiply_add_1e6", [0.76, 0.44]),
    ("multiply_add_1e7", [24.2, 19.8]),
    ("multiply_add_1e4_donate", [0.0301, 0.0176]),
    ("multiply_add_1e6_donate", [0.591, 0.348]),
    ("multiply_add_1e7_donate", [6.83, 3.45]),
    ("chain_1e6", [12.9, 6.79]),
    ("exp_1e6", [0.65, 0.42]),
    ("log_1e6", [0.86, 0.472]),
    ("tanh_1e6", [0.499, 0.37]),
    ("sin_1e6", [9.94, 5.31]),
    ("sigmoid_1e6", [0.762, 0.419]),
    ("erf_1e6", [0.587, 0.32]),
    ("gelu_1e6", [1.79, 0.859]),
    ("black_scholes_1e6", [3.71, 2.5]),
    ("sum_all_4096", [2.82, 1.66]),
    ("sum_rows_4096", [3.1, 1.83]),
    ("sum_cols_4096", [4.29, 3.27]),
    ("mean_all_4096", [3.01, 1.65]),
    ("mean_rows_4096", [2.87, 1.6]),
    ("mean_cols_4096", [4.23, 3.27]),
    ("max_all_4096", [3.65, 1.92]),
    ("max_rows_4096", [2.91, 1.57]),
    ("max_cols_4096", [4.1, 2.51]),
    ("softmax_rows_1024", [1.27, 0.703]),
    ("layernorm_rows_1024", [1.16, 0.761]),
    ("logsumexp_rows_1024", [0.861, 0.498]),
    ("matmul_f32_64", [0.0345, 0.0362]),
    ("matmul_f32_256", [0.249, 0.326]),
    ("matmul_f32_512", [2.41, 1.48]),
    ("matmul_f32_1024", [20.4, 11.3]),
    ("matmul_f32_2048", [136.0, 82.6]),
    ("matmul_f64_1024", [48.3, 23.3]),
    ("batched_matmul_64", [0.546, 0.504]),
    ("matvec_4096", [2.88, 1.67]),
    ("mlp_forward", [1.17, 1.15]),
    ("mlp_step", [3.48, 2.65]),
    ("conv3x3", [8.06, 9.63]),
    ("cnn_forward", [11.1, 12.2]),
    ("cnn_step", [59.1, 58.4]),
    ("scan_rnn_b1", [1.11, 1.26]),
    ("scan_rnn_b32", [15.1, 14.6]),
    ("nbody_2048", [124.0, 111.0]),
    ("nbody_2048_rsqrt", [151.0, 107.0]),
    ("nbody_2048_planar", [43.1, 29.5]),
    ("quat_rotate_1e5", [1.14, 0.808]),
    ("vmap_grad_1e5", [7.88, 4.41]),
    ("newton_cg", [75.9, 49.9]),
    ("transformer_forward", [10.7, 6.63]),
    ("transformer_grad", [32.1, 21.2]),
    ("dispatch_scalar_add", [0.0122, 0.0128]),
    ("dispatch_add_4", [0.0121, 0.0121]),
    ("dispatch_number", [0.0104, 0.0149]),
    ("dispatch_20_to_1", [0.0197, 0.0204]),
    ("dispatch_20_to_20", [0.06, 0.0863]),
    ("dispatch_chained_100", [0.92, 0.823]),
    ("eager_add", [0.0151, 0.0146]),
    ("asarray_1e6", [0.524, 0.887]),
    ("gather_1e6", [0.958, 0.547]),
    ("gather_1e6_in_bounds", [0.805, 0.594]),
    ("gather_rows_1e6x16", [36.5, 27.9]),
    ("scatter_add_1e6", [1.95, 1.92]),
    ("random_normal_1e6", [11.5, 6.84]),
    ("random_uniform_1e6", [10.8, 5.69]),
];

/// From which factor on a difference needs a reason.
const APART: f64 = 1.5;

/// A table of the rows that took JAX much more or much less time there.
pub(super) fn apart(rows: &[&Row]) -> String {
    let head = ["program", "here", "there", "factor"];
    let line = |row: &&Row| {
        let there = 1e-3 * there(&row.name, row.threads)?;
        let here = row.theirs.seconds?;
        let factor = there / here;
        let is_apart = !(1.0 / APART..=APART).contains(&factor);
        let cells = [row.name.clone(), table::time(here), table::time(there), table::two_digits(factor)];
        is_apart.then(|| cells.to_vec())
    };
    table::table(&head, rows.iter().filter_map(line))
}

fn there(name: &str, threads: usize) -> Option<f64> {
    let (_, times) = TIMES.iter().find(|(known, _)| *known == name)?;
    times.get(threads.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::performance::row::Side;

    #[test]
    fn rows_that_are_apart_are_named() {
        let row = |name: &str, threads, seconds| Row {
            name: name.to_string(),
            threads,
            theirs: Side { seconds: Some(seconds), ..Side::default() },
            ..Row::default()
        };
        // 0.65 ms there on one thread, 0.42 ms on two.
        let rows = [
            row("exp_1e6", 1, 0.5e-3),
            row("exp_1e6", 2, 0.2e-3),
            row("exp_1e6", 3, 1.0),
            row("exp_1e6", 2, 0.7e-3),
            row("exp", 1, 1.0),
        ];
        let text = apart(&rows.iter().collect::<Vec<_>>());
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(lines, ["| exp_1e6 | 200 µs | 420 µs | 2.10 |", "| exp_1e6 | 700 µs | 420 µs | 0.60 |"]);
    }
}
