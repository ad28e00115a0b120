//! Every operation on every dtype, in vectors, in the rest of a vector loop and as scalars.

mod common;

use common::{Machine, Random, check};
use smallvec::smallvec;
use tracewell_array::{DType, Tensor};
use tracewell_codegen::Target;
use tracewell_kernel::{BufferId, Comparison, Index, Kernel, KernelBuilder, Op, Size, Value};

/// All operations without constants and sizes.
fn operations() -> Vec<Op> {
    let mut ops = vec![
        Op::Neg,
        Op::Abs,
        Op::Sqrt,
        Op::Floor,
        Op::Ceil,
        Op::Trunc,
        Op::RoundEven,
        Op::Not,
        Op::PopCount,
        Op::LeadingZeros,
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::Div,
        Op::Rem,
        Op::Min,
        Op::Max,
        Op::And,
        Op::Or,
        Op::Xor,
        Op::Shl,
        Op::Shr,
        Op::ShrLogical,
        Op::Fma,
    ];
    ops.extend(Comparison::ALL.map(Op::Compare));
    ops.extend(DType::REAL.iter().map(|&to| Op::Convert(to)));
    ops.extend(DType::REAL.iter().map(|&to| Op::Bitcast(to)));
    ops
}

/// Which operands do not change from one iteration to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fixed {
    None,
    First,
    Others,
}

/// Applies every operation that is defined on a dtype, and stores each result. One kernel has some of them: wide
/// code takes a loop as a whole or not at all, so it sees each operation alone too.
fn kernels(dtype: DType, fixed: Fixed, in_order: bool, some: usize) -> Vec<(Kernel, Vec<DType>)> {
    let defined: Vec<Op> =
        operations().into_iter().filter(|op| op.result(&vec![dtype; op.arity()]).is_some()).collect();
    defined
        .chunks(some)
        .map(|ops| {
            let mut b = KernelBuilder::new();
            let extent = b.size();
            let operands: Vec<BufferId> = (0..3).map(|_| b.param(dtype, false)).collect();
            let condition = b.param(DType::Bool, false);
            let results: Vec<DType> =
                ops.iter().filter_map(|op| op.result(&vec![dtype; op.arity()])).collect();
            let outs: Vec<BufferId> = results.iter().map(|&result| b.param(result, true)).collect();
            let chosen = b.param(dtype, true);
            let at = |i: Value| Index { offset: Size::Const(0), terms: smallvec![(i, Size::Const(1))] };
            let body = |b: &mut KernelBuilder, i: Value| {
                let args: Vec<Value> = operands
                    .iter()
                    .enumerate()
                    .map(|(k, &operand)| {
                        let is_fixed = if k == 0 { fixed == Fixed::First } else { fixed == Fixed::Others };
                        b.load(operand, if is_fixed { Index::at(0) } else { at(i) })
                    })
                    .collect();
                for (op, &out) in ops.iter().zip(&outs) {
                    let value = b.op(*op, &args[..op.arity()]);
                    b.store(out, at(i), value);
                }
                let condition = b.load(condition, at(i));
                let value = b.select(condition, args[0], args[1]);
                b.store(chosen, at(i), value);
            };
            if in_order {
                b.for_loop(extent, &[], |b, i, _| {
                    body(b, i);
                    smallvec![]
                });
            } else {
                b.each(extent, body);
            }
            let mut dtypes = vec![dtype, dtype, dtype, DType::Bool];
            dtypes.extend(results);
            dtypes.push(dtype);
            (b.finish(format!("{dtype} {fixed:?}")), dtypes)
        })
        .collect()
}

fn compare(target: &Target, some: usize, lengths: impl Iterator<Item = usize> + Clone) {
    let mut random = Random(1);
    for &dtype in DType::REAL {
        for (fixed, in_order) in
            [(Fixed::None, false), (Fixed::First, false), (Fixed::Others, false), (Fixed::None, true)]
        {
            for (kernel, dtypes) in kernels(dtype, fixed, in_order, some) {
                let machine = Machine::new(&kernel, target);
                for length in lengths.clone() {
                    let buffers: Vec<Tensor> =
                        dtypes.iter().map(|&dtype| random.tensor(dtype, length.max(1))).collect();
                    check(&machine, &buffers, &[length as i64]);
                }
            }
        }
    }
}

/// A choice between the operands of its own condition, which may be an extreme of them.
fn chosen_of_two(dtype: DType, comparison: Comparison, first: bool) -> Kernel {
    let mut b = KernelBuilder::new();
    let extent = b.size();
    let operands = [b.param(dtype, false), b.param(dtype, false)];
    let out = b.param(dtype, true);
    let at = |i: Value| Index { offset: Size::Const(0), terms: smallvec![(i, Size::Const(1))] };
    b.each(extent, |b, i| {
        let [x, y] = operands.map(|operand| b.load(operand, at(i)));
        let condition = b.compare(comparison, x, y);
        let value = if first { b.select(condition, x, y) } else { b.select(condition, y, x) };
        b.store(out, at(i), value);
    });
    b.finish(format!("{dtype} {comparison:?} {first}"))
}

#[test]
fn choices_by_comparison() {
    let mut random = Random(2);
    for target in common::other_widths().into_iter().chain([Target::host().clone()]) {
        for (&dtype, comparison) in DType::REAL.iter().flat_map(|d| Comparison::ALL.map(|c| (d, c))) {
            for first in [true, false] {
                let machine = Machine::new(&chosen_of_two(dtype, comparison, first), &target);
                let buffers: Vec<Tensor> = (0..3).map(|_| random.tensor(dtype, 300)).collect();
                check(&machine, &buffers, &[300]);
            }
        }
    }
}

#[test]
fn host() {
    compare(Target::host(), 16, 0..=70);
}

#[test]
fn each_alone() {
    compare(Target::host(), 1, (0..=40).chain([63, 64, 65, 79, 80, 127, 128, 131, 200]));
}

#[test]
fn other_widths() {
    for target in common::other_widths() {
        compare(&target, 1, (0..=40).step_by(3).chain([63, 64, 79, 131]));
    }
}

#[test]
fn baseline() {
    compare(&Target::named(&[]).expect("the baseline"), 16, (0..=70).step_by(7));
}

#[test]
fn without_fma() {
    let features: &[&str] = if cfg!(target_arch = "x86_64") {
        &["has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_avx"]
    } else {
        &[]
    };
    compare(&Target::named(features).expect("features of this machine"), 16, (0..=70).step_by(11));
}

#[test]
fn unknown_features_are_refused() {
    let error = Target::named(&["has_wings"]).expect_err("no machine has them");
    assert!(error.to_string().starts_with("no such target: has_wings"), "{error}");
}
