//! Why a text could not be read, with the line that could not.

use std::fmt;

/// How many characters of a line are shown on each side of the place.
const WINDOW: usize = 80;

/// Why a text could not be read, and where.
///
/// Displayed as `line:column: message`, then the line and a caret under the place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
    /// The line of the text, or as much of it as is near the place.
    excerpt: String,
    /// Where in the excerpt the place is, counted from 0.
    caret: usize,
}

impl ReadError {
    /// An error at a place of a text, given in bytes.
    pub(super) fn new(text: &str, at: usize, message: impl Into<String>) -> ReadError {
        let (before, after) = text.split_at(at);
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let before_in_line = &before[line_start..];
        let rest_of_line = after.lines().next().unwrap_or("");
        let column = before_in_line.chars().count();
        let cut_left = column.saturating_sub(WINDOW);
        let mut excerpt = String::from(if cut_left > 0 { "…" } else { "" });
        excerpt.extend(before_in_line.chars().skip(cut_left).map(visible));
        let caret = excerpt.chars().count();
        excerpt.extend(rest_of_line.chars().take(WINDOW).map(visible));
        if rest_of_line.chars().nth(WINDOW).is_some() {
            excerpt.push('…');
        }
        ReadError {
            line: before.matches('\n').count() + 1,
            column: column + 1,
            message: message.into(),
            excerpt,
            caret,
        }
    }
}

/// Tabs and control characters would move the caret away from its place.
fn visible(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReadError { line, column, message, excerpt, caret } = self;
        write!(f, "{line}:{column}: {message}\n{excerpt}\n{:caret$}^", "")
    }
}

impl std::error::Error for ReadError {}
