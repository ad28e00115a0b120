//! Uses of a switch that reach every case of its rules. The draws of the laws give indices out of range too.

use tracewell_array::DType;

use super::Switch;
use super::scan_examples::graph_of;
use crate::primitive::Example;
use crate::ty::ArrayType;

/// The branches of each use.
const FLOATS: [&[&str]; 6] = [
    &["func @only(%0: T[3]) -> (T[3], T[3]) {\n %1: T[3] = tanh %0\n return %1, %0\n }"],
    // Residuals of the same types that share slots; one that is a result; one that is an operand.
    &[
        "func @product(%0: T[2], %1: T[2]) -> (T[2], T[2]) {
           %2: T[2] = tanh %0
           %3: T[2] = tanh %1
           %4: T[2] = mul %2, %3
           %5: T[2] = exp %4
           return %4, %5
         }",
        "func @other(%0: T[2], %1: T[2]) -> (T[2], T[2]) {
           %2: T[2] = tanh %1
           %3: T[2] = mul %0, %2
           return %0, %3
         }",
    ],
    // A branch that depends on nothing, and one that does not depend on all; residuals of several types.
    &[
        "func @literal(%0: T[], %1: T[2]) -> (T[2]) {\n return 0.5:T[2]\n }",
        "func @first(%0: T[], %1: T[2]) -> (T[2]) {
           %2: T[] = tanh %0
           %3: T[] = tanh %2
           %4: T[2] = broadcast[shape=[2], axes=[]] %3
           return %4
         }",
        "func @both(%0: T[], %1: T[2]) -> (T[2]) {
           %2: T[] = tanh %0
           %3: T[2] = broadcast[shape=[2], axes=[]] %2
           %4: T[2] = tanh %1
           %5: T[2] = mul %3, %4
           return %5
         }",
    ],
    // Nothing but the index.
    &["func @zero() -> (T[]) {\n return 0.5:T[]\n }", "func @one() -> (T[]) {\n return 1.5:T[]\n }"],
    // An operand that only indexes, and no derivative of one result.
    &[
        "func @sum(%0: i32[2], %1: T[2,3]) -> (T[2], i32[2]) {
           %2: T[2] = reduce_sum[axes=[1]] %1
           return %2, %0
         }",
        "func @largest(%0: i32[2], %1: T[2,3]) -> (T[2], i32[2]) {
           %2: T[2] = reduce_max[axes=[1]] %1
           %3: i32[2] = argmax[axis=1, dtype=i32] %1
           return %2, %3
         }",
    ],
    // A choice in a choice, and a loop in one.
    &[
        "func @inner(%0: i32[], %1: T[]) -> (T[]) {
           %2: T[] = switch[branches=[func @tanh(%0: T[]) -> (T[]) {
             %1: T[] = tanh %0
             return %1
           }, func @tanh(%0: T[]) -> (T[]) {
             %1: T[] = tanh %0
             return %1
           }]] %0, %1
           return %2
         }",
        "func @loop(%0: i32[], %1: T[]) -> (T[]) {
           %2: T[] = scan[body=func @body(%0: T[]) -> (T[]) {
             %1: T[] = tanh %0
             return %1
           }, consts=0, carries=1, length=3, reverse=false, unroll=1] %1
           return %2
         }",
    ],
];

const INTEGERS: &[&str] = &[
    "func @add(%0: T[2], %1: T[2]) -> (T[2]) {\n %2: T[2] = add %0, %1\n return %2\n }",
    "func @first(%0: T[2], %1: T[2]) -> (T[2]) {\n return %0\n }",
    "func @literal(%0: T[2], %1: T[2]) -> (T[2]) {\n return 7:T[2]\n }",
];

pub(super) fn examples() -> Vec<Example> {
    let floats = [DType::F32, DType::F64].map(|dtype| FLOATS.map(|branches| example(branches, dtype)));
    let integers = DType::ALL.iter().filter(|dtype| dtype.is_integer());
    let integers = integers.map(|&dtype| example(INTEGERS, dtype));
    floats.into_iter().flatten().chain(integers).collect()
}

fn example(branches: &[&str], dtype: DType) -> Example {
    let branches: Vec<_> = branches.iter().map(|text| graph_of(text, dtype)).collect();
    let mut inputs = vec![ArrayType::new(DType::I32, [])];
    inputs.extend(branches[0].input_types());
    Example { prim: Switch { branches }.into(), inputs }
}
