//! Uses of a scan that reach every case of its rules. Sums are of bounded terms, so that results differ no more than
//! their roundings do.

use std::sync::Arc;

use tracewell_array::DType;

use super::Scan;
use crate::graph::Graph;
use crate::primitive::Example;
use crate::text::{NoCustom, read};
use crate::ty::ArrayType;

/// The graph of a text in which `T` is an element type.
pub(super) fn graph_of(text: &str, dtype: DType) -> Arc<Graph> {
    let text = text.replace('T', dtype.name());
    Arc::new(
        read(&text, &NoCustom).unwrap_or_else(|error| panic!("an example does not read: {error}\n{text}")),
    )
}

/// A body of constants, of what is carried and of elements; and how it is applied.
struct Case {
    consts: usize,
    carries: usize,
    length: usize,
    body: &'static str,
}

const fn case(consts: usize, carries: usize, length: usize, body: &'static str) -> Case {
    Case { consts, carries, length, body }
}

/// Each in both directions.
const FLOATS: [Case; 13] = [
    // A recurrence; the weights are squeezed first, once for all turns.
    case(
        1,
        1,
        3,
        "func @recurrence(%0: T[2,2], %1: T[2], %2: T[2]) -> (T[2], T[2]) {
           %3: T[2,2] = tanh %0
           %4: T[2] = tanh %2
           %5: T[2] = dot_general[a_contract=[0], b_contract=[1], a_batch=[], b_batch=[]] %1, %3
           %6: T[2] = add %5, %4
           %7: T[2] = tanh %6
           return %7, %7
         }",
    ),
    // Sums, of nothing and of several.
    case(
        0,
        1,
        0,
        "func @sum(%0: T[2], %1: T[2]) -> (T[2], T[2]) {\n %2: T[2] = add %0, %1\n return %2, %0\n }",
    ),
    case(0, 1, 1, "func @sum(%0: T[], %1: T[]) -> (T[], T[]) {\n %2: T[] = add %0, %1\n return %2, %0\n }"),
    // No result for each element; a reduction.
    case(
        1,
        1,
        4,
        "func @weighted(%0: T[3], %1: T[], %2: T[3]) -> (T[]) {
           %3: T[3] = tanh %0
           %4: T[3] = tanh %2
           %5: T[3] = mul %3, %4
           %6: T[] = reduce_sum[axes=[0]] %5
           %7: T[] = add %1, %6
           return %7
         }",
    ),
    // Nothing carried.
    case(
        1,
        0,
        3,
        "func @each(%0: T[2], %1: T[2]) -> (T[2]) {
           %2: T[2] = tanh %1
           %3: T[2] = mul %0, %2
           return %3
         }",
    ),
    // Nothing but what is carried, with a counter.
    case(
        0,
        2,
        3,
        "func @again(%0: i32[], %1: T[2]) -> (i32[], T[2]) {
           %2: i32[] = add %0, 1:i32[]
           %3: T[] = convert[dtype=T, weak=false] %2
           %4: T[] = tanh %3
           %5: T[2] = broadcast[shape=[2], axes=[]] %4
           %6: T[2] = mul %1, %5
           %7: T[2] = tanh %6
           return %2, %7
         }",
    ),
    // The tangent of the first reaches the second one turn later, and the third two turns later.
    case(
        0,
        3,
        4,
        "func @delayed(%0: T[], %1: T[], %2: T[], %3: T[]) -> (T[], T[], T[], T[]) {
           %4: T[] = tanh %2
           %5: T[] = mul %0, %4
           %6: T[] = tanh %5
           return %3, %0, %1, %6
         }",
    ),
    // What is carried as it is, passed out as it is, or replaced by a literal.
    case(
        1,
        2,
        3,
        "func @as_it_is(%0: T[2], %1: T[2], %2: T[2], %3: T[2]) -> (T[2], T[2], T[2], T[2], T[2], T[2]) {
           %4: T[2] = tanh %1
           %5: T[2] = mul %4, %3
           %6: T[2] = mul %5, %2
           return %1, 0.5:T[2], %0, %3, %6, %1
         }",
    ),
    // The same, of nothing and of one.
    case(
        1,
        1,
        0,
        "func @replaced(%0: T[2], %1: T[2], %2: T[2]) -> (T[2], T[2]) {
           %3: T[2] = mul %0, %2
           return 0.5:T[2], %3
         }",
    ),
    case(
        1,
        1,
        1,
        "func @replaced(%0: T[2], %1: T[2], %2: T[2]) -> (T[2], T[2]) {
           %3: T[2] = mul %1, %2
           return %0, %3
         }",
    ),
    // A scan in a scan: the inner one begins with zeros.
    case(
        1,
        1,
        2,
        "func @outer(%0: T[], %1: T[], %2: T[3]) -> (T[], T[3]) {
           %3: T[], %4: T[3] = scan[body=func @inner(%0: T[], %1: T[], %2: T[]) -> (T[], T[]) {
             %3: T[] = tanh %0
             %4: T[] = mul %3, %1
             %5: T[] = tanh %2
             %6: T[] = add %4, %5
             return %6, %4
           }, consts=1, carries=1, length=3, reverse=true, unroll=1] %0, 0.0:T[], %2
           %5: T[] = tanh %3
           %6: T[] = tanh %1
           %7: T[] = mul %5, %6
           return %7, %4
         }",
    ),
    // No operands at all.
    case(0, 0, 3, "func @literals() -> (T[2]) {\n return 0.5:T[2]\n }"),
    // A choice in a scan.
    case(
        0,
        2,
        3,
        "func @choice(%0: i32[], %1: T[], %2: T[]) -> (i32[], T[], T[]) {
           %3: T[], %4: T[] = switch[branches=[func @add(%0: T[], %1: T[]) -> (T[], T[]) {
             %2: T[] = tanh %1
             %3: T[] = mul %0, %2
             return %3, %2
           }, func @keep(%0: T[], %1: T[]) -> (T[], T[]) {
             %2: T[] = tanh %1
             return %0, %2
           }]] %0, %1, %2
           %5: i32[] = add %0, 1:i32[]
           return %5, %3, %4
         }",
    ),
];

const INTEGERS: [Case; 2] = [
    case(
        1,
        1,
        5,
        "func @count(%0: T[2], %1: T[2], %2: T[2]) -> (T[2], T[2]) {
           %3: T[2] = mul %0, %2
           %4: T[2] = add %1, %3
           return %4, %1
         }",
    ),
    case(
        0,
        1,
        3,
        "func @odd(%0: bool[], %1: T[]) -> (bool[], T[]) {\n %2: bool[] = not %0\n return %2, %1\n }",
    ),
];

pub(super) fn examples() -> Vec<Example> {
    let mut examples = Vec::new();
    for dtype in [DType::F32, DType::F64] {
        for (i, case) in FLOATS.iter().enumerate() {
            for reverse in [false, true] {
                examples.push(example(case, dtype, reverse, 1 + (i + usize::from(reverse)) % 3));
            }
        }
    }
    for &dtype in DType::ALL.iter().filter(|dtype| dtype.is_integer()) {
        examples.extend(INTEGERS.iter().map(|case| example(case, dtype, false, 2)));
    }
    examples
}

fn example(case: &Case, dtype: DType, reverse: bool, unroll: usize) -> Example {
    let &Case { consts, carries, length, body } = case;
    let body = graph_of(body, dtype);
    let inputs = body.input_types().into_iter().enumerate();
    let inputs = inputs.map(|(i, ty)| match i < consts + carries {
        true => ty,
        false => ty.with_shape(ty.shape.insert(0, length)),
    });
    let inputs: Vec<ArrayType> = inputs.collect();
    Example { prim: Scan { body, consts, carries, length, reverse, unroll }.into(), inputs }
}
