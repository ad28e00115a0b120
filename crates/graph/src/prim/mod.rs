//! Every primitive, one room each, and the one list of them.
//!
//! To add one: `cargo xtask new-primitive name`, fill in the rules (the compiler names what is missing), add
//! it to the list below. See docs/adding-a-primitive.md.

mod arg_reduce;
mod barrier;
mod binary;
mod bitcast;
mod bitwise;
mod broadcast;
mod call;
mod callback;
mod checkpoint;
mod checkpoint_name;
mod cholesky;
mod clamp;
mod compare;
mod complex;
mod complex_math;
mod concatenate;
mod constant;
mod conv;
mod convert;
mod cumulative;
mod custom_jvp;
mod custom_vjp;
mod dot_general;
mod dynamic_slice;
mod dynamic_update_slice;
mod each;
mod each_examples;
mod eig;
mod eigh;
mod elementwise;
mod fft;
mod gather;
mod integer_pow;
mod iota;
mod is_finite;
mod linear_call;
mod linear_recurrence;
mod lu;
mod magnitude;
mod matrices;
mod mul_add;
mod nested;
mod nextafter;
mod pad;
mod permute;
mod places;
mod qr;
mod reduce;
mod reduce_window;
mod reference;
mod reshape;
mod reverse;
mod round;
mod running;
mod scan;
mod scan_batch;
mod scan_examples;
mod scan_jvp;
mod scan_transpose;
mod scatter;
mod scatter_jvp;
mod searchsorted;
mod select;
mod select_and_gather;
mod shape_rules;
mod sheet;
mod slice;
mod sliding;
mod sort;
mod svd;
mod switch;
mod switch_examples;
mod switch_rules;
mod tetragamma;
mod threefry;
mod triangular_solve;
mod unary;
mod while_back;
mod while_batch;
mod while_examples;
mod while_loop;
mod while_record;
mod while_reverse;
mod while_transpose;
mod window;

pub use self::nested::{Place, first_half};
pub use self::{
    arg_reduce::*, barrier::*, binary::*, bitcast::*, bitwise::*, broadcast::*, call::*, callback::*,
    checkpoint::*, checkpoint_name::*, cholesky::*, clamp::*, compare::*, complex::*, concatenate::*,
    constant::*, conv::*, convert::*, cumulative::*, custom_jvp::*, custom_vjp::*, dot_general::*,
    dynamic_slice::*, dynamic_update_slice::*, each::*, eig::*, eigh::*, fft::*, gather::*, integer_pow::*,
    iota::*, is_finite::*, linear_call::*, linear_recurrence::*, lu::*, magnitude::*, mul_add::*,
    nextafter::*, pad::*, permute::*, places::Places, qr::*, reduce::*, reduce_window::*, reshape::*,
    reverse::*, round::*, scan::*, scatter::*, searchsorted::*, select::*, select_and_gather::*, slice::*,
    sort::*, svd::*, switch::*, threefry::*, triangular_solve::*, unary::*, while_loop::*,
};

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use tracewell_array::{DType, Shape};

use crate::graph::Graph;
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

            /// Whether it may run graphs: those of users are not known.
            pub(crate) fn nests(&self) -> bool {
                match self { $(Prim::$Variant(_) => $Variant::NESTS,)* Prim::Custom(_) => true }
            }

            /// The built-in primitive of that name with these parameters.
            pub fn from_params(name: &str, params: &[(String, ParamValue)]) -> Option<Prim> {
                match name {
                    $($name => <$Variant as FromParams>::from_params(params).map(Prim::$Variant),)*
                    _ => None,
                }
            }

            /// The names of the built-in primitives with what each computes, in words.
            pub const DOCS: &'static [(&'static str, &'static str)] = &[$(($name, $Variant::DOC)),*];

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
    Abs "abs", Acos "acos", Acosh "acosh", Add "add", And "and", ArgMax "argmax", ArgMin "argmin",
    Asin "asin", Asinh "asinh", Atan "atan", Atan2 "atan2", Atanh "atanh", Barrier "barrier",
    Bitcast "bitcast", Broadcast "broadcast", Call "call", Callback "callback", Cbrt "cbrt", Ceil "ceil",
    Checkpoint "checkpoint", CheckpointName "checkpoint_name", Cholesky "cholesky", Clamp "clamp", Clz "clz",
    Compare "compare", Complex "complex", Concatenate "concatenate", Conj "conj", Constant "constant",
    Conv "conv", Convert "convert", ConvKernel "conv_kernel", Cos "cos", Cosh "cosh",
    Cumlogsumexp "cumlogsumexp", Cummax "cummax", Cummin "cummin", Cumprod "cumprod", Cumsum "cumsum",
    CustomJvp "custom_jvp", CustomVjp "custom_vjp", Digamma "digamma", Div "div", DotGeneral "dot_general",
    DynamicSlice "dynamic_slice", DynamicUpdateSlice "dynamic_update_slice", Each "each", Eig "eig",
    Eigh "eigh", Erf "erf", Erfc "erfc", ErfInv "erf_inv", Exp "exp", Exp2 "exp2", Expm1 "expm1", Fft "fft",
    Floor "floor", Gather "gather", Imag "imag", IntegerPow "integer_pow", Iota "iota", IsFinite "is_finite",
    Lgamma "lgamma", LinearCall "linear_call", LinearRecurrence "linear_recurrence", Log "log", Log10 "log10",
    Log1p "log1p", Log2 "log2", Logistic "logistic", Lu "lu", Max "max", Min "min", Mul "mul",
    MulAdd "mul_add", Neg "neg", Nextafter "nextafter", Not "not", Or "or", Pad "pad", Permute "permute",
    PopulationCount "population_count", Pow "pow", Qr "qr", Real "real", ReduceAnd "reduce_and",
    ReduceMax "reduce_max", ReduceMin "reduce_min", ReduceOr "reduce_or", ReduceProd "reduce_prod",
    ReduceSum "reduce_sum", ReduceWindowMax "reduce_window_max", ReduceWindowMin "reduce_window_min",
    ReduceWindowProd "reduce_window_prod", ReduceWindowSum "reduce_window_sum", Rem "rem", Reshape "reshape",
    Reverse "reverse", Round "round", Rsqrt "rsqrt", Scan "scan", Scatter "scatter",
    Searchsorted "searchsorted", Select "select", SelectAndGather "select_and_gather",
    SelectAndScatterAdd "select_and_scatter_add", ShiftLeft "shift_left",
    ShiftRightArithmetic "shift_right_arithmetic", ShiftRightLogical "shift_right_logical", Sign "sign",
    Sin "sin", Sinh "sinh", Slice "slice", Sort "sort", Sqrt "sqrt", StopGradient "stop_gradient", Sub "sub",
    Svd "svd", Switch "switch", Tan "tan", Tanh "tanh", Threefry "threefry",
    TriangularSolve "triangular_solve", Trigamma "trigamma", While "while", Xor "xor",
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

    /// Whether it is control flow, which runs graphs in its parameters.
    pub fn is_control(&self) -> bool {
        matches!(self, Prim::Scan(_) | Prim::While(_) | Prim::Switch(_) | Prim::Each(_))
    }

    /// The same control flow with other graphs, made of those it runs; anything else as it is.
    pub fn with_graphs(&self, f: &mut dyn FnMut(&Graph) -> Graph) -> Prim {
        let mut new = |graph: &Arc<Graph>| Arc::new(f(graph));
        match self {
            Prim::Scan(scan) => Scan { body: new(&scan.body), ..scan.clone() }.into(),
            Prim::While(repeat) => {
                While { cond: new(&repeat.cond), body: new(&repeat.body), ..repeat.clone() }.into()
            }
            Prim::Switch(switch) => Switch { branches: switch.branches.iter().map(new).collect() }.into(),
            Prim::Each(each) => Each { graph: new(&each.graph), ..each.clone() }.into(),
            other => other.clone(),
        }
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
