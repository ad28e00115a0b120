//! Matrix products of every kind against plain loops.

use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_kernel::{
    Gemm, Library, LibraryCall, Matrices, Program, Role, Slot, SlotId, Step, eval_program,
};
use tracewell_runtime::{Executable, Input};

fn product(gemm: Gemm, lens: [usize; 2]) -> Executable {
    let out = Shape::from([gemm.count(), gemm.m, gemm.n]);
    let slot = |len, role| Slot { dtype: gemm.dtype, len, role };
    let flat = |len: usize| (gemm.dtype, Shape::from([len]));
    let program = Program {
        name: "product".to_owned(),
        slots: vec![
            slot(lens[0], Role::Input(0)),
            slot(lens[1], Role::Input(1)),
            slot(out.len(), Role::Output { reuse: None }),
        ],
        kernels: vec![],
        steps: vec![Step::Call {
            call: LibraryCall {
                library: Library::Gemm(gemm),
                inputs: lens.map(flat).into(),
                outputs: vec![(gemm.dtype, out.clone())],
            },
            slots: [0, 1, 2].map(SlotId).into(),
        }],
        results: vec![SlotId(2)],
        arena: 0,
    };
    Executable::new(program, vec![(gemm.dtype, out)]).unwrap_or_else(|error| panic!("{error}"))
}

/// Small whole numbers: every sum is exact, whatever its order.
fn numbers(dtype: DType, len: usize) -> Tensor {
    let literals: Vec<Literal> =
        (0..len).map(|i| Literal::from_i64(dtype, (i as i64 * 7919) % 11 - 4)).collect();
    Tensor::from_literals(dtype, [len], &literals).expect("as many as asked for")
}

#[test]
fn every_size_and_layout() {
    for &dtype in DType::REAL.iter().filter(|dtype| !dtype.is_bool()) {
        for (m, n, k) in [
            (1, 1, 1),
            (3, 4, 5),
            (1, 7, 9),
            (7, 1, 9),
            (2, 3, 0),
            (0, 2, 2),
            (17, 33, 20),
            (5, 1, 0),
            (4, 1, 64),
        ] {
            for batch in [0, 1, 3] {
                for transposed in 0..4 {
                    let lie = |rows: usize, columns: usize, is_transposed: bool| {
                        let (row, col) = if is_transposed { (1, rows) } else { (columns, 1) };
                        Matrices::new(rows * columns, row, col)
                    };
                    let (a, b) = (lie(m, k, transposed & 1 == 1), lie(k, n, transposed & 2 == 2));
                    let gemm = Gemm { dtype, batch: [1, batch], m, n, k, a, b };
                    let executable = product(gemm, [batch * m * k, batch * k * n]);
                    let inputs = [numbers(dtype, batch * m * k), numbers(dtype, batch * k * n)];
                    let expected =
                        eval_program(executable.program(), &inputs).expect("a product that evaluates");
                    let found = executable.run(&mut inputs.each_ref().map(Input::Lent)).expect("a run");
                    assert_eq!(
                        found[0].reshape([batch * m * n]).expect("as many"),
                        expected[0],
                        "{dtype} {batch} {m} {n} {k} {transposed}"
                    );
                }
            }
        }
    }
}

/// One operand for the whole batch.
#[test]
fn broadcast() {
    let (a, b) = (Matrices::new(450, 50, 1), Matrices::new(0, 10, 1));
    let gemm = Gemm { dtype: DType::F64, batch: [1, 40], m: 9, n: 10, k: 50, a, b };
    let executable = product(gemm, [40 * 450, 500]);
    let inputs = [numbers(DType::F64, 40 * 450), numbers(DType::F64, 500)];
    let expected = eval_program(executable.program(), &inputs).expect("a product that evaluates");
    let found = executable.run(&mut inputs.each_ref().map(Input::Lent)).expect("a run");
    assert_eq!(found[0].reshape([3600]).expect("as many"), expected[0]);
}

/// A batch along two axes, of columns of larger arrays, on one thread and on several.
#[test]
fn parts_of_arrays() {
    for &dtype in &[DType::F32, DType::I32] {
        for (outer, inner, m, n, k) in
            [(2, 3, 5, 7, 4), (3, 2, 20, 33, 16), (4, 8, 64, 48, 32), (2, 2, 1, 9, 40)]
        {
            let (wide, deep) = (3 * inner * k, 2 * inner * n);
            let a = Matrices { start: k, batch: [m * wide, 3 * k], row: wide, col: 1 };
            let b = Matrices { start: inner * n, batch: [k * deep, n], row: deep, col: 1 };
            let gemm = Gemm { dtype, batch: [outer, inner], m, n, k, a, b };
            let inputs = [numbers(dtype, outer * m * wide), numbers(dtype, outer * k * deep)];
            let executable = product(gemm, inputs.each_ref().map(Tensor::len));
            let expected = eval_program(executable.program(), &inputs).expect("a product that evaluates");
            let found = executable.run(&mut inputs.each_ref().map(Input::Lent)).expect("a run");
            let found = found[0].reshape([outer * inner * m * n]).expect("as many");
            assert_eq!(found, expected[0], "{dtype} {outer} {inner} {m} {n} {k}");
        }
    }
}

/// Rounding does not depend on which thread does what.
#[test]
fn runs_agree_to_the_bit() {
    for (batch, m, n, k) in
        [(1, 150, 140, 130), (12, 64, 64, 64), (3, 130, 128, 128), (1, 1000, 1, 700), (2, 1, 1001, 700)]
    {
        let (a, b) = (Matrices::new(m * k, k, 1), Matrices::new(k * n, n, 1));
        let whole = Gemm { dtype: DType::F32, batch: [1, batch], m, n, k, a, b };
        let values =
            |len: usize, seed: usize| Tensor::from_fn([len], |i| ((i * 7919 + seed) % 1013) as f32 * 0.37);
        let (a, b) = (values(batch * m * k, 1), values(batch * k * n, 5));
        let executable = product(whole, [a.len(), b.len()]);
        let first = executable.run(&mut [Input::Lent(&a), Input::Lent(&b)]).expect("a run");
        for _ in 0..5 {
            assert_eq!(executable.run(&mut [Input::Lent(&a), Input::Lent(&b)]).expect("a run"), first);
        }
    }
}
