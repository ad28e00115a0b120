//! Sorting rows: what a call of it must be, and the reference.

use std::cmp::Ordering;

use tracewell_array::Literal;

use crate::cells::Cells;
use crate::library::{LibraryCall, SortRows};

impl SortRows {
    /// What is wrong with a call.
    pub(crate) fn check(&self, call: &LibraryCall) -> Result<(), String> {
        let (inputs, outputs) = (&call.inputs, &call.outputs);
        if inputs.len() != outputs.len() || !(1..=inputs.len()).contains(&self.keys) {
            return Err("`sort` has as many results as columns, of which at least one is a key".to_owned());
        }
        if self.kept > self.len || u32::try_from(self.len).is_err() {
            return Err("`sort` keeps a part of a row, which has fewer than 2^32 elements".to_owned());
        }
        let is = |shape: &tracewell_array::Shape, len: usize| {
            shape.checked_len().is_some() && shape.checked_len() == self.rows.checked_mul(len)
        };
        for ((from, whole), (to, part)) in inputs.iter().zip(outputs) {
            if from != to || !is(whole, self.len) || !is(part, self.kept) {
                return Err(format!("`sort` of {from}{whole} does not give {to}{part}"));
            }
        }
        Ok(())
    }

    /// Sorts columns of which every element is known.
    pub(crate) fn eval(&self, columns: &[Cells]) -> Result<Vec<Cells>, String> {
        let known = columns.iter().map(|column| column.cells.iter().copied().collect());
        let known: Option<Vec<Vec<Literal>>> = known.collect();
        let known = known.ok_or("`sort` reads what was never written")?;
        let mut sorted: Vec<Cells> = columns.iter().map(|c| Cells::undefined(c.dtype, 0)).collect();
        for row in 0..self.rows {
            let first = row * self.len;
            let mut places: Vec<usize> = (first..first + self.len).collect();
            places.sort_by(|&a, &b| {
                let by = known[..self.keys].iter().map(|key| order(key[a], key[b]));
                let order = by.fold(Ordering::Equal, Ordering::then);
                if self.descending { order.reverse() } else { order }
            });
            for (column, sorted) in known.iter().zip(&mut sorted) {
                sorted.cells.extend(places[..self.kept].iter().map(|&place| Some(column[place])));
            }
        }
        Ok(sorted)
    }
}

/// The order of two elements of one type: NaN is larger than any number and equal to itself, zeros are equal.
fn order(a: Literal, b: Literal) -> Ordering {
    if !a.dtype().is_float() {
        return a.as_i64().cmp(&b.as_i64());
    }
    let (a, b) = (a.as_f64(), b.as_f64());
    a.partial_cmp(&b).unwrap_or(a.is_nan().cmp(&b.is_nan()))
}

#[cfg(test)]
mod tests {
    use tracewell_array::{DType, Shape, Tensor};

    use super::*;
    use crate::library::Library;

    #[test]
    fn equal_keys_stay_in_order_and_nan_comes_last() {
        let (keys, places) = ([f32::NAN, 0.0, -1.0, -0.0, f32::NEG_INFINITY], [0i32, 1, 2, 3, 4]);
        let columns = [Tensor::from_slice(&keys, [5]).unwrap(), Tensor::from_slice(&places, [5]).unwrap()];
        let columns = columns.map(|tensor| Cells::of(&tensor));
        let order = |descending, kept| {
            let sort = SortRows { keys: 1, descending, rows: 1, len: 5, kept };
            sort.eval(&columns).unwrap()[1].tensor().unwrap().to_vec::<i32>().unwrap()
        };
        assert_eq!(order(false, 5), [4, 2, 1, 3, 0]);
        assert_eq!(order(true, 5), [0, 1, 3, 2, 4]);
        assert_eq!(order(true, 2), [0, 1]);
    }

    #[test]
    fn a_call_must_fit() {
        let ty = |n: usize| (DType::F32, Shape::from([n]));
        let error = |keys, kept, outputs: Vec<_>| {
            let sort = SortRows { keys, descending: false, rows: 2, len: 3, kept };
            let call = LibraryCall { library: Library::Sort(sort), inputs: vec![ty(6)], outputs };
            sort.check(&call).err()
        };
        assert_eq!(error(1, 2, vec![ty(4)]), None);
        let text = |error: Option<String>| error.unwrap_or_default();
        assert!(text(error(2, 2, vec![ty(4)])).contains("at least one is a key"));
        assert!(text(error(0, 2, vec![ty(4)])).contains("at least one is a key"));
        assert!(text(error(1, 4, vec![ty(8)])).contains("a part of a row"));
        assert!(text(error(1, 2, vec![ty(6)])).contains("does not give f32[6]"));
    }
}
