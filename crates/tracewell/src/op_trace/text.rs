//! Saving and reading op traces: one text, of which the graph is the last part.
//!
//! ```text
//! tracewell trace 1
//! dropped 0
//! call - 0 120 3400 "jit softmax" src/main.rs:10:5
//! op 0 0 150 3000
//! input ~ f32[2]{1.0,2.0}
//! value 3 f32[]{3.0}
//! func @trace(…) … { … }
//! ```

use std::fmt::Write;
use std::path::Path;
use std::str::FromStr;

use tracewell_array::Tensor;
use tracewell_graph::text::{NoCustom, read, read_tensors, write_tensor, write_with_locations};
use tracewell_graph::{Atom, Graph, Location};
use tracewell_trace::{Error, ErrorKind, complete};

use super::{OpInput, OpRecord, OpTrace, TraceCall, wrong_file};
use crate::json;

const FIRST_LINE: &str = "tracewell trace 1";

impl OpTrace {
    /// Writes it into a file. A trace of primitives of your own, or of callbacks, can be written but not read.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let trace = tracing_ops(TraceOptions::default(), || Array::from(2.0f32).sqrt()).1.unwrap();
    /// let file = std::env::temp_dir().join(format!("sqrt-{}.trace", std::process::id()));
    /// trace.save(&file).unwrap();
    /// assert_eq!(OpTrace::load(&file).unwrap(), trace);
    /// # std::fs::remove_file(file).unwrap();
    /// ```
    #[track_caller]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let (path, location) = (path.as_ref(), Location::caller());
        let written = self.to_text().and_then(|text| {
            std::fs::write(path, text).map_err(|error| {
                Error::new(
                    ErrorKind::Io,
                    format!("cannot write an op trace to `{}`: {error}", path.display()),
                )
            })
        });
        written.map_err(|error| complete(error, &location))
    }

    /// Reads what [`save`](OpTrace::save) wrote. Nothing is run.
    #[track_caller]
    pub fn load(path: impl AsRef<Path>) -> Result<OpTrace, Error> {
        let (path, location) = (path.as_ref(), Location::caller());
        let text = std::fs::read_to_string(path).map_err(|error| wrong_file(path, error));
        let found = text.and_then(|text| OpTrace::from_text(&text).map_err(|why| wrong_file(path, why)));
        found.map_err(|error| complete(error, &location))
    }

    /// What [`save`](OpTrace::save) writes.
    pub fn to_text(&self) -> Result<String, Error> {
        let graph = self.graph()?;
        let mut out = format!("{FIRST_LINE}\ndropped {}\n", self.dropped);
        // Writing to a String cannot fail.
        for TraceCall { parent, what, location, thread, start, nanoseconds } in &self.calls {
            let (parent, time) = (or_none(*parent), or_none(*nanoseconds));
            let place = location.as_ref().map_or("-".to_string(), ToString::to_string);
            let _ = writeln!(out, "call {parent} {thread} {start} {time} {} {place}", json::string(what));
        }
        for op in &self.ops {
            let _ = writeln!(out, "op {} {} {} {}", or_none(op.call), op.thread, op.start, op.nanoseconds);
        }
        for (tensor, weak) in &self.inputs {
            let _ = writeln!(out, "input {} {}", if *weak { "~" } else { "=" }, write_tensor(tensor));
        }
        for op in &self.ops {
            for (number, value) in op.values.iter().enumerate() {
                if let Some(tensor) = value {
                    let _ = writeln!(out, "value {} {}", op.first + number, write_tensor(tensor));
                }
            }
        }
        out.push_str(&write_with_locations(&graph));
        Ok(out)
    }

    /// Reads what [`save`](OpTrace::save) writes; says what is wrong with it.
    pub fn from_text(text: &str) -> Result<OpTrace, String> {
        let rest =
            text.strip_prefix(FIRST_LINE).ok_or_else(|| format!("its first line is not `{FIRST_LINE}`"))?;
        let at = rest.find("\nfunc ").ok_or("it has no graph")?;
        let (head, graph) = rest.split_at(at);
        let graph = read(graph, &NoCustom).map_err(|error| error.to_string())?;
        let mut trace = OpTrace { calls: Vec::new(), ops: Vec::new(), inputs: Vec::new(), dropped: 0 };
        let mut ops = Vec::new();
        let mut values: Vec<Option<Tensor>> = vec![None; graph.types.len()];
        for line in head.lines().filter(|line| !line.is_empty()) {
            let (word, rest) = line.split_once(' ').ok_or_else(|| format!("`{line}` has one word"))?;
            match word {
                "dropped" => trace.dropped = number(rest)?,
                "call" => trace.calls.push(call(rest, trace.calls.len())?),
                "op" => ops.push(op(rest, trace.calls.len())?),
                "input" => {
                    let (weak, tensor) = rest.split_once(' ').ok_or("an input has no array")?;
                    trace.inputs.push((one_tensor(tensor)?, weak == "~"));
                }
                "value" => {
                    let (which, tensor) = rest.split_once(' ').ok_or("a value has no array")?;
                    let place = values.get_mut(number::<usize>(which)?).ok_or("a value of no array")?;
                    *place = Some(one_tensor(tensor)?);
                }
                other => return Err(format!("`{other}` is no part of an op trace")),
            }
        }
        let types: Vec<_> =
            trace.inputs.iter().map(|(t, weak)| (t.dtype(), t.shape().clone(), *weak)).collect();
        let wanted: Vec<_> =
            graph.input_types().into_iter().map(|ty| (ty.dtype, ty.shape, ty.weak)).collect();
        if types != wanted || ops.len() != graph.equations.len() {
            return Err("its graph is not that of its ops and inputs".to_string());
        }
        let mut made = trace.inputs.len();
        for (equation, (call, thread, start, nanoseconds)) in graph.equations.iter().zip(ops) {
            let mut op = of_equation(&graph, equation, &mut values, (call, thread, start, nanoseconds))?;
            op.first = made;
            made += op.values.len();
            trace.ops.push(op);
        }
        Ok(trace)
    }
}

type Timing = (Option<usize>, usize, u64, u64);

fn of_equation(
    graph: &Graph,
    equation: &tracewell_graph::Equation,
    values: &mut [Option<Tensor>],
    (call, thread, start, nanoseconds): Timing,
) -> Result<OpRecord, String> {
    let input = |atom: &Atom| match atom {
        Atom::Var(var) => OpInput::Array(var.0 as usize),
        Atom::Splat(splat) => OpInput::Number(splat.clone()),
    };
    let types = crate::stepping::result_types(graph, equation);
    let kept: Vec<Option<Tensor>> =
        equation.outputs.iter().map(|var| values[var.0 as usize].take()).collect();
    for (value, ty) in kept.iter().zip(&types) {
        if value.as_ref().is_some_and(|value| value.dtype() != ty.dtype || *value.shape() != ty.shape) {
            return Err(format!("a value is not {ty}, which it should be"));
        }
    }
    Ok(OpRecord {
        prim: equation.prim.clone(),
        inputs: equation.inputs.iter().map(input).collect(),
        first: 0,
        values: kept,
        types,
        call,
        location: equation.location.clone().ok_or("an op has no line")?,
        thread,
        start,
        nanoseconds,
    })
}

fn or_none(number: Option<impl ToString>) -> String {
    number.map_or("-".to_string(), |number| number.to_string())
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn optional<T: FromStr>(text: &str) -> Result<Option<T>, String> {
    if text == "-" { Ok(None) } else { number(text).map(Some) }
}

/// The number of a call that came before.
fn earlier(text: &str, calls: usize) -> Result<Option<usize>, String> {
    match optional::<usize>(text)? {
        Some(call) if call >= calls => Err(format!("there is no call {call} yet")),
        found => Ok(found),
    }
}

fn call(text: &str, calls: usize) -> Result<TraceCall, String> {
    let mut words = text.splitn(5, ' ');
    let mut next = || words.next().ok_or_else(|| format!("`{text}` is no call"));
    let (parent, thread, start, time) =
        (earlier(next()?, calls)?, number(next()?)?, number(next()?)?, optional(next()?)?);
    let rest = next()?;
    let end = rest.rfind("\" ").filter(|_| rest.starts_with('"')).ok_or("a call has no name")?;
    let what = unquoted(&rest[1..end])?;
    let location = match &rest[end + 2..] {
        "-" => None,
        place => Some(place_of(place)?),
    };
    Ok(TraceCall { parent, what, location, thread, start, nanoseconds: time })
}

fn op(text: &str, calls: usize) -> Result<Timing, String> {
    let words: Vec<&str> = text.split(' ').collect();
    let [call, thread, start, time] = words.as_slice() else { return Err(format!("`{text}` is no op")) };
    Ok((earlier(call, calls)?, number(thread)?, number(start)?, number(time)?))
}

/// What is between the quotation marks of our JSON.
fn unquoted(text: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (c, false) => out.push(c),
            _ => match chars.next() {
                Some('n') => out.push('\n'),
                Some('u') => {
                    let digits: String = chars.by_ref().take(4).collect();
                    let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                    out.push(code.ok_or("a name has an odd character")?);
                }
                Some(c) => out.push(c),
                None => return Err("a name ends in the middle".to_string()),
            },
        }
    }
    Ok(out)
}

/// `file:line:column`
fn place_of(text: &str) -> Result<Location, String> {
    let mut parts = text.rsplitn(3, ':');
    let (column, line, file) = (parts.next(), parts.next(), parts.next());
    match (file, line, column) {
        (Some(file), Some(line), Some(column)) => {
            Ok(Location { file: file.to_string().into(), line: number(line)?, column: number(column)? })
        }
        _ => Err(format!("`{text}` is no place")),
    }
}

fn one_tensor(text: &str) -> Result<Tensor, String> {
    let mut all = read_tensors(text).map_err(|error| error.message)?;
    match (all.pop(), all.is_empty()) {
        (Some(tensor), true) => Ok(tensor),
        _ => Err(format!("`{text}` is not one array")),
    }
}
