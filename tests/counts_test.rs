//! Speed without clocks: what twenty programs cost, in numbers that no noise moves. Alone in its program, because it
//! counts allocations.
//!
//! `UPDATE_EXPECT=1 cargo test -p tests --test counts` writes them anew: each that grew wants a reason.

#[path = "allocator.rs"]
mod allocator;
#[path = "counts/program.rs"]
mod program;
#[path = "counts/workloads.rs"]
mod workloads;

use expect_test::expect;

#[test]
fn what_programs_cost() {
    let mut table = format!(
        "{:22} {:>7} {:>5} {:>11} {:>9} {:>5} {:>11}\n",
        "", "kernels", "calls", "bytes moved", "scratch", "inner", "allocations"
    );
    workloads::each(&mut |name, counts| {
        table += &format!("{name:22} {counts}\n");
    });
    expect![[r#"
                               kernels calls bytes moved   scratch inner allocations
        multiply_add                 1     0       65536         0     6           1
        transcendental_chain         1     0       32768         0   280           1
        gelu                         1     0       32768         0    69           1
        black_scholes                1     0       65536         0   222           3
        sum                          1     0       16388         0     1           1
        column_means                 1     0       16640         0    15           2
        softmax                      1     0       32768         0    54           1
        layer_norm                   1     0       32768         0     8           1
        logsumexp                    1     0       16640         0    49           2
        variance                     1     0       16640         0     4           2
        matmul_transposed            0     1       49152         0     0           1
        dense_layer                  1     1       65792         0     5           1
        dense_gradient               1     2      114688     16384    48           1
        attention                    1     2      114688     16384    56           1
        n_body                       1     0        3072         0    20           1
        pairwise_distances           1     0        4608         0    16           2
        recurrence                   1     0       25088         0    52           2
        vmap_gradient                1     0       32768         0   181           1
        hessian_product              1     2       34048       256     3           2
        shifted_differences          1     0       32760         0     8           1
    "#]]
    .assert_eq(&table);
}
