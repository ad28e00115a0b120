//! What the shape primitives share: walking an array by multi-index, and reading through a map of indices.

use tracewell_array::{Literal, Shape, Tensor};

/// Calls `f` with every multi-index of a shape, in row-major order.
pub(crate) fn each_index(shape: &Shape, mut f: impl FnMut(&[usize])) {
    let sizes = shape.sizes();
    let mut index = vec![0; sizes.len()];
    for _ in 0..shape.len() {
        f(&index);
        for axis in (0..sizes.len()).rev() {
            index[axis] += 1;
            if index[axis] < sizes[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// The row-major position of a multi-index.
pub(crate) fn position(shape: &Shape, index: &[usize]) -> usize {
    index.iter().zip(shape.iter()).fold(0, |at, (&i, n)| at * n + i)
}

/// An array whose element at each index is read from `x` at another.
pub(crate) fn read_through(x: &Tensor, shape: &Shape, from: impl Fn(&[usize]) -> Vec<usize>) -> Tensor {
    let mut literals: Vec<Literal> = Vec::with_capacity(shape.len());
    each_index(shape, |index| literals.push(x.literal(position(x.shape(), &from(index)))));
    Tensor::from_literals(x.dtype(), shape.clone(), &literals).expect("one literal for each element")
}
