//! Element types become smaller ones of their kind.

use tracewell_array::DType;
use tracewell_graph::ArrayType;

use super::Strategy;
use super::types::{Change, retyped, types};
use crate::tree::CallTree;

pub(super) struct DTypes;

/// The smaller type of the same kind, if there is one.
fn smaller(dtype: DType) -> Option<DType> {
    match dtype {
        DType::F64 => Some(DType::F32),
        DType::I64 => Some(DType::I32),
        _ => None,
    }
}

fn dtypes(tree: &CallTree) -> Vec<DType> {
    let mut all: Vec<DType> = types(tree).iter().map(|ty| ty.dtype).collect();
    all.sort_unstable_by_key(|dtype| *dtype as u8);
    all.dedup();
    all.retain(|&dtype| smaller(dtype).is_some());
    all
}

struct Chosen(Vec<DType>);

impl Change for Chosen {
    fn ty(&self, ty: &ArrayType) -> ArrayType {
        match smaller(ty.dtype).filter(|_| self.0.contains(&ty.dtype)) {
            Some(dtype) => ArrayType { dtype, ..ty.clone() },
            None => ty.clone(),
        }
    }

    fn int(&self, n: i64) -> i64 {
        n
    }
}

impl Strategy for DTypes {
    fn name(&self) -> &'static str {
        "smaller element types"
    }

    fn places(&self, tree: &CallTree) -> usize {
        dtypes(tree).len()
    }

    fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree {
        let all = dtypes(tree);
        retyped(tree, &Chosen(places.iter().filter_map(|&place| all.get(place).copied()).collect()))
    }
}
