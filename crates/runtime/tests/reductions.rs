//! Every combination of every dtype, for lengths around the number of lanes.

mod common;

use common::{Machine, Random, check};
use smallvec::{SmallVec, smallvec};
use tracewell_array::{DType, Literal, Tensor};
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

/// Combinations along rows of a known length, of numbers, or of their squares with a factor that is the same for all;
/// so many times over, of which a single one is done in parts.
fn rows(
    dtype: DType,
    count: Option<i64>,
    length: i64,
    combines: &[Combine],
    squares: bool,
    times: usize,
) -> Kernel {
    let mut b = KernelBuilder::new();
    let count = count.map_or_else(|| b.size(), Size::Const);
    let (input, out) = (b.param(dtype, false), b.param(dtype, true));
    let row = |i: Value, j: Value| Index {
        offset: Size::Const(0),
        terms: smallvec![(i, Size::Const(length)), (j, Size::Const(1))],
    };
    let results = combines.len() as i64;
    let factor = squares.then(|| b.load(input, Index::at(0)));
    for _ in 0..times {
        b.each(count, |b, i| {
            let sums = b.reduce(Size::Const(length), combines, |b, j| {
                let value = b.load(input, row(i, j));
                let value = if squares { b.op(Op::Mul, &[value, value]) } else { value };
                combines.iter().map(|_| value).collect::<SmallVec<[Value; 2]>>()
            });
            for (number, sum) in sums.into_iter().enumerate() {
                let sum = factor.map_or(sum, |factor| b.op(Op::Mul, &[sum, factor]));
                let to = Index { offset: Size::Const(number as i64), ..at(i, Size::Const(results)) };
                b.store(out, to, sum);
            }
        });
    }
    b.finish(format!("rows of {dtype}"))
}

/// Numbers whose sum depends on the order, a row of `-0.0`, and one of whatever is odd.
fn rows_of(random: &mut Random, dtype: DType, count: usize, length: usize) -> Tensor {
    let mut literals = Vec::with_capacity(count * length);
    for number in 0..count {
        match number % 5 {
            2 => literals.extend((0..length).map(|_| Literal::from_f64(dtype, -0.0))),
            3 => literals.extend(random.tensor(dtype, length).literals()),
            _ => literals.extend(
                (0..length).map(|_| Literal::from_f64(dtype, (random.next() % 2001) as f64 / 7.0 - 140.0)),
            ),
        }
    }
    if literals.is_empty() {
        literals.push(Literal::from_f64(dtype, 1.0));
    }
    Tensor::from_literals(dtype, [literals.len()], &literals).expect("as many as there are")
}

/// Rows are summed up alone and in pairs: for every number of them, in parts that are odd and even.
#[test]
fn rows_of_a_known_length() {
    let mut random = Random(5);
    for target in [vec![Target::host().clone()], common::other_widths()].concat() {
        for &dtype in DType::REAL {
            let all = combines(dtype);
            // Two of them fit in pairs, all do not.
            let mut chosen: Vec<&[Combine]> = all.chunks(1).chain(all.windows(2)).collect();
            chosen.push(&all);
            for (length, combines) in [15, 16, 17, 33, 40, 64, 130, 256, 700]
                .into_iter()
                .flat_map(|length| chosen.iter().map(move |combines| (length, *combines)))
            {
                for (squares, times) in [(false, 1), (!dtype.is_bool(), 2)] {
                    let kernel = rows(dtype, None, length, combines, squares, times);
                    let machine = Machine::new(&kernel, &target);
                    for count in [0, 1, 2, 5, 8] {
                        let input = rows_of(&mut random, dtype, count, length as usize);
                        let results = random.tensor(dtype, (combines.len() * count).max(1));
                        check(&machine, &[input, results], &[count as i64]);
                    }
                }
            }
        }
    }
}

/// The same where the number of rows is known too, and where they are so far apart that they are not summed up in pairs.
#[test]
fn known_numbers_of_rows() {
    let mut random = Random(6);
    for count in 1..6 {
        let input = rows_of(&mut random, DType::F32, count, 64);
        let results = random.tensor(DType::F32, count);
        for squares in [false, true] {
            let kernel = rows(DType::F32, Some(count as i64), 64, &[Combine::Add], squares, 1);
            check(&Machine::new(&kernel, Target::host()), &[input.clone(), results.clone()], &[]);
        }
    }
    for far in [1i64 << 28, (1 << 29) - 256, 1 << 31] {
        let text = format!(
            "kernel @far(b0: f32, b1: mut f32) sizes 1 {{
                each %i < s0 {{
                    %s: f32 = reduce add over %j < 64 {{ %x: f32 = load b0[%i*{far} + %j] yield %x }}
                    store b1[%i], %s
                }}
            }}"
        );
        let kernel: Kernel = text.parse().expect("a kernel");
        let input = rows_of(&mut random, DType::F32, 1, 64);
        check(&Machine::new(&kernel, Target::host()), &[input, random.tensor(DType::F32, 1)], &[1]);
    }
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
