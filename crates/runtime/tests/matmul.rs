//! Matrix products of every kind against plain loops.

use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_kernel::{Gemm, Library, LibraryCall, Program, Role, Slot, SlotId, Step, eval_program};
use tracewell_runtime::{Executable, Input};

fn product(gemm: Gemm, lens: [usize; 2]) -> Executable {
    let out = Shape::from([gemm.batch, gemm.m, gemm.n]);
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
                    let a = if transposed & 1 == 0 { [m * k, k, 1] } else { [m * k, 1, m] };
                    let b = if transposed & 2 == 0 { [k * n, n, 1] } else { [k * n, 1, k] };
                    let executable =
                        product(Gemm { dtype, batch, m, n, k, a, b }, [batch * m * k, batch * k * n]);
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
    let gemm = Gemm { dtype: DType::F64, batch: 40, m: 9, n: 10, k: 50, a: [450, 50, 1], b: [0, 10, 1] };
    let executable = product(gemm, [40 * 450, 500]);
    let inputs = [numbers(DType::F64, 40 * 450), numbers(DType::F64, 500)];
    let expected = eval_program(executable.program(), &inputs).expect("a product that evaluates");
    let found = executable.run(&mut inputs.each_ref().map(Input::Lent)).expect("a run");
    assert_eq!(found[0].reshape([3600]).expect("as many"), expected[0]);
}

/// Rounding does not depend on which thread does what.
#[test]
fn runs_agree_to_the_bit() {
    for (batch, m, n, k) in
        [(1, 150, 140, 130), (12, 64, 64, 64), (3, 130, 128, 128), (1, 1000, 1, 700), (2, 1, 1001, 700)]
    {
        let whole = Gemm { dtype: DType::F32, batch, m, n, k, a: [m * k, k, 1], b: [k * n, n, 1] };
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
