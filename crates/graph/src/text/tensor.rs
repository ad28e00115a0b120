//! Concrete arrays as text: `f32[2]{1.0,2.0}`.

use tracewell_array::Tensor;

use super::error::ReadError;
use super::read::Reader;

/// Every element of an array, exactly: `f32[2]{1.0,2.0}`.
pub fn write_tensor(tensor: &Tensor) -> String {
    write_elided(tensor, usize::MAX)
}

/// The elements of an array, or `…` if there are more than `most`.
pub(super) fn write_elided(tensor: &Tensor, most: usize) -> String {
    let elements = if tensor.len() > most {
        "…".to_owned()
    } else {
        tensor.literals().map(|literal| literal.to_string()).collect::<Vec<_>>().join(",")
    };
    format!("{}{}{{{elements}}}", tensor.dtype(), tensor.shape())
}

/// Reads arrays with commas between: what [`write_tensor`] wrote.
pub fn read_tensors(text: &str) -> Result<Vec<Tensor>, ReadError> {
    Reader::new(text, &super::NoCustom, true).tensors()
}
