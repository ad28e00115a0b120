//! Fourier transforms against the sums that define them.

use tracewell_array::{Complex64, DType, Literal, Shape, Tensor};
use tracewell_kernel::{Fft, FftKind, Library, LibraryCall, Program, Role, Slot, SlotId, Step, in_memory};
use tracewell_runtime::{Executable, Input};

fn executable(fft: &Fft, dtype: DType, shape: &Shape) -> Executable {
    let result = fft.result(shape).expect("a shape that fits");
    let complex = dtype.complex().expect("a float");
    let side = |real: bool, shape: &Shape| (if real { dtype } else { complex }, shape.clone());
    let (from, to) = (side(fft.kind.takes_real(), shape), side(fft.kind.gives_real(), &result));
    let slot = |ty: &(DType, Shape), role| {
        let (dtype, shape) = in_memory(ty.0, &ty.1);
        Slot { dtype, len: shape.len(), role }
    };
    let program = Program {
        name: "transform".to_owned(),
        slots: vec![slot(&from, Role::Input(0)), slot(&to, Role::Output { reuse: None })],
        kernels: vec![],
        steps: vec![Step::Call {
            call: LibraryCall {
                library: Library::Fft(fft.clone()),
                inputs: vec![from],
                outputs: vec![to.clone()],
            },
            slots: [0, 1].map(SlotId).into(),
        }],
        results: vec![SlotId(1)],
        arena: 0,
    };
    Executable::new(program, vec![to]).unwrap_or_else(|error| panic!("{error}"))
}

/// Numbers without a pattern, of size 1.
fn numbers(dtype: DType, shape: &Shape) -> Tensor {
    let number = |i: usize| ((i as f64 * 12.9898 + 1.0).sin() * 43758.5453).fract();
    let literals: Vec<Literal> = (0..shape.len())
        .map(|i| match dtype.is_complex() {
            true => Literal::from_complex(dtype, Complex64::new(number(2 * i), number(2 * i + 1))),
            false => Literal::from_f64(dtype, number(i)),
        })
        .collect();
    Tensor::from_literals(dtype, shape, &literals).expect("one literal for each element")
}

fn check(kind: FftKind, lengths: &[usize], front: &[usize], dtype: DType) {
    let fft = Fft { kind, lengths: lengths.to_vec() };
    let [from, _] = fft.sizes();
    let shape: Shape = front.iter().chain(&from).copied().collect();
    let part = if kind.takes_real() { dtype } else { dtype.complex().expect("a float") };
    let x = numbers(part, &shape);
    let found = executable(&fft, dtype, &shape).run(&mut [Input::Lent(&x)]).expect("a run").remove(0);
    let values: Vec<Complex64> = x.literals().map(Literal::as_complex).collect();
    let expected = fft.naive(&shape, &values);
    let epsilon = if dtype == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    let count: f64 = lengths.iter().map(|&n| n as f64).product();
    // An error of each step, of which there are as many as the length has bits.
    let size = if kind.is_inverse() { 1.0 } else { count.sqrt() };
    let allowed = 16.0 * epsilon * size * (2.0 + count.log2().max(0.0));
    assert_eq!(found.len(), expected.len());
    for (i, (x, y)) in found.literals().zip(expected).enumerate() {
        let error = (x.as_complex() - y).norm();
        assert!(error <= allowed, "{kind:?} {lengths:?} {front:?} {dtype}, element {i}: {x}, expected {y}");
    }
}

#[test]
fn every_length_and_number_of_axes() {
    for dtype in [DType::F32, DType::F64] {
        for kind in FftKind::ALL {
            for n in (1..=20).chain([29, 31, 32, 37, 64, 97, 100, 128, 251]) {
                check(kind, &[n], &[], dtype);
                check(kind, &[n], &[3], dtype);
            }
            for lengths in [&[2, 3][..], &[5, 4], &[4, 1], &[1, 4], &[3, 4, 5], &[2, 2, 2, 3]] {
                check(kind, lengths, &[], dtype);
                check(kind, lengths, &[2], dtype);
            }
            check(kind, &[4], &[0], dtype);
            check(kind, &[0], &[2], dtype);
        }
    }
}

/// Large enough that rows are shared between threads, which must not show.
#[test]
fn many_rows() {
    for kind in FftKind::ALL {
        check(kind, &[16], &[4099], DType::F32);
        check(kind, &[256, 160], &[], DType::F64);
    }
}
