//! Sums at places of every kind against the reference.

use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_kernel::{AddAt, Library, LibraryCall, Program, Role, Slot, SlotId, Step, eval_program};
use tracewell_runtime::{Executable, Input};

fn program(add_at: AddAt, (dtype, len): (DType, usize), (index, count): (DType, usize)) -> Program {
    let types = [(dtype, len), (dtype, count), (index, count), (dtype, len)];
    let role = |i: usize| if i == 3 { Role::Output { reuse: None } } else { Role::Input(i) };
    let slot = |(i, (dtype, len)): (usize, (DType, usize))| Slot { dtype, len, role: role(i) };
    let mut inputs: Vec<(DType, Shape)> = types.map(|(dtype, len)| (dtype, Shape::from([len]))).into();
    let outputs = inputs.split_off(3);
    Program {
        name: "sums".to_owned(),
        slots: types.into_iter().enumerate().map(slot).collect(),
        kernels: vec![],
        steps: vec![Step::Call {
            call: LibraryCall { library: Library::AddAt(add_at), inputs, outputs },
            slots: [0, 1, 2, 3].map(SlotId).into(),
        }],
        results: vec![SlotId(3)],
        arena: 0,
    }
}

/// Numbers whose sums depend on their order, if they are floats.
fn numbers(dtype: DType, len: usize) -> Tensor {
    let number = |i: usize| match dtype.is_float() {
        true => Literal::from_f64(dtype, 1.0 / (i % 977 + 3) as f64),
        false => Literal::from_i64(dtype, (i as i64).wrapping_mul(0x1234_5678_9ABC_DEF1)),
    };
    let literals: Vec<Literal> = (0..len).map(number).collect();
    Tensor::from_literals(dtype, [len], &literals).expect("as many as asked for")
}

/// Indices of which some are outside, on both sides, and some as far as there are.
fn indices(dtype: DType, len: usize, count: usize) -> Tensor {
    let index = |i: usize| match i % 101 {
        0 => Literal::from_i64(dtype, i64::MIN),
        1 => Literal::from_i64(dtype, i64::MAX),
        2 => Literal::from_i64(dtype, i64::from(i32::MIN)),
        3 => Literal::from_i64(dtype, i64::from(i32::MAX)),
        _ => Literal::from_i64(dtype, (i as i64 * 7919) % (3 * len as i64) - len as i64),
    };
    let literals: Vec<Literal> = (0..count).map(index).collect();
    Tensor::from_literals(dtype, [count], &literals).expect("as many as asked for")
}

/// Few updates, and so many that threads share the array.
#[test]
fn every_type_and_rule() {
    let types = [DType::F32, DType::F64, DType::I32, DType::I64, DType::U32, DType::U8];
    let places = [DType::I32, DType::I64, DType::U32, DType::U8];
    for (len, count) in [(1, 0), (1, 9), (7, 40), (300, 1025), (1001, 20_000)] {
        for (k, dtype) in types.into_iter().enumerate() {
            for (j, index) in places.into_iter().enumerate() {
                let rule = k + j + len;
                let add_at = AddAt { from_back: rule % 2 == 0, drop: rule % 4 < 2 };
                let program = program(add_at, (dtype, len), (index, count));
                let inputs = [numbers(dtype, len), numbers(dtype, count), indices(index, len, count)];
                let expected = eval_program(&program, &inputs).expect("sums that evaluate");
                let executable = Executable::new(program, vec![(dtype, Shape::from([len]))]);
                let executable = executable.unwrap_or_else(|error| panic!("{error}"));
                let found = executable.run(&mut inputs.each_ref().map(Input::Lent)).expect("a run");
                assert_eq!(found[..], expected, "{add_at:?} of {dtype}[{len}], {count} at {index}");
            }
        }
    }
}
