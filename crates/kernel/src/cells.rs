//! Memory of the reference evaluator, which knows what has been written.

use tracewell_array::{DType, Literal, Tensor};

/// A flat buffer in which every element may or may not have been written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cells {
    pub(crate) dtype: DType,
    pub(crate) cells: Vec<Option<Literal>>,
}

impl Cells {
    /// A buffer to which nothing has been written.
    pub fn undefined(dtype: DType, len: usize) -> Cells {
        Cells { dtype, cells: vec![None; len] }
    }

    /// The elements of a tensor.
    pub fn of(tensor: &Tensor) -> Cells {
        Cells { dtype: tensor.dtype(), cells: tensor.literals().map(Some).collect() }
    }

    /// The elements, `None` where nothing has been written.
    pub fn cells(&self) -> &[Option<Literal>] {
        &self.cells
    }

    /// A tensor of rank 1, if every element has been written.
    pub fn tensor(&self) -> Option<Tensor> {
        let literals: Option<Vec<Literal>> = self.cells.iter().copied().collect();
        Tensor::from_literals(self.dtype, [self.cells.len()], &literals?).ok()
    }

    /// As if nothing had been written.
    pub(crate) fn forget(&mut self) {
        self.cells.fill(None);
    }
}
