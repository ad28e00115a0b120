//! What a user's array is made of: known data, one literal repeated, or a value of a trace.

use std::fmt;
use std::sync::{Arc, Weak};

use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Location, Splat, Var};

use crate::frame::Frame;

/// An array as the user's program holds it.
#[derive(Clone)]
pub enum Value {
    /// Known data; its type may be weak.
    Known(Tensor, bool),
    /// One literal, repeated; how scalars of the program enter without memory.
    Splat(Splat),
    /// A value of a trace.
    Traced(Tracer),
}

/// A value of a trace: abstract if only its type is known, concrete if its data is too.
#[derive(Clone)]
pub struct Tracer(Arc<Inner>);

/// A tracer that others may keep alive.
#[derive(Clone)]
pub(crate) struct WeakTracer(Weak<Inner>);

impl WeakTracer {
    /// The tracer, if it is still alive.
    pub(crate) fn upgrade(&self) -> Option<Tracer> {
        self.0.upgrade().map(Tracer)
    }
}

impl fmt::Debug for WeakTracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.upgrade())
    }
}

struct Inner {
    frame: Arc<Frame>,
    var: Var,
    ty: ArrayType,
    value: Option<Tensor>,
    made: Location,
}

impl Tracer {
    pub(crate) fn new(
        frame: Arc<Frame>,
        var: Var,
        ty: ArrayType,
        value: Option<Tensor>,
        made: Location,
    ) -> Tracer {
        Tracer(Arc::new(Inner { frame, var, ty, value, made }))
    }

    /// The trace it belongs to.
    pub fn frame(&self) -> &Arc<Frame> {
        &self.0.frame
    }

    /// Its variable in the graph of that trace.
    pub fn var(&self) -> Var {
        self.0.var
    }

    /// Its type.
    pub fn ty(&self) -> &ArrayType {
        &self.0.ty
    }

    /// Its data, if it is concrete. To ask on a user's behalf, use [`ask`](crate::ask).
    pub fn value(&self) -> Option<&Tensor> {
        self.0.value.as_ref()
    }

    /// The line that made it.
    pub fn made(&self) -> &Location {
        &self.0.made
    }
}

impl Value {
    /// Its type.
    pub fn ty(&self) -> ArrayType {
        match self {
            Value::Known(tensor, weak) => ArrayType { weak: *weak, ..ArrayType::of(tensor) },
            Value::Splat(splat) => splat.ty(),
            Value::Traced(tracer) => tracer.ty().clone(),
        }
    }

    /// Its data, where it is known: always but for abstract tracers.
    pub fn known(&self) -> Option<Tensor> {
        match self {
            Value::Known(tensor, _) => Some(tensor.clone()),
            Value::Splat(splat) => Some(Tensor::full(splat.literal, splat.shape.clone())),
            Value::Traced(tracer) => tracer.value().cloned(),
        }
    }

    /// The same value without its trace, where its data is known.
    pub fn untraced(&self) -> Option<Value> {
        match self {
            Value::Known(..) | Value::Splat(_) => Some(self.clone()),
            Value::Traced(tracer) => tracer.value().map(|t| Value::Known(t.clone(), tracer.ty().weak)),
        }
    }

    /// The tracer, if it is one.
    pub fn tracer(&self) -> Option<&Tracer> {
        match self {
            Value::Traced(tracer) => Some(tracer),
            Value::Known(..) | Value::Splat(_) => None,
        }
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Value {
        Value::Known(tensor, false)
    }
}

/// `Traced<f32[3]> for x`: the type and the argument, or the line that made it.
impl fmt::Display for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Traced<{}>", self.ty())?;
        match self.frame().argument_name(self.var()) {
            Some(name) => write!(f, " for {name}"),
            None => write!(f, " from {}", self.made()),
        }
    }
}

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Known(tensor, _) => write!(f, "{tensor:?}"),
            Value::Splat(splat) => write!(f, "{}:{}", splat.literal, splat.ty()),
            Value::Traced(tracer) => write!(f, "{tracer}"),
        }
    }
}

impl Tracer {
    /// Whether both are the same value of the same trace.
    pub(crate) fn is_same(&self, other: &Tracer) -> bool {
        Arc::ptr_eq(self.frame(), other.frame()) && self.var() == other.var()
    }

    /// The tracer without keeping it alive.
    pub(crate) fn downgrade(&self) -> WeakTracer {
        WeakTracer(Arc::downgrade(&self.0))
    }

    /// How many refer to it.
    pub(crate) fn references(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    /// The same for all that refer to it, and for no other while it is alive.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }
}
