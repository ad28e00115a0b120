//! The verifier: what must hold of a kernel, of a launch and of a program before anything runs it.
//!
//! A kernel on its own ([`verify_kernel`]):
//! - regions nest at most [`MAX_DEPTH`](crate::text::MAX_DEPTH) deep; stack buffers take at most
//!   [`MAX_STACK`] bytes;
//! - every value is defined once, and used only after that inside the region that defines it;
//! - every operation has the type that [`Op::result`](crate::Op::result) says; loop variables and the values
//!   in an index are `i64`; conditions are `bool`; loads and stores have the type of their buffer;
//! - what a region yields is what its statement expects, in number and type; every combination of a `reduce`
//!   is defined on its type;
//! - buffers and sizes exist; only parameters marked as written and stack buffers are stored to; a parameter
//!   that is written is loaded only where the same iteration has stored before, unless it is the kernel's own;
//!   nothing is stored inside a `reduce`;
//! - a library call has the buffers that its types ask for, and writes none of those that it reads.
//!
//! A kernel with the lengths of its buffers and the values of its sizes ([`verify_launch`]):
//! - as many buffers and sizes are given as there are parameters;
//! - every access is inside its buffer, by interval arithmetic: a loop variable is in `0..extent`, a `clamp`
//!   in `0..size` and so is its conversion to `i64`, an `i64` constant or size is itself, and any other value
//!   in an index is an error. What is inside a loop without iterations is not reached and needs no proof;
//! - no two iterations of an `each` touch the same place of a buffer if one of them stores to it. (A stack
//!   buffer that is used only inside the `each` is private to its iterations.)
//!
//! A program ([`verify_program`]):
//! - all of the above for its kernels and for each of its launches;
//! - slots exist; types and lengths agree with what is done with them; memory sizes fit the machine;
//! - inputs and constants are not written; every output is written; nothing is read before it is written;
//!   results are inputs, outputs or constants; inputs have different numbers;
//! - temporaries lie inside the arena, or inside an output that reuses nothing and is not touched until they are used no
//!   longer, at multiples of [`ALIGN`]; two that overlap are not in use at the same time;
//! - a launch binds one slot to two parameters, one of them written, only if all accesses of both have the
//!   same index from the first statement on that stores, and what is loaded before that, in the same turn of the loops
//!   around, is touched by no other turn;
//! - an output that may reuse an input has elements of its size and its number of them; it is the only one
//!   that may; and the input is not read after a store to the output, which a launch may do after its loads, as if
//!   both were one slot.
//!
//! All arithmetic is checked: there is no size for which the verifier overflows.
//!
//! Deliberately absent: that an output or stack buffer is written *wholly* before it is read. The evaluator
//! finds that out by running.

mod kernel;
mod launch;
mod program;

use std::fmt;

use crate::ir::{BufferId, Index, Kernel, Stmt};
use crate::program::Program;
use crate::text::{self, Names, Notes, Place};

/// How many bytes the stack buffers of a kernel take at most.
pub const MAX_STACK: usize = 64 << 10;

/// What the place of a temporary in the arena is a multiple of.
pub const ALIGN: usize = 64;

/// So many errors are enough.
const MAX_ERRORS: usize = 100;

/// A rule that is broken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// The line of the text that breaks it.
    pub place: Place,
    /// What is wrong.
    pub message: String,
}

/// Everything that is wrong. Displayed as the text with each error in a comment under its line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyErrors {
    errors: Vec<VerifyError>,
    text: String,
}

impl VerifyErrors {
    /// The errors in the order in which they were found; at least one.
    pub fn errors(&self) -> &[VerifyError] {
        &self.errors
    }
}

impl fmt::Display for VerifyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for VerifyErrors {}

/// Checks what holds of a kernel for every launch.
pub fn verify_kernel(kernel: &Kernel) -> Result<(), VerifyErrors> {
    let mut report = Report::default();
    kernel::check(kernel, 0, &mut report);
    report.finish(|notes| text::kernel_with_notes(kernel, notes))
}

/// Checks a kernel with the number of elements of each buffer parameter and the value of each size.
pub fn verify_launch(kernel: &Kernel, lens: &[usize], sizes: &[i64]) -> Result<(), VerifyErrors> {
    verify_kernel(kernel)?;
    let mut report = Report::default();
    match launch::check(kernel, lens, sizes, &[], &[]) {
        Ok(faults) => {
            for fault in faults {
                report.add(Place::Stmt(0, fault.stmt), fault.message);
            }
        }
        Err(message) => report.add(Place::Kernel(0), message),
    }
    report.finish(|notes| text::kernel_with_notes(kernel, notes))
}

/// Checks a program with all its kernels and launches.
pub fn verify_program(program: &Program) -> Result<(), VerifyErrors> {
    let mut report = Report::default();
    program::check(program, &mut report);
    report.finish(|notes| text::program_with_notes(program, notes))
}

/// The errors found so far.
#[derive(Default)]
struct Report {
    errors: Vec<VerifyError>,
}

impl Report {
    fn add(&mut self, place: Place, message: impl Into<String>) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(VerifyError { place, message: message.into() });
        }
    }

    fn finish(self, text: impl FnOnce(&Notes) -> String) -> Result<(), VerifyErrors> {
        if self.errors.is_empty() {
            return Ok(());
        }
        let mut notes = Notes::new();
        for error in &self.errors {
            notes.entry(error.place).or_default().push(format!("error: {}", error.message));
        }
        Err(VerifyErrors { errors: self.errors, text: text(&notes) })
    }
}

/// `1 value`, `2 values`
fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// One use of a buffer by a statement.
struct Access<'a> {
    stmt: &'a Stmt,
    /// The number of the statement, in the order of the text.
    number: usize,
    buffer: BufferId,
    stores: bool,
    /// The first element of it.
    index: &'a Index,
    /// How many elements from there on: 1, or those of the window of a library call. `None` if there are too many.
    len: Option<usize>,
}

/// The accesses that a statement itself makes, without those of its regions.
fn own_accesses(stmt: &Stmt, number: usize) -> Vec<Access<'_>> {
    let access =
        |buffer: &BufferId, stores, index, len| Access { stmt, number, buffer: *buffer, stores, index, len };
    match stmt {
        Stmt::Load { buffer, index, .. } => vec![access(buffer, false, index, Some(1))],
        Stmt::Store { buffer, index, .. } => vec![access(buffer, true, index, Some(1))],
        Stmt::Call { call, windows } => {
            let numbered = call.memory().zip(windows).enumerate();
            let is_output = |i| i >= call.inputs.len();
            numbered
                .map(|(i, ((_, shape), w))| access(&w.buffer, is_output(i), &w.start, shape.checked_len()))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// All accesses of statements, in the order of the text.
fn all_accesses(stmts: &[Stmt]) -> Vec<Access<'_>> {
    fn walk<'a>(stmts: &'a [Stmt], count: &mut usize, all: &mut Vec<Access<'a>>) {
        for stmt in stmts {
            all.extend(own_accesses(stmt, *count));
            *count += 1;
            for inner in text::inner_regions(stmt) {
                walk(&inner.stmts, count, all);
            }
        }
    }
    let mut all = Vec::new();
    walk(stmts, &mut 0, &mut all);
    all
}

#[cfg(test)]
mod program_tests;
#[cfg(test)]
mod tests;
