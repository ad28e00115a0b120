//! Parameters of a primitive: declared once, read by printer, parser, hash, equality and the repro emitter.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use tracewell_array::{DType, Shape, Tensor};
use tracewell_kernel::Comparison;

use crate::graph::Graph;
use crate::ty::ArrayType;

/// The closed set of things a parameter can be. A new variant is a new thing the text form can say.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ParamValue {
    /// `3`
    Int(i64),
    /// `true`
    Bool(bool),
    /// `[0,1]`
    Ints(Vec<i64>),
    /// `f32`
    DType(DType),
    /// `lt`
    Comparison(Comparison),
    /// `"text"`
    Text(String),
    /// `f32[2]{1.0,2.0}`
    Tensor(Tensor),
    /// `func @name(…) { … }`
    Graph(Arc<Graph>),
    /// `[func @name(…) { … }, func @other(…) { … }]`
    Graphs(Vec<Arc<Graph>>),
    /// `(f32[2,3], i32[])`
    Types(Vec<ArrayType>),
}

impl ParamValue {
    /// The graphs in it.
    pub fn graphs(&self) -> &[Arc<Graph>] {
        match self {
            ParamValue::Graph(graph) => std::slice::from_ref(graph),
            ParamValue::Graphs(graphs) => graphs,
            _ => &[],
        }
    }

    /// Memory it holds, in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            ParamValue::Int(_) | ParamValue::Bool(_) | ParamValue::DType(_) | ParamValue::Comparison(_) => 0,
            ParamValue::Ints(ints) => size_of_val(ints.as_slice()),
            ParamValue::Text(text) => text.len(),
            ParamValue::Tensor(tensor) => tensor.size_bytes(),
            ParamValue::Graph(graph) => graph.bytes(),
            ParamValue::Graphs(graphs) => graphs.iter().map(|graph| graph.bytes()).sum(),
            ParamValue::Types(types) => size_of_val(types.as_slice()),
        }
    }
}

/// A Rust type that can be a parameter.
pub trait Param: Sized {
    /// Whether it is, or may hold, graphs.
    const NESTS: bool = false;

    /// As a value of the text form.
    fn to_value(&self) -> ParamValue;
    /// From a value of the text form; `None` if it is of another kind.
    fn from_value(value: &ParamValue) -> Option<Self>;
}

/// The parameters of a primitive, by name, in the order of their declaration. Implemented by `params!`.
pub trait Params {
    /// Calls `f` with each.
    fn each_param(&self, f: &mut dyn FnMut(&'static str, ParamValue));
}

/// A primitive that can be made from its parameters. Implemented by `params!`.
pub trait FromParams: Sized {
    /// `None` if a parameter is missing, of another kind, or unknown.
    fn from_params(params: &[(String, ParamValue)]) -> Option<Self>;
}

/// Declares a primitive's struct with its parameters, and everything that reads that declaration.
#[macro_export]
macro_rules! params {
    ($(#[doc = $doc:literal])* pub struct $Name:ident { $($(#[$field_meta:meta])* $field:ident : $ty:ty),* $(,)? }) => {
        $(#[doc = $doc])*
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub struct $Name { $($(#[$field_meta])* pub $field: $ty),* }

        impl $Name {
            /// What it computes, in words: the documentation of the struct.
            #[allow(dead_code, reason = "only the list of built-in primitives reads it")]
            pub const DOC: &'static str = concat!($($doc, "\n"),*);

            /// Whether a parameter may hold graphs.
            #[allow(dead_code, reason = "only the list of built-in primitives reads it")]
            pub const NESTS: bool = false $(|| <$ty as $crate::Param>::NESTS)*;
        }

        impl $crate::Params for $Name {
            fn each_param(&self, _f: &mut dyn FnMut(&'static str, $crate::ParamValue)) {
                $(_f(stringify!($field), $crate::Param::to_value(&self.$field));)*
            }
        }

        impl $crate::FromParams for $Name {
            fn from_params(params: &[(String, $crate::ParamValue)]) -> Option<Self> {
                let names: &[&str] = &[$(stringify!($field)),*];
                if params.len() != names.len() {
                    return None;
                }
                let _get = |name: &str| params.iter().find(|(n, _)| n == name).map(|(_, v)| v);
                Some($Name { $($field: $crate::Param::from_value(_get(stringify!($field))?)?),* })
            }
        }
    };
}

macro_rules! param_of {
    ($($ty:ty => $variant:ident $(nests $nests:literal)?),* $(,)?) => {$(
        impl Param for $ty {
            $(const NESTS: bool = $nests;)?
            fn to_value(&self) -> ParamValue { ParamValue::$variant(self.clone()) }
            fn from_value(value: &ParamValue) -> Option<Self> {
                match value { ParamValue::$variant(v) => Some(v.clone()), _ => None }
            }
        }
    )*};
}
param_of! {
    i64 => Int, bool => Bool, DType => DType, Comparison => Comparison, String => Text, Tensor => Tensor,
    Arc<Graph> => Graph nests true, Vec<Arc<Graph>> => Graphs nests true, Vec<ArrayType> => Types,
}

impl Param for usize {
    fn to_value(&self) -> ParamValue {
        ParamValue::Int(*self as i64)
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        i64::from_value(value)?.try_into().ok()
    }
}

impl Param for i32 {
    fn to_value(&self) -> ParamValue {
        ParamValue::Int(i64::from(*self))
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        i64::from_value(value)?.try_into().ok()
    }
}

impl Param for Vec<usize> {
    fn to_value(&self) -> ParamValue {
        ParamValue::Ints(self.iter().map(|&i| i as i64).collect())
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::Ints(ints) => ints.iter().map(|&i| i.try_into().ok()).collect(),
            _ => None,
        }
    }
}

impl Param for Vec<i64> {
    fn to_value(&self) -> ParamValue {
        ParamValue::Ints(self.clone())
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::Ints(ints) => Some(ints.clone()),
            _ => None,
        }
    }
}

impl Param for Shape {
    fn to_value(&self) -> ParamValue {
        ParamValue::Ints(self.iter().map(|n| n as i64).collect())
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        Some(Shape::from(Vec::<usize>::from_value(value)?))
    }
}

/// Names of operands, for people: printed and parsed, but neither compared nor hashed. Only their number is.
#[derive(Clone, Debug, Default)]
pub struct Labels(pub Vec<String>);

impl PartialEq for Labels {
    fn eq(&self, other: &Labels) -> bool {
        self.0.len() == other.0.len()
    }
}

impl Eq for Labels {}

impl Hash for Labels {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.len().hash(state);
    }
}

/// Between labels in texts; a label that holds it would read back as two.
const SEPARATOR: &str = "; ";

impl Param for Labels {
    fn to_value(&self) -> ParamValue {
        ParamValue::Text(
            self.0.iter().map(|label| label.replace(SEPARATOR, ";")).collect::<Vec<_>>().join(SEPARATOR),
        )
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::Text(text) if text.is_empty() => Some(Labels::default()),
            ParamValue::Text(text) => Some(Labels(text.split(SEPARATOR).map(String::from).collect())),
            _ => None,
        }
    }
}
