//! How a program failed: what is compared to tell one failure from another.

use tracewell_graph::Prim;
use tracewell_trace::{Api, Error, ErrorKind};

/// Where on its way a program failed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// While a function was traced, or before.
    Tracing,
    /// While a graph was compiled.
    Compiling,
    /// While it ran.
    Running,
}

impl Stage {
    /// As texts name it.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Tracing => "tracing",
            Stage::Compiling => "compiling",
            Stage::Running => "running",
        }
    }

    /// By its name.
    pub fn parse(name: &str) -> Option<Stage> {
        [Stage::Tracing, Stage::Compiling, Stage::Running].into_iter().find(|stage| stage.name() == name)
    }
}

/// A failure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The kind of the error; `Panic` for a panic of the user's.
    pub kind: String,
    /// Where on its way it failed.
    pub stage: Stage,
    /// The primitive that failed, where it is one.
    pub primitive: Option<String>,
    /// The message, in full.
    pub message: String,
}

/// What must be the same for two failures to be one: the rest, such as sizes, may change as a program is made
/// smaller.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Signature {
    /// The kind of the error.
    pub kind: String,
    /// Where on its way it failed.
    pub stage: Stage,
    /// The primitive that failed, where it is one.
    pub primitive: Option<String>,
    /// The message without what varies.
    pub skeleton: String,
}

impl Failure {
    /// That of an error; `primitive` is what failed, where it is one.
    pub fn of(error: &Error, primitive: Option<&str>) -> Failure {
        let stage = match error.kind() {
            _ if error.is_running() => Stage::Running,
            ErrorKind::Library | ErrorKind::Check | ErrorKind::Stopped => Stage::Running,
            ErrorKind::Bug => Stage::Compiling,
            _ => Stage::Tracing,
        };
        Failure {
            kind: format!("{:?}", error.kind()),
            stage,
            primitive: primitive.map(String::from),
            message: error.message().to_string(),
        }
    }

    /// That of a panic of the user's.
    pub fn panic(text: &str) -> Failure {
        Failure {
            kind: "Panic".to_string(),
            stage: Stage::Tracing,
            primitive: None,
            message: text.to_string(),
        }
    }

    /// What tells it from others.
    pub fn signature(&self) -> Signature {
        // How a process ends is told in many ways.
        let message = if self.kind == "Process" { "the process ended" } else { &self.message };
        Signature {
            kind: self.kind.clone(),
            stage: self.stage,
            primitive: self.primitive.clone(),
            skeleton: skeleton(message),
        }
    }
}

/// A message without numbers, types, paths of trees and source lines: each becomes `#`.
///
/// ```
/// use tracewell_repro::skeleton;
///
/// assert_eq!(skeleton("cannot add f32[4,3] and f32[4,5]: axis 1 is 3 and 5"), "cannot add # and #: axis # is # and #");
/// assert_eq!(skeleton("only the first has `tree[0].w`"), "only the first has `#`");
/// ```
pub fn skeleton(message: &str) -> String {
    let mut out = String::new();
    let mut rest = message;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if first == '`' {
            // A name of the library's stays; one of the user's, a path or a value does not.
            let inside = &rest[1..];
            if let Some(end) = inside.find('`') {
                let name = &inside[..end];
                out.push('`');
                out.push_str(if is_ours(name) { name } else { "#" });
                out.push('`');
                rest = &inside[end + 1..];
                continue;
            }
        }
        if let Some(after) = rest.strip_prefix("a closure") {
            // A function that has a name in one program may have none in another.
            out.push_str("`#`");
            rest = after;
            continue;
        }
        if first == '~' && is_type(&rest[1..]) {
            rest = &rest[1..];
            continue;
        }
        if is_type(rest) {
            let end = rest.find(']').map_or(rest.len(), |at| at + 1);
            push_hash(&mut out);
            rest = &rest[end..];
        } else if first.is_ascii_digit()
            || (first == '-' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            let end = rest[1..]
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-')))
                .map_or(rest.len(), |at| at + 1);
            // A sentence may end after a number.
            let number = rest[..end].trim_end_matches('.');
            push_hash(&mut out);
            rest = &rest[number.len().max(1)..];
        } else if word > 0 {
            out.push_str(&rest[..word]);
            rest = &rest[word..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// Whether this is the name of an API, a primitive or a method, and not of something of the user's.
fn is_ours(name: &str) -> bool {
    let method =
        name.strip_suffix("()").is_some_and(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
    method || Api::parse(name).is_some() || Prim::NAMES.contains(&name)
}

fn push_hash(out: &mut String) {
    out.push('#');
}

/// Whether a type such as `f32[2,3]` stands here.
fn is_type(text: &str) -> bool {
    let word = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    tracewell_array::DType::parse(&text[..word]).is_some() && text[word..].starts_with('[')
}
