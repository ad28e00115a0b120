//! Eager operations: a primitive on known data is a compiled one-equation program, cached by its types.

use std::cell::RefCell;
use std::sync::{Arc, Once};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tracewell_array::Tensor;
use tracewell_graph::prim::Broadcast;
use tracewell_graph::{ArrayType, Atom, GraphBuilder, Prim};
use tracewell_runtime::{Executable, Input};
use tracewell_trace::{Error, Executor, Value, install_executor};

use crate::checks::{check_primitive, checks_values};
use crate::executable::{executable, failure, run};
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

/// Programs kept by each thread without a lock; more are found in the shared cache.
const KEPT: usize = 512;

thread_local! {
    static PROGRAMS: RefCell<FxHashMap<Key, Arc<Executable>>> = RefCell::default();
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
        let types = operands.iter().map(|v| (v.ty(), matches!(v, Value::Splat(_)))).collect();
        let key: Key = (prim.clone(), types);
        let found = PROGRAMS.with_borrow(|programs| programs.get(&key).cloned());
        let program = match found {
            Some(program) => program,
            None => {
                let made = one_equation(&key, results)?;
                PROGRAMS.with_borrow_mut(|programs| {
                    if programs.len() >= KEPT {
                        programs.clear();
                    }
                    programs.insert(key, made.clone());
                });
                made
            }
        };
        let scalars: SmallVec<[Tensor; 2]> = operands.iter().filter_map(scalar).collect();
        let mut scalars = scalars.iter();
        let mut inputs: SmallVec<[Input<'_>; 4]> = SmallVec::new();
        for operand in operands {
            match operand {
                Value::Known(tensor, _) => inputs.push(Input::Lent(tensor)),
                Value::Splat(_) => inputs.extend(scalars.next().map(Input::Lent)),
                Value::Traced(_) => return Err(Error::bug("a tracer reached the executor")),
            }
        }
        let results = run(&program, &mut inputs)?;
        if checks_values() {
            let known: Option<Vec<Tensor>> = operands.iter().map(Value::known).collect();
            check_primitive(prim, &known.unwrap_or_default(), &results, self)?;
        }
        Ok(results.into_vec())
    }
}

/// Forgets the programs of this thread.
pub(crate) fn forget_programs() {
    PROGRAMS.with_borrow_mut(|programs| programs.clear());
}

fn scalar(value: &Value) -> Option<Tensor> {
    match value {
        Value::Splat(splat) => Some(Tensor::full(splat.literal, tracewell_array::Shape::scalar())),
        Value::Known(..) | Value::Traced(_) => None,
    }
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
