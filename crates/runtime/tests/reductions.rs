//! Every combination of every dtype, for lengths around the number of lanes.

mod common;

use common::{Machine, Random, check};
use smallvec::{SmallVec, smallvec};
use tracewell_array::{DType, Tensor};
use tracewell_codegen::Target;
use tracewell_kernel::{Combine, Index, Kernel, KernelBuilder, Op, Size, Value};

fn at(i: Value, stride: Size) -> Index {
    Index { offset: Size::Const(0), terms: smallvec![(i, stride)] }
}

fn combines(dtype: DType) -> Vec<Combine> {
    Combine::ALL.into_iter().filter(|combine| combine.identity(dtype).is_some()).collect()
}

/// Each combination in a reduction of its own, then all of them in one.
fn kernel(dtype: DType, extent: Option<i64>, stride: i64) -> Kernel {
    let mut b = KernelBuilder::new();
    let extent = extent.map_or_else(|| b.size(), Size::Const);
    let input = b.param(dtype, false);
    let out = b.param(dtype, true);
    let combines = combines(dtype);
    let mut results = Vec::new();
    for &combine in &combines {
        results.extend(
            b.reduce(extent, &[combine], |b, i| smallvec![b.load(input, at(i, Size::Const(stride)))]),
        );
    }
    results.extend(b.reduce(extent, &combines, |b, i| {
        let value = b.load(input, at(i, Size::Const(stride)));
        combines.iter().map(|_| value).collect::<SmallVec<[Value; 2]>>()
    }));
    for (k, result) in results.into_iter().enumerate() {
        b.store(out, Index::at(k as i64), result);
    }
    b.finish(format!("reduce {dtype}"))
}

fn compare(target: &Target, lengths: impl Iterator<Item = usize> + Clone) {
    let mut random = Random(2);
    for &dtype in DType::REAL {
        let count = 2 * combines(dtype).len();
        for stride in [1, 2, 3, 4] {
            let machine = Machine::new(&kernel(dtype, None, stride), target);
            for length in lengths.clone() {
                let input = random.tensor(dtype, (length * stride as usize).max(1));
                check(&machine, &[input, random.tensor(dtype, count)], &[length as i64]);
            }
        }
        for length in [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 64, 130] {
            let machine = Machine::new(&kernel(dtype, Some(length), 1), target);
            let input = random.tensor(dtype, (length as usize).max(1));
            check(&machine, &[input, random.tensor(dtype, count)], &[]);
        }
    }
}

#[test]
fn host() {
    compare(Target::host(), (0..=140).chain(190..=200));
}

#[test]
fn other_widths() {
    for target in common::other_widths() {
        compare(&target, (0..200).step_by(3));
    }
}

#[test]
fn baseline() {
    compare(&Target::named(&[]).expect("the baseline"), (0..200).step_by(13));
}

/// Accumulators of different widths, computed, and of values that do not depend on the loop.
#[test]
fn mixed() {
    let mut b = KernelBuilder::new();
    let extent = b.size();
    let x = b.param(DType::F32, false);
    let out32 = b.param(DType::F32, true);
    let out64 = b.param(DType::I64, true);
    let bits = b.param(DType::Bool, true);
    let sums =
        b.reduce(extent, &[Combine::Add, Combine::Max, Combine::Or, Combine::Add, Combine::And], |b, i| {
            let value = b.load(x, at(i, Size::Const(1)));
            let square = b.op(Op::Mul, &[value, value]);
            let one = b.constant(1i64);
            let zero = b.constant(0f32);
            let positive = b.compare(tracewell_kernel::Comparison::Gt, value, zero);
            let few = b.constant(40i64);
            let early = b.compare(tracewell_kernel::Comparison::Lt, i, few);
            smallvec![square, i, positive, one, early]
        });
    b.store(out32, Index::at(0), sums[0]);
    b.store(out64, Index::at(0), sums[1]);
    b.store(bits, Index::at(0), sums[2]);
    b.store(out64, Index::at(1), sums[3]);
    b.store(bits, Index::at(1), sums[4]);
    let machine = Machine::new(&b.finish("mixed"), Target::host());
    let mut random = Random(3);
    for length in 0..100 {
        let buffers: Vec<Tensor> =
            [(DType::F32, length.max(1)), (DType::F32, 1), (DType::I64, 2), (DType::Bool, 2)]
                .map(|(dtype, len)| random.tensor(dtype, len))
                .into();
        check(&machine, &buffers, &[length as i64]);
    }
}
