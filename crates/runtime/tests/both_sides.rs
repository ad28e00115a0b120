//! A matrix that is multiplied from both sides, in one go and one after the other.

mod common;

use common::other_widths;
use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_codegen::{Target, Width, compile};
use tracewell_kernel::{Kernel, Program, Role, Slot, SlotId, Step};
use tracewell_runtime::{Executable, Input};

/// Three steps `w += Aᵀ (A w - y)`: a kernel whose loop calls.
fn descent(dtype: DType, rows: usize, columns: usize) -> Kernel {
    let text = "kernel @descent(b0: T, b1: T, b2: own T, b3: own T, b4: own T) {
            for %turn < 3 {
                call gemm T batch [1,1] m R n 1 k C from 0 by [0,1,C,1], 0 by [0,1,1,1] (b0: T[R,C], b2: T[C]) -> (b3: T[R])
                each %i < R {
                    %x: T = load b3[%i]
                    %y: T = load b1[%i]
                    %z: T = sub %x, %y
                    store b3[%i], %z
                }
                call gemm T batch [1,1] m 1 n C k R from 0 by [0,1,1,1], 0 by [0,1,C,1] (b3: T[R], b0: T[R,C]) -> (b4: T[C])
                each %j < C {
                    %v: T = load b2[%j]
                    %d: T = load b4[%j]
                    %n: T = sub %v, %d
                    store b2[%j], %n
                }
                poll
            }
        }";
    let text = text.replace('R', &rows.to_string()).replace('C', &columns.to_string());
    text.replace('T', dtype.name()).parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn program(dtype: DType, rows: usize, columns: usize) -> Program {
    let lens = [rows * columns, rows, columns, rows, columns];
    let role = |k: usize| match k {
        0 | 1 => Role::Input(k),
        2 => Role::Output { reuse: None },
        3 => Role::Temp { of: None, offset: 0 },
        _ => Role::Temp { of: None, offset: rows.next_multiple_of(64) * dtype.size() },
    };
    let slot = |(k, len): (usize, usize)| Slot { dtype, len, role: role(k) };
    let fill: Kernel = format!(
        "kernel @fill(b0: mut {0}) {{ each %i < {columns} {{ %x: {0} = const 0.0 store b0[%i], %x }} }}",
        dtype.name()
    )
    .parse()
    .expect("a kernel");
    let launch = |kernel: usize, slots: &[u32]| Step::Launch {
        kernel,
        slots: slots.iter().map(|&slot| SlotId(slot)).collect(),
        sizes: Vec::new(),
        cost: 1,
    };
    Program {
        name: "descent".to_owned(),
        slots: lens.into_iter().enumerate().map(slot).collect(),
        kernels: vec![fill.into(), descent(dtype, rows, columns).into()],
        steps: vec![launch(0, &[2]), launch(1, &[0, 1, 2, 3, 4])],
        results: vec![SlotId(2)],
        arena: (rows.next_multiple_of(64) + columns) * dtype.size(),
    }
}

/// In one part and in several, at every width, to the same bits.
#[test]
fn a_loop_reads_its_matrix_once() {
    for (dtype, rows, columns) in [(DType::F32, 70, 30), (DType::F32, 2001, 300), (DType::F64, 9000, 64)] {
        let numbers = |len: usize, scale: f64| {
            let number =
                |i: usize| Literal::from_f64(dtype, ((i * 7919 % 1013) as f64 / 1013.0 - 0.5) * scale);
            Tensor::from_literals(dtype, [len], &(0..len).map(number).collect::<Vec<_>>())
                .expect("as many as asked for")
        };
        let inputs = [numbers(rows * columns, 0.05), numbers(rows, 1.0)];
        let types = || vec![(dtype, Shape::from([columns]))];
        let run = |executable: Executable| {
            let mut lent = inputs.each_ref().map(Input::Lent);
            executable.run(&mut lent).unwrap_or_else(|error| panic!("{error}"))[0].clone()
        };
        let ours = run(Executable::new(program(dtype, rows, columns), types()).expect("it compiles"));
        assert!(ours.literals().all(|x| x.as_f64().is_finite() && x.as_f64() != 0.0));
        for target in other_widths() {
            let other = Executable::on(program(dtype, rows, columns), types(), &target).expect("it compiles");
            assert_eq!(run(other), ours, "{dtype} {rows} {columns} {target:?}");
        }
    }
}

/// Where there are vectors of 512 bits, it is one call, with an `each` of its own.
#[test]
fn a_loop_makes_one_call_of_both_products() {
    let calls = |target: &Target| {
        let code =
            compile(&descent(DType::F32, 70, 30), &target.with_text()).expect("a kernel that compiles");
        code.clif.expect("text was asked for").matches("call_indirect").count()
    };
    for target in other_widths().iter().chain([Target::host()]) {
        assert_eq!(calls(target), if target.width() == Width::W512 { 1 } else { 2 }, "{target:?}");
    }
}
