//! A primitive of the user's is code, and in no repro: what it gave stands in for it, and where it fails, its failure.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tracewell::prelude::*;
use tracewell::primitive::prim::Add;
use tracewell::primitive::{
    ArrayType, Atom, Batched, BufferFn, BufferMut, BufferRef, CallError, Custom, Cx, Data, Example, Jvp,
    Library, LibraryCall, Lowering, Operand, Prim, Primitive, RuleError, TypeError, bind, params,
};
use tracewell::repro::{self, Repro};

use crate::command::{folder, said, tracewell};

/// What goes wrong with [`Same`].
pub(crate) const NOTHING: usize = 0;
pub(crate) const NO_DERIVATIVE: usize = 1;
pub(crate) const WRONG_DERIVATIVE: usize = 2;
pub(crate) const DERIVATIVE_PANICS: usize = 3;
pub(crate) const NO_BATCH: usize = 4;
pub(crate) const LOWERING_PANICS: usize = 5;
pub(crate) const BUFFERS: usize = 6;
pub(crate) const BUFFERS_FAIL: usize = 7;
pub(crate) const BUFFERS_PANIC: usize = 8;
const BUFFERS_MOODY: usize = 9;

static MOODY: AtomicBool = AtomicBool::new(false);

params! {
    /// `same[wrong=W] x`: the elements.
    pub struct Same {
        /// What goes wrong.
        wrong: usize,
    }
}

/// Copies, unless something goes wrong.
struct Copy(usize);

impl BufferFn for Copy {
    fn name(&self) -> &str {
        "test::copy"
    }

    fn call(&self, inputs: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) -> Result<(), CallError> {
        assert!(self.0 != BUFFERS_PANIC, "no copies today");
        assert!(self.0 != BUFFERS_MOODY || !MOODY.load(Ordering::Relaxed), "not now");
        if self.0 == BUFFERS_FAIL {
            return Err("out of paper".into());
        }
        outputs[0].bytes.copy_from_slice(inputs[0].bytes);
        Ok(())
    }
}

impl Primitive for Same {
    fn name(&self) -> &str {
        "test::same"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        Ok(inputs.to_vec())
    }

    fn eval(&self, inputs: &[Data]) -> Result<Vec<Data>, String> {
        Ok(inputs.to_vec())
    }

    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let y = cx.bind(Prim::custom(self.clone()), &[&primals[0]])?;
        match self.wrong {
            NO_DERIVATIVE => return Err(RuleError::not_differentiable("test::same", "nobody wrote it")),
            WRONG_DERIVATIVE => {
                let other = Atom::fill(&ArrayType::new(F32, [5]), 1.0);
                cx.bind(Add {}, &[&primals[0], &other])?;
            }
            DERIVATIVE_PANICS => panic!("the \"rule\" of test::same"),
            _ => {}
        }
        Ok(Jvp::one(y, tangents[0].clone()))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("test::same"))
    }

    fn batch(&self, cx: &mut Cx<'_>, _: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        if self.wrong == NO_BATCH {
            let (primitive, why) = ("test::same".into(), "it is not for many".into());
            return Err(RuleError::Unsupported { primitive, why });
        }
        Ok(vec![Batched::yes(cx.bind(Prim::custom(self.clone()), &[&operands[0].atom])?)])
    }

    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        assert!(self.wrong != LOWERING_PANICS, "it is not for machines");
        if self.wrong < BUFFERS {
            return Ok(Lowering::map(|_, x| x[0]));
        }
        let plain = |types: &[ArrayType]| types.iter().map(|ty| (ty.dtype, ty.shape.clone())).collect();
        let library = Library::Custom(Custom::new(Copy(self.wrong)));
        Ok(Lowering::Library(LibraryCall { library, inputs: plain(inputs), outputs: plain(outputs) }))
    }

    fn examples() -> Vec<Example> {
        Vec::new()
    }
}

pub(crate) fn same(wrong: usize, x: &Array) -> Array {
    bind(Same { wrong }, &[x])
}

/// Fails if a primitive of the user's, or a function of theirs, gave more than 2.5 in compiled code.
pub(crate) fn checked(f: impl Fn(&Array) -> Array) -> impl Fn(&Array) -> Result<Array> {
    move |x| {
        let y = f(&x.sin().exp());
        check!(y.lt(2.5).all(), "y is {}", &y);
        Ok(y * 2.0)
    }
}

fn fails(x: &Array) -> Array {
    same(NOTHING, x).reshape([7])
}

#[test]
fn its_results_are_what_they_were_where_they_are_known() {
    let x = Array::from([41.0f32, 42.0]);
    let text = repro::assert_reproduces(|| grad(fails)(&x)).to_text();
    assert!(
        text.contains("data 0 \"f32[2]{41.0,42.0}\"") && text.contains("bind \"reshape[shape=[7]]\" ($0)"),
        "{text}"
    );
    assert!(text.contains("its results are what they were"), "{text}");
}

#[test]
fn otherwise_they_are_zeros() {
    let text = repro::assert_reproduces(|| jit(fails).call(&Array::from([41.0f32, 42.0]))).to_text();
    assert!(!text.contains("($0) -> ()"), "{text}");
    assert!(text.contains("its results are zeros"), "{text}");
}

/// The repro as another process has it: there are no functions of this one.
fn is_run_elsewhere(repro: &Repro, name: &str) {
    let saved = repro.save(folder(name)).unwrap();
    let run = tracewell(&["run"], &saved);
    assert_eq!(run.status.code(), Some(0), "{}\n{}", said(&run), repro.to_text());
}

fn loudest(x: &Array) -> Array {
    let most = x.to_vec::<f32>().unwrap().into_iter().fold(0.0, f32::max);
    Array::full([2], 2.0 * f64::from(most), F32)
}

fn called(x: &Array) -> Array {
    callback(&Array::zeros([2], F32), loudest, x)
}

/// The repro that a failing call leaves, in which nothing is traced.
fn of_a_warm_call(name: &str, run: impl FnOnce() -> Result<Array>) -> Repro {
    let error = repro::writing_to(folder(&format!("warm-{name}")), run).unwrap_err();
    Repro::load(error.repro().unwrap()).unwrap()
}

/// Fails for the second of these, the first time it runs and once it is compiled.
fn fails_at_once_and_later(name: &str, f: impl Fn(&Array) -> Array) {
    let (good, bad) = (Array::from([-1.0f32, -2.0]), Array::from([1.0f32, 1.5]));
    let first = jit(checked(&f));
    let first = repro::assert_reproduces(|| first.call(&bad));
    let later = jit(checked(&f));
    // Recorded when it is traced, as it is unless repros are off.
    repro::writing_to(folder(&format!("traced-{name}")), || later.call(&good)).unwrap();
    let later = of_a_warm_call(name, || later.call(&bad));
    for (when, repro) in [("first", first), ("later", later)] {
        assert!(!repro.is_exact());
        assert!(
            repro.tree().stand_ins.iter().any(|note| note.contains("it gives what it gave")),
            "{}",
            repro.to_text()
        );
        is_run_elsewhere(&repro, &format!("{name}-{when}"));
        is_run_elsewhere(&repro.reduce(), &format!("{name}-{when}-reduced"));
    }
}

#[test]
fn a_primitive_in_compiled_code_gives_what_it_gave() {
    fails_at_once_and_later("primitive", |x| same(NOTHING, x));
    fails_at_once_and_later("buffers", |x| same(BUFFERS, x));
}

#[test]
fn a_function_that_is_called_back_gives_what_it_gave() {
    fails_at_once_and_later("callback", called);
}

#[test]
fn each_call_in_a_loop_gives_what_it_gave() {
    let f = |x: &Array| scan(x.clone(), &Array::ones([3], F32), |x, _| (called(x) * same(NOTHING, x), ())).0;
    fails_at_once_and_later("loop", f);
}

#[test]
fn what_does_something_is_not_done_again() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    fn counted(x: &Array) -> Array {
        CALLS.fetch_add(1, Ordering::Relaxed);
        x * 2.0
    }
    let f = jit(checked(|x| ordered_callback(&Array::zeros([2], F32), counted, x)));
    f.call(&Array::from([-1.0f32, -2.0])).unwrap();
    let repro = of_a_warm_call("effects", || f.call(&Array::from([1.0f32, 1.5])));
    assert_eq!(CALLS.load(Ordering::Relaxed), 2);
    assert!(repro.tree().stand_ins.iter().any(|note| note.contains("it gives zeros")), "{}", repro.to_text());
}

#[test]
fn a_mistake_in_a_rule_is_raised_where_it_was() {
    let x = || Array::from([1.0f32, 2.0]);
    let ways: [(&str, &dyn Fn()); 7] = [
        ("`test::same` has no derivative", &|| drop(grad(|x: &Array| same(NO_DERIVATIVE, x).sum())(&x()))),
        ("cannot", &|| {
            drop(jit(|x: &Array| grad(|x: &Array| same(WRONG_DERIVATIVE, x).sum())(x)).call(&x()))
        }),
        ("the \"rule\" of test::same", &|| drop(grad(|x: &Array| same(DERIVATIVE_PANICS, x).sum())(&x()))),
        ("`test::same`: it is not for many", &|| drop(vmap(|x: &Array| same(NO_BATCH, x))(&x()))),
        ("cannot compile `test::same`", &|| drop(jit(|x: &Array| same(LOWERING_PANICS, x)).call(&x()))),
        ("`test::copy` failed: out of paper", &|| drop(jit(|x: &Array| same(BUFFERS_FAIL, x)).call(&x()))),
        ("no copies today", &|| drop(jit(|x: &Array| same(BUFFERS_PANIC, x)).call(&x()))),
    ];
    for (number, (message, run)) in ways.into_iter().enumerate() {
        let repro = repro::assert_reproduces(run);
        let failure = repro.failure().unwrap();
        assert!(failure.message.starts_with(message), "{failure:?}");
        assert!(!repro.is_exact());
        is_run_elsewhere(&repro, &format!("rule-{number}"));
    }
}

#[test]
fn a_panic_in_a_warm_call_leaves_a_folder() {
    let f = jit(|x: &Array| same(BUFFERS_MOODY, x) + 1.0);
    f.call(&Array::ones([3], F32));
    MOODY.store(true, Ordering::Relaxed);
    let root = folder("moody");
    let run = || repro::writing_to(&root, || f.call(&Array::ones([3], F32)));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    let found = std::fs::read_dir(&root).unwrap().next().expect("a folder").unwrap().path();
    let repro = Repro::load(found).unwrap();
    assert_eq!(repro.failure().unwrap().message, "not now");
    assert!(repro.run().is_reproduced());
}
