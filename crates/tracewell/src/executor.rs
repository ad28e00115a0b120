//! Eager operations: a primitive on known data is a compiled one-equation program, cached by its types.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::{Arc, Once};

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use tracewell_array::{DType, Shape, Tensor};
use tracewell_graph::prim::Broadcast;
use tracewell_graph::{ArrayType, Atom, GraphBuilder, Prim};
use tracewell_runtime::{Executable, Input, Results};
use tracewell_trace::{Error, Executor, Value, Values, install_executor, is_plain};

use crate::array::Array;
use crate::checks::{check_primitive, checks_values};
use crate::executable::{executable, failure, run_into};
use crate::pipeline::Settings;

/// Makes the compiled executor the one that runs primitives.
pub(crate) fn install() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        install_executor(Compiled);
        crate::repro::install();
    });
}

pub(crate) struct Compiled;

/// A primitive with the types of its operands, and which of them are one literal repeated: those enter as
/// scalars, so that another literal is not another program.
type Key = (Prim, SmallVec<[(ArrayType, bool); 2]>);

/// A program that was made before.
struct Kept {
    key: Key,
    program: Arc<Executable>,
    /// Of each result, whether its type is weak.
    weak: SmallVec<[bool; 1]>,
}

/// Programs kept by each thread without a lock; more are found in the shared cache.
const KEPT: usize = 512;

/// Those of a thread, which counts for itself who uses one.
#[derive(Default)]
struct Own {
    /// By what [`hash`] says of the primitive and its operands; there may be several of the same.
    programs: FxHashMap<u64, SmallVec<[Rc<Kept>; 1]>>,
    /// The one that was run last: in a loop it is the next one, too.
    last: Option<Rc<Kept>>,
}

thread_local! {
    static OWN: RefCell<Own> = RefCell::default();
}

/// What is known of an operand's type, without a copy of its shape: whether it is weak, and one literal repeated.
fn outline(operand: &Value) -> Option<(DType, &Shape, bool, bool)> {
    match operand {
        Value::Known(tensor, weak) => Some((tensor.dtype(), tensor.shape(), *weak, false)),
        Value::Splat(splat) => Some((splat.literal.dtype(), &splat.shape, splat.weak, true)),
        Value::Traced(_) => None,
    }
}

fn hash<V: Borrow<Value>>(prim: &Prim, operands: &[V]) -> u64 {
    let mut hasher = FxHasher::default();
    prim.hash(&mut hasher);
    operands.iter().for_each(|operand| outline(operand.borrow()).hash(&mut hasher));
    hasher.finish()
}

impl Kept {
    fn is_for<V: Borrow<Value>>(&self, prim: &Prim, operands: &[V]) -> bool {
        let (known, types) = &self.key;
        let is_same = |((ty, repeated), operand): (&(ArrayType, bool), &V)| {
            outline(operand.borrow()) == Some((ty.dtype, &ty.shape, ty.weak, *repeated))
        };
        known == prim && types.len() == operands.len() && types.iter().zip(operands).all(is_same)
    }
}

/// The program of a primitive on such operands, if it was made before.
fn kept<V: Borrow<Value>>(prim: &Prim, operands: &[V]) -> Option<Rc<Kept>> {
    OWN.with_borrow_mut(|own| {
        if let Some(last) = own.last.as_ref().filter(|last| last.is_for(prim, operands)) {
            return Some(last.clone());
        }
        let alike = own.programs.get(&hash(prim, operands))?;
        own.last = alike.iter().find(|kept| kept.is_for(prim, operands)).cloned();
        own.last.clone()
    })
}

/// Makes the program, and keeps it.
fn make(prim: &Prim, operands: &[Value], results: &[ArrayType]) -> Result<Rc<Kept>, Error> {
    let types = operands.iter().map(|v| (v.ty(), matches!(v, Value::Splat(_)))).collect();
    let key: Key = (prim.clone(), types);
    let program = one_equation(&key, results)?;
    let weak = results.iter().map(|ty| ty.weak).collect();
    let kept = Rc::new(Kept { key, program, weak });
    OWN.with_borrow_mut(|own| {
        if own.programs.len() >= KEPT {
            own.programs.clear();
        }
        own.programs.entry(hash(prim, operands)).or_default().push(kept.clone());
    });
    Ok(kept)
}

/// Runs a program on operands whose data is known, into a list without results.
fn run_on<V: Borrow<Value>>(
    program: &Executable,
    operands: &[V],
    results: &mut Results,
) -> Result<(), Error> {
    let mut inputs: SmallVec<[Input<'_>; 4]> = SmallVec::new();
    for operand in operands {
        match operand.borrow() {
            Value::Known(tensor, _) => inputs.push(Input::Lent(tensor)),
            Value::Splat(splat) => inputs.push(Input::number(splat.literal)),
            Value::Traced(_) => return Err(Error::bug("a tracer reached the executor")),
        }
    }
    run_into(program, results, &mut inputs)
}

/// Runs a primitive of one result without [`bind`](tracewell_trace::bind), if it was run before on such operands,
/// nothing is traced and nobody watches.
///
/// If that fails it is not done either: the full way fails again, and says where and why.
pub(crate) fn again(prim: &Prim, operands: &[&Value]) -> Option<Array> {
    if !is_plain() || checks_values() {
        return None;
    }
    let kept = kept(prim, operands)?;
    let mut results = Results::new();
    run_on(&kept.program, operands, &mut results).ok()?;
    Some(Array::known(results.pop()?, *kept.weak.first()?))
}

impl Executor for Compiled {
    fn execute(&self, prim: &Prim, operands: &[Value], results: &[ArrayType]) -> Result<Vec<Tensor>, Error> {
        // A Rust function on known data is called: there is nothing to compile.
        if let Prim::Callback(callback) = prim {
            let known: Option<Vec<Tensor>> = operands.iter().map(Value::known).collect();
            let known = known.ok_or_else(|| Error::bug("a tracer reached the executor"))?;
            let called = callback.function.call(&known, results);
            return called.map_err(|error| failure(callback.function.name(), error));
        }
        let kept = match kept(prim, operands) {
            Some(kept) => kept,
            None => make(prim, operands, results)?,
        };
        let mut results = Results::new();
        run_on(&kept.program, operands, &mut results)?;
        if checks_values() {
            let known: Option<Vec<Tensor>> = operands.iter().map(Value::known).collect();
            check_primitive(prim, &known.unwrap_or_default(), &results, self)?;
        }
        Ok(results.into_vec())
    }

    fn execute_again(&self, prim: &Prim, operands: &[Value]) -> Option<Result<Values, Error>> {
        if checks_values() {
            return None;
        }
        let kept = kept(prim, operands)?;
        let mut results = Results::new();
        if let Err(error) = run_on(&kept.program, operands, &mut results) {
            return Some(Err(error));
        }
        let mut values = Values::new();
        for (tensor, weak) in results.into_iter().zip(&kept.weak) {
            values.push(Value::Known(tensor, *weak));
        }
        Some(Ok(values))
    }
}

/// Forgets the programs of this thread.
pub(crate) fn forget_programs() {
    OWN.with_borrow_mut(|own| *own = Own::default());
}

/// The program that applies one primitive.
fn one_equation((prim, types): &Key, results: &[ArrayType]) -> Result<Arc<Executable>, Error> {
    let mut builder = GraphBuilder::new();
    let mut operands: Vec<Atom> = Vec::with_capacity(types.len());
    for (ty, repeated) in types {
        let entry = if *repeated { ty.with_shape([]) } else { ty.clone() };
        operands.push(Atom::Var(builder.input(entry)));
    }
    for (operand, (ty, repeated)) in operands.iter_mut().zip(types) {
        if *repeated && ty.rank() > 0 {
            let broadcast = Broadcast { shape: ty.shape.clone(), axes: Vec::new() };
            *operand = builder.bind1(broadcast, std::slice::from_ref(operand))?;
        }
    }
    let outputs = builder.push(prim.clone(), &operands, results.iter().cloned());
    let graph = builder.finish(prim.name(), outputs.into_vec());
    executable(&Arc::new(graph), &Settings::default())
}
