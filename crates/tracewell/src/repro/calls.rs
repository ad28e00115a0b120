//! Checks of arguments that fail before a primitive is reached, by name: what a repro does again.

use tracewell_array::DType;
use tracewell_graph::Location;
use tracewell_trace::{Error, ErrorKind, Value};

use crate::array::{Array, Cut, axes_of, axis_of, cut_of, plan};

/// Does what failed again: the same check, of the same arrays.
pub(super) fn call(
    name: &str,
    operands: &[Value],
    arguments: &[&str],
    location: &Location,
) -> Result<(), Error> {
    match (name, operands, arguments) {
        ("unify", [a, b], [verb]) => crate::array::unify(verb, [a.clone(), b.clone()], location).map(|_| ()),
        ("unify", [a, b, c], [verb]) => {
            crate::array::unify(verb, [a.clone(), b.clone(), c.clone()], location).map(|_| ())
        }
        ("unexpected", all, []) => {
            let (found, wrong) = all.split_at(all.len() / 2);
            let same = |(a, b): (&Value, &Value)| match (a.known(), b.known()) {
                (Some(a), Some(b)) => a.bits_eq(&b),
                _ => false,
            };
            match found.iter().zip(wrong).all(same) {
                true => {
                    let message = "a result is not what was expected";
                    Err(Error::new(ErrorKind::Check, message).while_running())
                }
                false => Ok(()),
            }
        }
        ("axis", [x], [axis]) => axis_of(&array(x), number(axis)?).map(|_| ()),
        ("axes", [x], [axes]) => axes_of(&array(x), &numbers(axes)?).map(|_| ()),
        ("slice", [x], [cuts]) => {
            let all: Option<Vec<Cut>> = match *cuts {
                "" => Some(Vec::new()),
                cuts => cuts.split(", ").map(cut_of).collect(),
            };
            plan(&array(x), &all.ok_or_else(|| wrong(cuts))?).map(|_| ())
        }
        ("dot", [a, b], []) => {
            array(a).dot(&array(b));
            Ok(())
        }
        ("squeeze", [x], [axis]) => {
            array(x).squeeze(number(axis)?);
            Ok(())
        }
        ("broadcast_to", [x], [sizes]) => {
            let sizes: Vec<usize> = numbers(sizes)?.into_iter().map(|n| n.max(0) as usize).collect();
            array(x).broadcast_to(sizes);
            Ok(())
        }
        ("item", [x], [element]) => {
            let dtype = DType::parse(element).ok_or_else(|| wrong(element))?;
            array(x).item_again(dtype, location)
        }
        _ => {
            let message = format!("there is no call `{name}` of {} arrays to do again", operands.len());
            Err(Error::new(ErrorKind::Structure, message))
        }
    }
}

fn array(value: &Value) -> Array {
    Array::unfilled(value.clone())
}

fn wrong(text: &str) -> Error {
    Error::new(ErrorKind::Structure, format!("`{text}` is no argument of a call to do again"))
}

fn number(text: &str) -> Result<isize, Error> {
    text.parse().map_err(|_| wrong(text))
}

/// Numbers with commas between.
fn numbers(text: &str) -> Result<Vec<isize>, Error> {
    text.split(',').filter(|part| !part.is_empty()).map(number).collect()
}
