//! Checks of arguments that fail before a primitive is reached, by name: what a repro does again.
//!
//! Each name is one that the function that found the mistake has put beside it (`array::found_by`), with the arrays
//! that it looked at and its other arguments as text. What is done again is the check, or the function as a whole.

use tracewell_array::{DType, Shape};
use tracewell_graph::Location;
use tracewell_kernel::FftKind;
use tracewell_trace::{Error, ErrorKind, Value};

use crate::array::{self, Array, Cut, axes_of, axis_of, cut_of, plan};
use crate::windows::{self, Conv, Layout, Window};
use crate::{linalg, primitive, products, random, tree};

/// Does what failed again: the same check, of the same arrays.
pub(super) fn call(
    name: &str,
    operands: &[Value],
    arguments: &[&str],
    location: &Location,
) -> Result<(), Error> {
    let all: Vec<Array> = operands.iter().map(array).collect();
    match (name, operands, arguments) {
        ("unify", [a, b], [verb]) => array::unify(verb, [a.clone(), b.clone()], location).map(|_| ()),
        ("unify", [a, b, c], [verb]) => {
            array::unify(verb, [a.clone(), b.clone(), c.clone()], location).map(|_| ())
        }
        ("unexpected", _, []) => unexpected(operands),
        ("starts", [_, starts @ ..], [sizes]) => array::check_starts(&all[0], starts, &shape(sizes)?),
        ("update_type", [_, update], []) => array::type_after_update(&all[0], update).map(|_| ()),
        ("at", _, [method, target, missing, from_back]) => {
            let done = array::at_again(&all, [method, target, missing, from_back], location);
            done.ok_or_else(|| wrong(target))
        }
        _ => call_of_arrays(name, &all, arguments, location),
    }
}

fn call_of_arrays(
    name: &str,
    arrays: &[Array],
    arguments: &[&str],
    location: &Location,
) -> Result<(), Error> {
    match (name, arrays, arguments) {
        ("axis", [x], [axis]) => axis_of(x, number(axis)?).map(|_| ()),
        ("axes", [x], [axes]) => axes_of(x, &numbers(axes)?).map(|_| ()),
        ("slice", [x], [cuts]) => {
            let all: Option<Vec<Cut>> = cuts.split(", ").filter(|cut| !cut.is_empty()).map(cut_of).collect();
            plan(x, &all.ok_or_else(|| wrong(cuts))?).map(|_| ())
        }
        ("item", [x], [element]) => x.item_again(dtype(element)?, location),
        ("element", [x], [method, element]) => x.check_element_again(method, dtype(element)?),
        ("frequencies", [], [element]) => array::check_frequencies(dtype(element)?),
        ("fft", [x], [kind, axes, lengths]) => {
            let kind = FftKind::parse(kind).ok_or_else(|| wrong(kind))?;
            let lengths = if *lengths == "-" { None } else { Some(numbers(lengths)?) };
            array::fft_again(kind, x, numbers(axes)?, lengths)
        }
        ("window", [x], [window]) => windows::moves_over_all(x, &window_of(window)?).map(|_| ()),
        ("pool", [x], [name, window]) => windows::moves_of(name, x, &window_of(window)?).map(|_| ()),
        ("places", [x], [name, layout]) => {
            let layout = Layout::read(layout).ok_or_else(|| wrong(layout))?;
            windows::places_of(name, x, layout).map(|_| ())
        }
        ("map2", [], [left, right]) => tree::check_pairs(&lines(left), &lines(right)),
        ("primitive_name", [], [name]) => primitive::check_name(name),
        ("lower", [], []) => crate::lower(|| ()).map(|_| ()),
        ("use_key", [words], []) => crate::checks::use_key(words, location),
        _ => whole(name, arrays, arguments, location),
    }
}

/// Functions that are called as a whole: they raise what they find.
fn whole(name: &str, arrays: &[Array], arguments: &[&str], location: &Location) -> Result<(), Error> {
    // Where a key is wanted, what failed had not come to it.
    let key = || random::key(0);
    match (name, arrays, arguments) {
        ("shape", [], [sizes]) => drop(array::checked_shape(shape(sizes)?, location)),
        ("iota", [], [sizes, axis, element]) => {
            drop(Array::iota(shape(sizes)?, number(axis)?, dtype(element)?));
        }
        ("dot", [a, b], []) => drop(a.dot(b)),
        ("matmul", [a, b], []) => drop(products::matmul(a, b)),
        ("batch", [a, b], [name]) if a.rank().min(b.rank()) >= 2 => {
            drop(products::batch_shape(name, a, b));
        }
        ("einsum", all, [formula]) => drop(products::einsum(formula, &all.iter().collect::<Vec<_>>())),
        ("squeeze", [x], [axis]) => drop(x.squeeze(number(axis)?)),
        ("expand", [x], [axis]) => drop(x.expand(number(axis)?)),
        ("broadcast_to", [x], [sizes]) => drop(x.broadcast_to(shape(sizes)?)),
        ("pad", [x], [count]) => drop(x.pad(&vec![(0, 0); few(count)?], 0)),
        ("join", [], ["stack"]) => drop(array::stack::<Array>(&[], 0)),
        ("join", [], [_]) => drop(array::concatenate::<Array>(&[], 0)),
        ("scalar", [x], []) => drop(array::Scalar::new(x.clone())),
        ("convert", [x], [element]) => drop(x.convert(dtype(element)?)),
        ("select", [condition, a, b], []) => drop(array::select(condition, a, b)),
        ("dynamic_update_index", [x, update, place], [axis]) => {
            drop(x.dynamic_update_index(update, place, number(axis)?));
        }
        ("segment_sum", [data, ids], [count]) => drop(array::segment_sum(data, ids, number(count)?)),
        ("one_hot", [indices], [count, element]) => {
            drop(array::one_hot(indices, number(count)?, dtype(element)?));
        }
        ("nonzero", [x], [size]) => drop(x.nonzero(number(size)?)),
        ("top_k", [x], [k, axis]) => drop(x.top_k(number(k)?, number(axis)?)),
        ("sort_together", all, [keys, axis]) => {
            drop(array::sort_together(all, number(keys)?, number(axis)?));
        }
        ("searchsorted", [x, queries], []) => drop(x.searchsorted(queries)),
        ("quantile", [x], [q, axis]) => drop(x.quantile(number(q)?, number(axis)?)),
        ("unique", [x], [size]) => drop(x.unique(number(size)?)),
        ("matrices", [a], [name]) => linalg::check_matrices(name, a),
        ("square", [a], [name]) => drop(linalg::square(name, a)),
        ("sides", [a, b], [name]) if a.rank() >= 2 => {
            drop(linalg::with_sides(name, a, b, |_, b| b.clone()));
        }
        ("cross", [a, b], []) => drop(linalg::cross(a, b)),
        ("vector_norm", [x], [p, axis]) => drop(linalg::vector_norm(x, number(p)?, number(axis)?)),
        ("conv", [x, w], [name, how]) => {
            let how = Conv::read(how).ok_or_else(|| wrong(how))?;
            match *name {
                "conv" => drop(windows::conv(x, w, &how)),
                _ => drop(windows::conv_transpose(x, w, &how)),
            }
        }
        ("key", [words], []) => drop(random::Key::from_words(words)),
        ("one_key", [words], []) => drop(random::split_n(&random::Key::from_words(words), 1)),
        ("fold_in", [x], []) => drop(random::fold_in(&key(), x)),
        ("bits", [], [element]) => drop(random::bits(&key(), [1], dtype(element)?)),
        ("draw", [], [sizes]) => drop(random::bits(&key(), shape(sizes)?, DType::U32)),
        ("floats", [], [name, element]) => random::check_float(name, dtype(element)?, location),
        ("randint", [], [low, high, element]) => {
            drop(random::randint(&key(), [1], number(low)?, number(high)?, dtype(element)?));
        }
        ("choice_weighted", [p], []) => drop(random::choice_weighted(&key(), p, [1])),
        ("categorical", [logits], [axis]) => drop(random::categorical(&key(), logits, number(axis)?)),
        ("check", [condition], []) => {
            crate::effects::check_at(location, "a condition", |_| String::new(), condition.clone(), &[]);
        }
        _ => {
            let message = format!("there is no call `{name}` of {} arrays to do again", arrays.len());
            return Err(Error::new(ErrorKind::Structure, message));
        }
    }
    Ok(())
}

/// What was not expected is found again if results are the ones that were wrong.
fn unexpected(all: &[Value]) -> Result<(), Error> {
    let (found, wrong) = all.split_at(all.len() / 2);
    let same = |(a, b): (&Value, &Value)| match (a.known(), b.known()) {
        (Some(a), Some(b)) => a.bits_eq(&b),
        _ => false,
    };
    match found.iter().zip(wrong).all(same) {
        true => Err(Error::new(ErrorKind::Check, "a result is not what was expected").while_running()),
        false => Ok(()),
    }
}

fn array(value: &Value) -> Array {
    Array::unfilled(value.clone())
}

fn wrong(text: &str) -> Error {
    Error::new(ErrorKind::Structure, format!("`{text}` is no argument of a call to do again"))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Error> {
    text.parse().map_err(|_| wrong(text))
}

/// A number of things that are made one by one: a text may ask for any.
fn few(text: &str) -> Result<usize, Error> {
    number(text).and_then(|count: usize| if count <= 1000 { Ok(count) } else { Err(wrong(text)) })
}

/// Numbers with commas between.
fn numbers<T: std::str::FromStr>(text: &str) -> Result<Vec<T>, Error> {
    text.split(',').filter(|part| !part.is_empty()).map(number).collect()
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(String::from).collect()
}

fn shape(text: &str) -> Result<Shape, Error> {
    numbers::<usize>(text).map(Shape::from)
}

fn dtype(text: &str) -> Result<DType, Error> {
    DType::parse(text).ok_or_else(|| wrong(text))
}

fn window_of(text: &str) -> Result<Window, Error> {
    Window::read(text).ok_or_else(|| wrong(text))
}
