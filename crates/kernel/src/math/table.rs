//! Every function with its stated error: what tests and documents go by.

use tracewell_array::DType;

use crate::build::KernelBuilder;
use crate::ir::{Index, Kernel, Size, Value};
use crate::op::Op;

/// How a function becomes operations.
#[derive(Clone, Copy, Debug)]
pub enum Expansion {
    /// Of one argument.
    Unary(fn(&mut KernelBuilder, Value) -> Value),
    /// Of two arguments.
    Binary(fn(&mut KernelBuilder, Value, Value) -> Value),
}

/// A function and what it promises.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// How it is called.
    pub name: &'static str,
    /// How it becomes operations.
    pub expansion: Expansion,
    /// The largest error of `f32` and `f64`, in units in the last place of the exact result.
    pub ulp: [f64; 2],
    /// A function that crosses zero where its argument has no more digits cannot promise digits of the result:
    /// units are those of this magnitude where the result is smaller, by the argument.
    pub floor: Option<fn(f64) -> f64>,
}

impl Function {
    /// The number of arguments.
    pub fn arity(&self) -> usize {
        match self.expansion {
            Expansion::Unary(_) => 1,
            Expansion::Binary(_) => 2,
        }
    }

    /// The function of values under construction, as many as its arity.
    pub fn build(&self, b: &mut KernelBuilder, arguments: &[Value]) -> Value {
        match self.expansion {
            Expansion::Unary(build) => build(b, arguments[0]),
            Expansion::Binary(build) => build(b, arguments[0], arguments[1]),
        }
    }

    /// A kernel that applies it to each element of as many arrays as its arity, whose length is its size.
    pub fn kernel(&self, dtype: DType) -> Kernel {
        let mut b = KernelBuilder::new();
        let extent = b.size();
        let inputs: Vec<_> = (0..self.arity()).map(|_| b.param(dtype, false)).collect();
        let output = b.param(dtype, true);
        b.each(extent, |b, i| {
            let at = || Index { offset: Size::Const(0), terms: [(i, Size::Const(1))].into_iter().collect() };
            let arguments: Vec<Value> = inputs.iter().map(|&input| b.load(input, at())).collect();
            let result = self.build(b, &arguments);
            b.store(output, at(), result);
        });
        b.finish(self.name)
    }
}

const fn unary(name: &'static str, ulp: f64, build: fn(&mut KernelBuilder, Value) -> Value) -> Function {
    Function { name, expansion: Expansion::Unary(build), ulp: [ulp; 2], floor: None }
}

const fn binary(
    name: &'static str,
    ulp: f64,
    build: fn(&mut KernelBuilder, Value, Value) -> Value,
) -> Function {
    Function { name, expansion: Expansion::Binary(build), ulp: [ulp; 2], floor: None }
}

/// All functions. A square root is an operation of its own; it is here to be measured like the others.
pub const FUNCTIONS: &[Function] = &[
    unary("exp", 1.0, super::exp),
    unary("exp2", 1.0, super::exp2),
    unary("expm1", 1.5, super::expm1),
    unary("logistic", 2.0, super::logistic),
    unary("log", 1.0, super::log),
    unary("log2", 1.5, super::log2),
    unary("log10", 1.0, super::log10),
    unary("log1p", 1.0, super::log1p),
    binary("pow", 1.0, super::pow),
    unary("sqrt", 0.5, |b, x| b.op(Op::Sqrt, &[x])),
    unary("rsqrt", 1.5, super::rsqrt),
    unary("cbrt", 1.0, super::cbrt),
    unary("sin", 2.0, super::sin),
    unary("cos", 2.0, super::cos),
    unary("tan", 1.5, super::tan),
    unary("asin", 1.5, super::asin),
    unary("acos", 1.5, super::acos),
    unary("atan", 2.0, super::atan),
    binary("atan2", 2.0, super::atan2),
    unary("sinh", 1.0, super::sinh),
    unary("cosh", 1.0, super::cosh),
    unary("tanh", 2.0, super::tanh),
    unary("asinh", 1.5, super::asinh),
    unary("acosh", 1.5, super::acosh),
    unary("atanh", 1.0, super::atanh),
    unary("erf", 2.0, super::erf),
    unary("erfc", 2.0, super::erfc),
    unary("erf_inv", 4.0, super::erf_inv),
    Function { floor: Some(lgamma_floor), ..unary("lgamma", 6.0, super::lgamma) },
    Function { floor: Some(|x| (2.0 - x).ln().max(1.0)), ..unary("digamma", 16.0, super::digamma) },
    unary("trigamma", 8.0, super::trigamma),
];

/// Nothing for positive arguments; else 1 or about `ln Γ(-x)`, from which the reflection subtracts.
fn lgamma_floor(x: f64) -> f64 {
    let a = -x;
    if x < 0.0 { ((a - 0.5) * a.ln() - a + 0.92).max(1.0) } else { 0.0 }
}
