//! The one error of the library: what went wrong, at which line of the user's, on the way through which
//! functions, and the way out.

use std::fmt;

use tracewell_graph::Location;

use crate::api::Api;

/// What kind of mistake it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Operands of shapes or element types that do not go together.
    Type,
    /// An index, axis or shape argument that makes no sense for the array.
    Index,
    /// The value of an abstract tracer was asked for.
    AbstractValue,
    /// A tracer was used after its trace had ended.
    LeakedTracer,
    /// A jitted function that is another one each time it is traced.
    Impure,
    /// A random key was used a second time.
    KeyReused,
    /// Trees of different structure.
    Structure,
    /// A derivative was asked of something that has none.
    NotDifferentiable,
    /// A jitted function called itself with the same types.
    Recursion,
    /// A conversion out of an array failed.
    Conversion,
    /// A library function, a callback or a user's primitive failed.
    Library,
    /// What was checked with `check!` does not hold.
    Check,
    /// The call was cancelled, or took too long.
    Stopped,
    /// A broken invariant of ours.
    Bug,
    /// Reading or writing a file failed.
    Io,
}

/// A failure. Cheap to move; its text is complete.
#[derive(Clone)]
pub struct Error(Box<Parts>);

#[derive(Clone)]
struct Parts {
    kind: ErrorKind,
    message: String,
    location: Option<Location>,
    context: Vec<Context>,
    notes: Vec<String>,
    help: Vec<String>,
    raised: bool,
    /// Whether what failed was running, not being traced.
    running: bool,
}

/// One step of the way to an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Context {
    /// The API through which the function was traced.
    pub api: Api,
    /// The user's function, where its name is known.
    pub function: Option<String>,
    /// Where the function is defined, or where the API was called.
    pub location: Location,
}

impl Error {
    /// A failure without a place; the place is added where it is raised.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error(Box::new(Parts {
            kind,
            message: message.into(),
            location: None,
            context: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            raised: false,
            running: false,
        }))
    }

    /// A broken invariant of ours.
    pub fn bug(message: impl fmt::Display) -> Error {
        let help = "this is a bug in Tracewell, not in your program; please report it with this text";
        Error::new(ErrorKind::Bug, message.to_string()).help(help)
    }

    /// Adds what a reader needs to know besides: where a value came from.
    pub fn note(mut self, note: impl Into<String>) -> Error {
        self.0.notes.push(note.into());
        self
    }

    /// Adds a way out.
    pub fn help(mut self, help: impl Into<String>) -> Error {
        self.0.help.push(help.into());
        self
    }

    /// Sets the place, unless it is known already.
    pub fn at(mut self, location: Location) -> Error {
        self.0.location.get_or_insert(location);
        self
    }

    /// Says that it failed while it was running, not while it was traced.
    pub fn while_running(mut self) -> Error {
        self.0.running = true;
        self
    }

    /// Sets the way to it, innermost first. From now on it counts as raised.
    pub(crate) fn through(mut self, context: Vec<Context>) -> Error {
        self.0.context = context;
        self.0.raised = true;
        self
    }

    /// Whether observers have seen it and its place is complete.
    pub fn is_raised(&self) -> bool {
        self.0.raised
    }

    /// What kind of mistake it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What went wrong, in one line, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The user's line.
    pub fn location(&self) -> Option<&Location> {
        self.0.location.as_ref()
    }

    /// The way to it, innermost first.
    pub fn context(&self) -> &[Context] {
        &self.0.context
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.message)?;
        if let Some(location) = &self.0.location {
            write!(f, "\n  --> {location}")?;
        }
        let running = self.0.running || self.0.context.first().is_some_and(|c| c.api == Api::Callback);
        let doing = if running { "while running" } else { "while tracing" };
        let lead = if self.0.location.is_some() { ", " } else { "\n  --> " };
        let lead = format!("{lead}{doing}");
        let mut last = self.0.location.as_ref();
        for (i, context) in self.0.context.iter().enumerate() {
            // An API that is made of others enters more than once.
            if i > 0 && self.0.context[i - 1] == *context {
                continue;
            }
            let lead = if i == 0 { lead.as_str() } else { ", called from" };
            match &context.function {
                Some(name) => write!(f, "{lead} `{name}`")?,
                None => write!(f, "{lead} a closure")?,
            }
            // A line that was just named is not named again.
            if last != Some(&context.location) {
                write!(f, " ({})", context.location)?;
            }
            write!(f, " for {}", context.api.name())?;
            last = Some(&context.location);
        }
        let notes = self.0.notes.iter().map(|text| ("note", text));
        for (kind, text) in notes.chain(self.0.help.iter().map(|text| ("help", text))) {
            write!(f, "\n  {kind}: {}", text.replace('\n', "\n        "))?;
        }
        Ok(())
    }
}

/// The same text as [`Display`](fmt::Display): what `unwrap` prints is what a person should read.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Error {}
