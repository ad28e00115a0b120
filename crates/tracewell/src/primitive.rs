//! Primitives of your own, through the same two doors as the built-in ones.
//!
//! [`Defined`] asks for one rule, an expansion into other operations, and derives the rest. [`Primitive`] asks
//! for all rules: typing, evaluation, derivative, transpose, batching, and a lowering to a kernel expression or
//! to a call of a Rust function on buffers. Either is applied with [`bind`]. A function can be a parameter of a
//! primitive: [`stage`] makes it a graph, [`apply`] applies it.

use std::any::{TypeId, type_name};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use tracewell_array::Tensor;
use tracewell_trace::{Api, Argument, Error, ErrorKind, Value, boundary, raise};

use crate::array::{Array, bind_here, found_by, or_raise};
use crate::staging::{Entered, Failure, Function, stage_with};

pub use tracewell_array::{Literal, Tensor as Data};
pub use tracewell_graph::{
    ArrayType, Atom, AxisView, Batched, Cx, Example, FromParams, Graph, GraphBuilder, Jvp, Location,
    Lowering, OfRows, Operand, Param, ParamValue, Params, Prim, Primitive, RuleError, TypeError, View, eval,
    params, prim,
};
pub use tracewell_kernel::{
    BufferFn, BufferMut, BufferRef, CallError, Combine, Comparison, Custom, KernelBuilder, Library,
    LibraryCall, Op, Value as Lane, math,
};

/// A primitive given by an expansion into other operations.
///
/// ```
/// use tracewell::prelude::*;
/// use tracewell::primitive::{Defined, bind};
///
/// struct Sinh;
/// impl Defined for Sinh {
///     fn expand(&self, x: &[Array]) -> Vec<Array> {
///         vec![(x[0].exp() - (-&x[0]).exp()) / 2.0]
///     }
/// }
///
/// let slope = grad(|x: &Array| bind(Sinh, &[x]))(&Array::from(0.0f64));
/// assert_eq!(slope.item::<f64>(), 1.0);
/// ```
pub trait Defined: Send + Sync + 'static {
    /// What it computes, in terms of other operations. Must not depend on anything but the parameters.
    fn expand(&self, operands: &[Array]) -> Vec<Array>;

    /// Its parameters, by name: what distinguishes two uses. A type with fields must name them here.
    fn params(&self) -> Vec<(&'static str, ParamValue)> {
        Vec::new()
    }

    /// Its name in texts, `crate::name`.
    fn name(&self) -> String {
        type_name::<Self>().to_string()
    }
}

/// Applies a primitive of one result.
#[track_caller]
pub fn bind<P: IntoPrim<Door>, Door>(primitive: P, operands: &[&Array]) -> Array {
    let location = Location::caller();
    let mut results = bind_at(primitive, operands, &location);
    if results.len() != 1 {
        let message = format!("`bind` takes a primitive of one result, this one has {}", results.len());
        raise(Error::new(ErrorKind::Type, message).help("use `bind_all`"), &location);
    }
    results.remove(0)
}

/// Applies a primitive of any number of results.
#[track_caller]
pub fn bind_all<P: IntoPrim<Door>, Door>(primitive: P, operands: &[&Array]) -> Vec<Array> {
    bind_at(primitive, operands, &Location::caller())
}

fn bind_at<P: IntoPrim<Door>, Door>(primitive: P, operands: &[&Array], location: &Location) -> Vec<Array> {
    let types: Vec<ArrayType> = operands.iter().map(|a| a.ty()).collect();
    let prim = or_raise(primitive.into_prim(&types, location), location);
    let operands: Vec<Value> = operands.iter().map(|a| a.value().clone()).collect();
    let results = or_raise(bind_here(&prim, &operands, location), location);
    results.into_iter().map(Array::from_value).collect()
}

/// Applies a built-in primitive of one result, given as a graph's text gives it. Arrays are numbered.
///
/// ```
/// use tracewell::prelude::*;
/// use tracewell::primitive::op;
///
/// let x = Array::from([1.0f32, 2.0]);
/// assert_eq!(op("mul %0, 2.0:f32[2]", &[&x]).to_string(), "[2. 4.]");
/// assert_eq!(op("reduce_sum[axes=[0]] %0", &[&x]).item::<f32>(), 3.0);
/// ```
#[track_caller]
pub fn op(text: &str, operands: &[&Array]) -> Array {
    let location = Location::caller();
    let mut results = apply_text(text, operands, &location);
    if results.len() != 1 {
        let message = format!("`op` takes a primitive of one result, this one has {}", results.len());
        raise(Error::new(ErrorKind::Type, message).help("use `op_all`"), &location);
    }
    results.remove(0)
}

/// The same for a primitive of any number of results.
#[track_caller]
pub fn op_all(text: &str, operands: &[&Array]) -> Vec<Array> {
    apply_text(text, operands, &Location::caller())
}

fn apply_text(text: &str, operands: &[&Array], location: &Location) -> Vec<Array> {
    let read = tracewell_graph::text::read_applied(text, &tracewell_graph::text::NoCustom);
    let wrong = |message: String| Error::new(ErrorKind::Structure, message);
    let read = read.map_err(|error| wrong(format!("`{text}` is no primitive: {}", error.message)));
    let (prim, atoms) = or_raise(read, location);
    let value = |atom: Atom| match atom {
        Atom::Splat(splat) => Ok(Value::Splat(splat)),
        Atom::Var(var) => match operands.get(var.0 as usize) {
            Some(array) => Ok(array.value().clone()),
            None => Err(wrong(format!("`{text}` names `%{}` of {} arrays", var.0, operands.len()))),
        },
    };
    let values: Result<Vec<Value>, Error> = atoms.into_iter().map(value).collect();
    let values = or_raise(values, location);
    let results = or_raise(bind_here(&prim, &values, location), location);
    results.into_iter().map(Array::from_value).collect()
}

/// The graph of a function of arrays of these types: how a function becomes a parameter.
///
/// It must not capture tracers: a parameter is known when its primitive is bound.
#[track_caller]
pub fn stage(f: impl Fn(&[Array]) -> Vec<Array>, like: &[&Array]) -> Arc<Graph> {
    let location = Location::caller();
    let types: Vec<ArrayType> = like.iter().map(|a| a.ty()).collect();
    or_raise(stage_types("function", &location, &types, f), &location)
}

/// The results of a graph on arrays.
#[track_caller]
pub fn apply(graph: &Graph, operands: &[Array]) -> Vec<Array> {
    let location = Location::caller();
    crate::executor::install();
    let values: Vec<Value> = operands.iter().map(|a| a.value().clone()).collect();
    let results = or_raise(tracewell_trace::apply(graph, &values, &location), &location);
    results.into_iter().map(Array::from_value).collect()
}

fn stage_types(
    name: &str,
    location: &Location,
    types: &[ArrayType],
    f: impl Fn(&[Array]) -> Vec<Array>,
) -> Result<Arc<Graph>, Error> {
    let function =
        Function { name: Some(name.to_string()), ..Function::unnamed(Api::Expand, location.clone()) };
    let arguments: Vec<Argument> = types
        .iter()
        .enumerate()
        .map(|(i, ty)| Argument { name: format!("operand {i}"), ty: ty.clone(), value: None })
        .collect();
    let entered = Entered::start(&function, Default::default);
    let traced = boundary(Api::Expand, Some(name), location, || {
        stage_with::<Vec<Array>>(&function, &arguments, |tracers| {
            let operands: Vec<Array> = tracers.iter().cloned().map(Array::from_value).collect();
            f(&operands)
        })
    })?;
    let staged = match traced {
        Ok(traced) => traced.staged,
        Err(Failure::Ours(error)) => return Err(error),
        Err(Failure::Theirs(_)) => return Err(Error::bug("a list of arrays is not a result that fails")),
    };
    entered.end::<()>(Ok(&()));
    if let Some(captured) = staged.captured.first() {
        let message = format!("the function of `{name}` captured {captured:?}");
        return Err(Error::new(ErrorKind::Structure, message)
            .help("give it as an operand: a primitive's function sees its operands only"));
    }
    Ok(Arc::new(staged.graph))
}

/// What can be bound: types that are [`Defined`], types that are [`Primitive`]s.
pub trait IntoPrim<Door> {
    /// With its name checked, as two types may not share one, for operands of these types.
    fn into_prim(self, operands: &[ArrayType], location: &Location) -> Result<Prim, Error>;
}

/// The door for primitives given by an expansion.
#[derive(Debug)]
pub struct ByExpansion;

/// The door for primitives given by all their rules.
#[derive(Debug)]
pub struct ByRules;

impl<D: Defined> IntoPrim<ByExpansion> for D {
    fn into_prim(self, operands: &[ArrayType], location: &Location) -> Result<Prim, Error> {
        let name = self.name();
        register::<D>(&name)?;
        if size_of::<D>() > 0 && self.params().is_empty() {
            let message = format!("`{name}` has fields, but names no parameters");
            return Err(Error::new(ErrorKind::Structure, message)
                .help("name them in `Defined::params`: they tell two uses apart"));
        }
        let made = Expansion { name, defined: self, location: location.clone(), graphs: Mutex::default() };
        // Here, so that a mistake in the expansion keeps its line and the way to it.
        made.graph(operands)?;
        Ok(Prim::custom(made))
    }
}

impl<P: Primitive + 'static> IntoPrim<ByRules> for P {
    fn into_prim(self, _: &[ArrayType], _: &Location) -> Result<Prim, Error> {
        register::<P>(self.name())?;
        Ok(Prim::custom(self))
    }
}

/// Names are how texts and caches know a primitive, so each belongs to one type.
fn register<T: 'static>(name: &str) -> Result<(), Error> {
    static NAMES: Mutex<Option<FxHashMap<String, TypeId>>> = Mutex::new(None);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    check_name(name)?;
    if names.get(name).is_some_and(|id| *id != TypeId::of::<T>()) {
        return Err(name_taken(name));
    }
    names.entry(name.to_string()).or_insert_with(TypeId::of::<T>);
    Ok(())
}

/// A name that is none of ours.
pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    match Prim::NAMES.contains(&name) {
        true => Err(found_by(name_taken(name), "primitive_name", &[], &[&name])),
        false => Ok(()),
    }
}

fn name_taken(name: &str) -> Error {
    let message = format!("two primitives are named `{name}`");
    let help = "texts and caches know a primitive by its name: make it `crate::name`, for one type only";
    Error::new(ErrorKind::Structure, message).help(help)
}

/// Every rule of a primitive, derived from its expansion.
struct Expansion<D> {
    name: String,
    defined: D,
    /// The line that bound it.
    location: Location,
    /// Expansions by operand types.
    graphs: Mutex<FxHashMap<Vec<ArrayType>, Arc<Graph>>>,
}

impl<D: Defined> Expansion<D> {
    fn graph(&self, types: &[ArrayType]) -> Result<Arc<Graph>, Error> {
        let graphs = || self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = graphs().get(types) {
            return Ok(found.clone());
        }
        let made = stage_types(&self.name, &self.location, types, |operands| self.defined.expand(operands))?;
        graphs().insert(types.to_vec(), made.clone());
        Ok(made)
    }

    /// The same inside a rule, whose errors are those of types.
    fn rule_graph(&self, types: &[ArrayType]) -> Result<Arc<Graph>, TypeError> {
        self.graph(types).map_err(|error| TypeError::new(&self.name, error.message()))
    }

    /// The call of the expansion, whose rules are those of calls.
    fn call(&self, types: &[ArrayType]) -> Result<prim::Call, TypeError> {
        Ok(prim::Call { graph: self.rule_graph(types)? })
    }
}

impl<D: Defined> Params for Expansion<D> {
    fn each_param(&self, f: &mut dyn FnMut(&'static str, ParamValue)) {
        self.defined.params().into_iter().for_each(|(name, value)| f(name, value));
    }
}

impl<D: Defined> fmt::Debug for Expansion<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)
    }
}

impl<D: Defined> Primitive for Expansion<D> {
    fn name(&self) -> &str {
        &self.name
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        Ok(self.rule_graph(inputs)?.output_types())
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let types: Vec<ArrayType> = inputs.iter().map(ArrayType::of).collect();
        eval(&*self.rule_graph(&types).map_err(|e| e.message)?, inputs)
    }

    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let types: Vec<ArrayType> = primals.iter().map(|a| cx.ty(a)).collect();
        self.call(&types)?.jvp(cx, primals, tangents)
    }

    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let ty = |operand: &Operand| match operand {
            Operand::Known(atom) => cx.ty(atom),
            Operand::Linear(ty) => ty.clone(),
        };
        let types: Vec<ArrayType> = operands.iter().map(ty).collect();
        self.call(&types)?.transpose(cx, operands, cotangents)
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let example = |operand: &Batched| {
            let ty = cx.ty(&operand.atom);
            if operand.batched { ty.with_shape(ty.shape.remove(0)) } else { ty }
        };
        let types: Vec<ArrayType> = operands.iter().map(example).collect();
        self.call(&types)?.batch(cx, size, operands)
    }

    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::Graph(self.rule_graph(inputs)?))
    }

    fn examples() -> Vec<Example> {
        Vec::new()
    }
}
