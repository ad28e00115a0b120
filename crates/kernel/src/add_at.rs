//! Adding updates to the elements of an array that indices name: what a call of it must be, and the reference.

use tracewell_array::Literal;

use crate::cells::Cells;
use crate::library::{AddAt, LibraryCall};
use crate::op::Op;
use crate::scalar;

impl AddAt {
    /// What is wrong with a call.
    pub(crate) fn check(&self, call: &LibraryCall) -> Result<(), String> {
        let ([array, updates, indices], [result]) = (call.inputs.as_slice(), call.outputs.as_slice()) else {
            return Err("`add_at` has an array, updates and indices, and one result".to_owned());
        };
        if array != result || array.0 != updates.0 {
            return Err("the array, the updates and the result of `add_at` are of one type".to_owned());
        }
        if array.0.is_bool() || array.0.is_complex() || !indices.0.is_integer() {
            return Err(format!("`add_at` does not add {} at places that are {}", array.0, indices.0));
        }
        let (len, count) = (array.1.checked_len(), updates.1.checked_len());
        if count.is_none() || count != indices.1.checked_len() {
            return Err("`add_at` has as many updates as indices".to_owned());
        }
        if len.is_none_or(|len| len == 0 || i32::try_from(len).is_err()) {
            return Err("the array of `add_at` has at least one element and fewer than 2^31".to_owned());
        }
        Ok(())
    }

    /// Which element of as many an index names; none if it is left out.
    pub fn place(&self, index: i64, len: usize) -> Option<usize> {
        let len = len as i64;
        let asked = if self.from_back && index < 0 { index.saturating_add(len) } else { index };
        let moved = asked.clamp(0, len - 1);
        (moved == asked || !self.drop).then_some(moved as usize)
    }

    /// Adds to an array of which every element is known.
    pub(crate) fn eval(&self, operands: &[Cells]) -> Result<Cells, String> {
        let known = |cells: &Cells| cells.cells.iter().copied().collect::<Option<Vec<Literal>>>();
        let known: Option<Vec<Vec<Literal>>> = operands.iter().map(known).collect();
        let mut known = known.ok_or("`add_at` reads what was never written")?.into_iter();
        let (Some(mut array), Some(updates), Some(indices)) = (known.next(), known.next(), known.next())
        else {
            return Err("`add_at` has other operands than it needs".to_owned());
        };
        for (update, index) in updates.into_iter().zip(indices) {
            if let Some(place) = self.place(index.as_i64(), array.len()) {
                array[place] = scalar::eval(Op::Add, &[array[place], update], &[]);
            }
        }
        Ok(Cells { dtype: operands[0].dtype, cells: array.into_iter().map(Some).collect() })
    }
}

#[cfg(test)]
mod tests {
    use tracewell_array::{DType, Shape, Tensor};

    use super::*;
    use crate::library::Library;

    #[test]
    fn indices_outside_are_left_out_or_moved() {
        let operands = [
            Tensor::from_slice(&[0i32, 0, 0], [3]).unwrap(),
            Tensor::from_slice(&[1i32, 10, 100, 1000], [4]).unwrap(),
            Tensor::from_slice(&[-1i64, i64::MIN, 3, 1], [4]).unwrap(),
        ];
        let operands = operands.map(|tensor| Cells::of(&tensor));
        let sums = |from_back, drop| {
            let sums = AddAt { from_back, drop }.eval(&operands).unwrap();
            sums.tensor().unwrap().to_vec::<i32>().unwrap()
        };
        assert_eq!(sums(true, true), [0, 1000, 1]);
        assert_eq!(sums(true, false), [10, 1000, 101]);
        assert_eq!(sums(false, true), [0, 1000, 0]);
        assert_eq!(sums(false, false), [11, 1000, 100]);
    }

    #[test]
    fn a_call_must_fit() {
        let error = |types: [(DType, usize); 4]| {
            let mut inputs: Vec<_> = types.map(|(dtype, n)| (dtype, Shape::from([n]))).into();
            let outputs = inputs.split_off(3);
            let add_at = AddAt { from_back: true, drop: true };
            add_at
                .check(&LibraryCall { library: Library::AddAt(add_at), inputs, outputs })
                .err()
                .unwrap_or_default()
        };
        use DType::{Bool, F32, F64, I32};
        assert_eq!(error([(F32, 3), (F32, 5), (I32, 5), (F32, 3)]), "");
        assert!(error([(F32, 3), (F64, 5), (I32, 5), (F32, 3)]).contains("of one type"));
        assert!(error([(F32, 3), (F32, 5), (I32, 5), (F32, 4)]).contains("of one type"));
        assert!(error([(Bool, 3), (Bool, 5), (I32, 5), (Bool, 3)]).contains("does not add bool"));
        assert!(error([(F32, 3), (F32, 5), (F32, 5), (F32, 3)]).contains("places that are f32"));
        assert!(error([(F32, 3), (F32, 5), (I32, 4), (F32, 3)]).contains("as many updates as indices"));
        assert!(error([(F32, 0), (F32, 5), (I32, 5), (F32, 0)]).contains("at least one element"));
        assert!(error([(F32, 1 << 31), (F32, 5), (I32, 5), (F32, 1 << 31)]).contains("fewer than"));
    }
}
