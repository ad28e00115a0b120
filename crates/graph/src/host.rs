//! Rust functions that graphs call: known by their names, so that texts, caches and equality know them too.
//!
//! Invariant: while a function is alive, its name is nobody else's. Whoever makes one names in it everything that
//! tells it from others.

use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tracewell_array::{Shape, Tensor};
use tracewell_kernel::{BufferFn, BufferMut, BufferRef, CallError, Custom};

use crate::params::{Param, ParamValue};
use crate::ty::ArrayType;

/// A Rust function on buffers that a graph calls.
#[derive(Clone)]
pub struct HostFunction(Arc<Inner>);

struct Inner {
    name: String,
    /// Nothing where a text named a function that this program does not have.
    function: Option<Custom>,
}

/// Functions that are alive, by their names.
static FUNCTIONS: Mutex<Option<HashMap<String, Weak<Inner>>>> = Mutex::new(None);

/// So many names are added before those of dead functions are forgotten.
const KEPT: usize = 256;

impl HostFunction {
    /// The function of that name: one that is alive, or else what `make` makes.
    pub fn named<F: BufferFn + 'static>(name: impl Into<String>, make: impl FnOnce() -> F) -> HostFunction {
        let name = name.into();
        if let Some(found) = HostFunction::find(&name) {
            return found;
        }
        let made = Arc::new(Inner { name: name.clone(), function: Some(Custom::new(make())) });
        let mut functions = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        let functions = functions.get_or_insert_default();
        // Another thread may have made it meanwhile.
        if let Some(found) = functions.get(&name).and_then(Weak::upgrade) {
            return HostFunction(found);
        }
        // At powers of two, so that each name is looked at a few times however many are alive.
        if functions.len() >= KEPT && functions.len().is_power_of_two() {
            functions.retain(|_, function| function.strong_count() > 0);
        }
        functions.insert(name, Arc::downgrade(&made));
        HostFunction(made)
    }

    /// The function of that name that is alive.
    fn find(name: &str) -> Option<HostFunction> {
        let functions = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        functions.as_ref()?.get(name)?.upgrade().map(HostFunction)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What is called; nothing where a text named a function that this program does not have.
    pub fn custom(&self) -> Option<&Custom> {
        self.0.function.as_ref()
    }

    /// Calls it on arrays, for results of these types.
    pub fn call(&self, operands: &[Tensor], results: &[ArrayType]) -> Result<Vec<Tensor>, CallError> {
        let custom = self.custom().ok_or_else(|| self.absent())?;
        let inputs: Vec<BufferRef<'_>> = operands
            .iter()
            .map(|x| BufferRef { dtype: x.dtype(), shape: x.shape(), bytes: x.as_bytes() })
            .collect();
        // Room to start at a multiple of the alignment, wherever the allocation starts.
        let sizes: Vec<usize> = results.iter().map(|ty| ty.shape.len() * ty.dtype.size()).collect();
        let mut rooms: Vec<Vec<u8>> = sizes.iter().map(|size| vec![0; size + size_of::<u64>()]).collect();
        let mut outputs: Vec<BufferMut<'_>> = (rooms.iter_mut().zip(&sizes).zip(results))
            .map(|((room, size), ty)| {
                let start = room.as_ptr().align_offset(size_of::<u64>());
                BufferMut { dtype: ty.dtype, shape: &ty.shape, bytes: &mut room[start..start + size] }
            })
            .collect();
        custom.function().call(&inputs, &mut outputs)?;
        let tensors = outputs.iter_mut().map(|output| {
            if output.dtype.is_bool() {
                output.bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
            }
            Ok(Tensor::from_bytes(output.dtype, output.shape.clone(), output.bytes)?)
        });
        tensors.collect()
    }

    /// The function that calls this one for each element of a new leading axis, in order. Operands that have no
    /// such axis are the same each time.
    pub fn each(&self, size: usize, batched: &[bool]) -> HostFunction {
        let axes: Vec<&str> = batched.iter().map(|&batched| if batched { "0" } else { "-" }).collect();
        let name = format!("{} for each of {size} along {}", self.name(), axes.join(","));
        HostFunction::named(name.clone(), || Each {
            name,
            function: self.clone(),
            size,
            batched: batched.to_vec(),
        })
    }

    /// That a text named a function which this program does not have.
    pub(crate) fn absent(&self) -> String {
        format!(
            "the function `{}` is part of the program that made this graph, and not of this one",
            self.name()
        )
    }
}

/// A function called for each element of a leading axis.
struct Each {
    name: String,
    function: HostFunction,
    size: usize,
    /// Which operands have the axis.
    batched: Vec<bool>,
}

impl BufferFn for Each {
    fn name(&self) -> &str {
        &self.name
    }

    fn call(&self, inputs: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) -> Result<(), CallError> {
        let custom = self.function.custom().ok_or_else(|| self.function.absent())?;
        let has_axis = |k: usize| self.batched.get(k).copied().unwrap_or(false);
        let element = |(k, input): (usize, &BufferRef<'_>)| {
            if has_axis(k) { input.shape.remove(0) } else { input.shape.clone() }
        };
        let in_shapes: Vec<Shape> = inputs.iter().enumerate().map(element).collect();
        let out_shapes: Vec<Shape> = outputs.iter().map(|output| output.shape.remove(0)).collect();
        for i in 0..self.size {
            let part: Vec<BufferRef<'_>> = (inputs.iter().zip(&in_shapes).enumerate())
                .map(|(k, (input, shape))| {
                    let len = shape.len() * input.dtype.size();
                    let start = if has_axis(k) { i * len } else { 0 };
                    BufferRef { dtype: input.dtype, shape, bytes: &input.bytes[start..start + len] }
                })
                .collect();
            let mut made: Vec<BufferMut<'_>> = (outputs.iter_mut().zip(&out_shapes))
                .map(|(output, shape)| {
                    let len = shape.len() * output.dtype.size();
                    let bytes = &mut output.bytes[i * len..(i + 1) * len];
                    BufferMut { dtype: output.dtype, shape, bytes }
                })
                .collect();
            let done = custom.function().call(&part, &mut made);
            done.map_err(|error| InElement { element: i, size: self.size, error })?;
        }
        Ok(())
    }
}

/// A function that was called for each element of an axis failed for one of them.
#[derive(Debug)]
pub struct InElement {
    /// For which.
    pub element: usize,
    /// Of how many.
    pub size: usize,
    /// What it failed with.
    pub error: CallError,
}

impl fmt::Display for InElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (in element {} of {})", self.error, self.element, self.size)
    }
}

impl std::error::Error for InElement {}

impl Param for HostFunction {
    fn to_value(&self) -> ParamValue {
        ParamValue::Text(self.name().to_string())
    }

    fn from_value(value: &ParamValue) -> Option<HostFunction> {
        let ParamValue::Text(name) = value else { return None };
        let absent = || HostFunction(Arc::new(Inner { name: name.clone(), function: None }));
        Some(HostFunction::find(name).unwrap_or_else(absent))
    }
}

impl PartialEq for HostFunction {
    fn eq(&self, other: &HostFunction) -> bool {
        self.name() == other.name()
    }
}

impl Eq for HostFunction {}

impl Hash for HostFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for HostFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.name())
    }
}

#[cfg(test)]
mod tests {
    use tracewell_array::DType;

    use super::*;

    /// Adds one to an `i32`, and fails for 3.
    struct Next;

    impl BufferFn for Next {
        fn name(&self) -> &str {
            "next"
        }

        fn call(&self, inputs: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) -> Result<(), CallError> {
            let (x, y) = (inputs[0].as_slice::<i32>()?, outputs[0].as_mut_slice::<i32>()?);
            if x.contains(&3) {
                return Err("three".into());
            }
            y.iter_mut().zip(x).for_each(|(y, x)| *y = x + inputs.len() as i32);
            Ok(())
        }
    }

    #[test]
    fn each_element_in_order_and_nested() {
        let next = HostFunction::named("next of host.rs", || Next);
        let twice = next.each(2, &[true, false]).each(3, &[true, true]);
        assert_eq!(twice, next.each(2, &[true, false]).each(3, &[true, true]));
        assert_ne!(twice, next.each(2, &[true, true]).each(3, &[true, true]));
        let x = Tensor::from_slice(&[10i32, 20, 30, 40, 50, 60], [3, 2]).unwrap();
        let y = Tensor::from_slice(&[0i32, 0, 0], [3]).unwrap();
        let ty = ArrayType::new(DType::I32, [3, 2]);
        let results = twice.call(&[x, y.clone()], std::slice::from_ref(&ty)).unwrap();
        assert_eq!(results[0].to_vec::<i32>().unwrap(), [12, 22, 32, 42, 52, 62]);
        let x = Tensor::from_slice(&[1i32, 2, 1, 3, 1, 2], [3, 2]).unwrap();
        let error = twice.call(&[x, y], &[ty]).unwrap_err();
        assert_eq!(error.to_string(), "three (in element 1 of 2) (in element 1 of 3)");
    }

    #[test]
    fn a_text_finds_the_function_that_is_alive() {
        let next = HostFunction::named("another next of host.rs", || Next);
        let read = HostFunction::from_value(&next.to_value()).unwrap();
        assert!(read == next && read.custom().is_some());
        let read = HostFunction::from_value(&ParamValue::Text("nobody's".into())).unwrap();
        let error = read.call(&[], &[]).unwrap_err();
        assert!(error.to_string().contains("not of this one"));
    }
}
