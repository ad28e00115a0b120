//! Every primitive, one room each, and the one list of them.
//!
//! To add one: `cargo xtask new-primitive name`, fill in the rules (the compiler names what is missing), add
//! it to the list below. See docs/adding-a-primitive.md.

mod barrier;
mod binary;
mod broadcast;
mod call;
mod checkpoint;
mod checkpoint_name;
mod compare;
mod constant;
mod convert;
mod custom_jvp;
mod custom_vjp;
mod dot_general;
mod elementwise;
mod nested;
mod permute;
mod reduce;
mod reshape;
mod select;
mod shape_rules;
mod unary;

pub use self::nested::{Place, first_half};
pub use self::{
    barrier::*, binary::*, broadcast::*, call::*, checkpoint::*, checkpoint_name::*, compare::*, constant::*,
    convert::*, custom_jvp::*, custom_vjp::*, dot_general::*, permute::*, reduce::*, reshape::*, select::*,
    unary::*,
};

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use tracewell_array::{DType, Shape};

use crate::params::{FromParams, ParamValue};
use crate::primitive::{Example, Primitive};
use crate::ty::ArrayType;

macro_rules! primitives {
    ($($Variant:ident $name:literal),* $(,)?) => {
        /// A primitive: one of the built-in ones, or a user's.
        #[derive(Clone, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each variant is documented at its struct")]
        pub enum Prim { $($Variant($Variant),)* Custom(Custom) }

        impl Prim {
            /// The names of the built-in primitives.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// Its rules.
            pub fn rules(&self) -> &dyn Primitive {
                match self { $(Prim::$Variant(p) => p,)* Prim::Custom(p) => &*p.rules }
            }

            /// The built-in primitive of that name with these parameters.
            pub fn from_params(name: &str, params: &[(String, ParamValue)]) -> Option<Prim> {
                match name {
                    $($name => <$Variant as FromParams>::from_params(params).map(Prim::$Variant),)*
                    _ => None,
                }
            }

            /// Uses of every built-in primitive, for the laws.
            pub fn examples() -> Vec<Example> {
                let mut all = Vec::new();
                $(all.extend(<$Variant as Primitive>::examples());)*
                all
            }
        }

        $(impl From<$Variant> for Prim { fn from(p: $Variant) -> Prim { Prim::$Variant(p) } })*
    };
}

primitives! {
    Abs "abs", Add "add", Barrier "barrier", Broadcast "broadcast", Call "call", Ceil "ceil", Checkpoint "checkpoint",
    CheckpointName "checkpoint_name", Compare "compare",
    Constant "constant", Convert "convert", Cos "cos", CustomJvp "custom_jvp", CustomVjp "custom_vjp", Div "div", DotGeneral "dot_general", Exp "exp",
    Floor "floor", Log "log", Max "max", Min "min", Mul "mul", Neg "neg", Permute "permute",
    ReduceMax "reduce_max", ReduceMin "reduce_min", ReduceProd "reduce_prod", ReduceSum "reduce_sum",
    Reshape "reshape", Select "select", Sign "sign", Sin "sin", Sqrt "sqrt",
    StopGradient "stop_gradient", Sub "sub", Tanh "tanh",
}

/// A user's primitive, behind a pointer.
#[derive(Clone)]
pub struct Custom {
    /// Its rules.
    pub rules: Arc<dyn Primitive>,
}

impl Custom {
    /// What identifies it: its name and parameters.
    fn params(&self) -> Vec<(&'static str, ParamValue)> {
        let mut all = Vec::new();
        self.rules.each_param(&mut |name, value| all.push((name, value)));
        all
    }
}

impl PartialEq for Custom {
    fn eq(&self, other: &Custom) -> bool {
        Arc::ptr_eq(&self.rules, &other.rules)
            || (self.rules.name() == other.rules.name() && self.params() == other.params())
    }
}

impl Eq for Custom {}

impl Hash for Custom {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rules.name().hash(state);
        self.params().hash(state);
    }
}

impl Prim {
    /// A user's primitive.
    pub fn custom(rules: impl Primitive + 'static) -> Prim {
        Prim::Custom(Custom { rules: Arc::new(rules) })
    }

    /// Its name in texts.
    pub fn name(&self) -> &str {
        self.rules().name()
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.rules)
    }
}

impl fmt::Debug for Prim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.rules())
    }
}

/// One example for each case and element type, all operands of that type.
fn examples_of(cases: &[(Prim, Vec<Shape>)], dtypes: &[DType]) -> Vec<Example> {
    let with = |dtype: DType| {
        cases.iter().map(move |(prim, shapes)| Example {
            prim: prim.clone(),
            inputs: shapes.iter().map(|s| ArrayType::new(dtype, s.clone())).collect(),
        })
    };
    dtypes.iter().flat_map(|&dtype| with(dtype)).collect()
}
