//! To and from `ndarray`, the array type of the Rust ecosystem.
//!
//! Invariant: an owned array in row-major order keeps its memory; everything else is copied once.

use crate::{DTypeError, Element, Shape, Tensor};
use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};

impl Tensor {
    /// The elements of an array. An owned one in row-major order is taken over without a copy.
    pub fn from_ndarray<T: Element, S: Data<Elem = T>, D: Dimension>(array: ArrayBase<S, D>) -> Tensor {
        let shape = Shape::from(array.shape());
        // Free if the array is owned, whatever its layout.
        let owned = array.into_owned();
        if !owned.is_standard_layout() {
            let values = owned.iter().copied().collect();
            return Tensor::from_vec(values, shape).expect("an array has as many elements as its shape says");
        }
        // The `Vec` may hold more than the array shows, for instance after `slice_move`.
        let (values, skip) = owned.into_raw_vec_and_offset();
        let all = Shape::from([values.len()]);
        let whole = Tensor::from_vec(values, all).expect("a shape of its own length");
        whole.view(skip.unwrap_or(0), shape)
    }

    /// A copy of the elements as an array.
    pub fn to_ndarray<T: Element>(&self) -> Result<ArrayD<T>, DTypeError> {
        let sizes = IxDyn(&self.shape().sizes());
        let array = ArrayD::from_shape_vec(sizes, self.to_vec()?);
        Ok(array.expect("a tensor has as many elements as its shape says"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;
    use ndarray::{Array0, Array2, arr0, arr2, s};

    fn counted() -> Array2<i32> {
        Array2::from_shape_fn((3, 4), |(row, column)| (10 * row + column) as i32)
    }

    #[test]
    fn owned_arrays_move() {
        let array = counted();
        let address = array.as_ptr().addr();
        let tensor = Tensor::from_ndarray(array);
        assert_eq!(tensor.as_ptr().addr(), address);
        assert_eq!(*tensor.shape(), [3, 4]);
        assert!(tensor.is_unique());

        let mut rows = counted();
        rows.slice_collapse(s![1.., ..]);
        let address = rows.as_ptr().addr();
        let tensor = Tensor::from_ndarray(rows);
        assert_eq!(tensor.as_ptr().addr(), address);
        assert_eq!(tensor.as_slice::<i32>(), Ok(&[10, 11, 12, 13, 20, 21, 22, 23][..]));
        assert!(!tensor.is_unique(), "the first row is still in the buffer");
    }

    #[test]
    fn every_layout_reads_in_row_major_order() {
        let array = counted();
        let views = [
            array.view(),
            array.t(),
            array.slice(s![..;-1, ..]),
            array.slice(s![.., ..;2]),
            array.slice(s![1..2, ..]),
            array.slice(s![..0, ..]),
            array.slice(s![..;-1, ..;-1]),
        ];
        for view in views {
            let expected: Vec<i32> = view.iter().copied().collect();
            for tensor in [
                Tensor::from_ndarray(view),
                Tensor::from_ndarray(view.to_owned()),
                Tensor::from_ndarray(view.to_shared()),
            ] {
                assert_eq!(*tensor.shape(), *view.shape());
                assert_eq!(tensor.to_vec(), Ok(expected.clone()));
                assert_eq!(tensor.to_ndarray::<i32>(), Ok(view.to_owned().into_dyn()));
            }
        }
        let (mut collapsed, mut turned) = (counted(), counted().reversed_axes());
        collapsed.slice_collapse(s![..;-1, 1..]);
        turned.slice_collapse(s![1.., ..]);
        for array in [collapsed, turned] {
            assert_eq!(Tensor::from_ndarray(array.clone()).to_ndarray::<i32>(), Ok(array.into_dyn()));
        }
    }

    #[test]
    fn ranks_and_dtypes() {
        let scalar: Array0<f64> = arr0(2.5);
        assert_eq!(Tensor::from_ndarray(scalar), Tensor::scalar(2.5f64));
        let truth = arr2(&[[true, false]]);
        assert_eq!(Tensor::from_ndarray(truth.clone()).to_ndarray(), Ok(truth.into_dyn()));
        let wrong = Tensor::scalar(1f32).to_ndarray::<f64>();
        assert_eq!(wrong, Err(DTypeError { expected: DType::F64, found: DType::F32 }));
    }
}
