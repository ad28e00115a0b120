//! Mistakes and their texts. Lines are those of this file, so texts are compared without them.

use std::sync::mpsc::channel;

use expect_test::{Expect, expect};
use tracewell::prelude::*;
use tracewell::primitive::{bind, bind_all};

use crate::without_lines;
use steps::Steps;

#[track_caller]
fn check<R>(f: impl Fn(&Array) -> Result<R>, x: Array, expected: Expect)
where
    R: Tree,
{
    let error = tracewell::jit(f).call(&x).err().unwrap();
    expected.assert_eq(&without_lines(&error.to_string()));
}

#[test]
fn shapes_that_do_not_go_together() {
    check(
        |x| Ok(x + Array::zeros([4, 5], F32)),
        Array::zeros([4, 3], F32),
        expect![[r#"
        cannot add f32[4,3] and f32[4,5]: axis 1 is 3 and 5
          --> here, while tracing a closure (here) for jit
          help: axes are aligned from the last; sizes must be equal, or 1; `reshape` to add an axis"#]],
    );
}

#[test]
fn an_axis_out_of_range() {
    check(
        |x| Ok(x.sum_axes(&[2])),
        Array::zeros([4, 3], F32),
        expect![[r#"
        axis 2 is out of range for f32[4,3]
          --> here, while tracing a closure (here) for jit
          help: axes of this array are -2..2"#]],
    );
}

#[test]
fn the_value_of_an_abstract_tracer() {
    check(
        |x| Ok(if x.sum().item::<f32>() > 0.0 { x.sin() } else { x.cos() }),
        Array::zeros([3], F32),
        expect![[r#"
            `item()` asked for the value of a traced f32[], which is not known while tracing for jit
              --> here, while tracing a closure (here) for jit
              note: it depends on the argument `x` by these lines
                    here (reduce_sum)
              help: to choose by value inside a traced function use `select` or `cond`; to repeat by value, `while_loop`
              help: to keep a Rust `if` or loop, mark the argument it depends on `#[static_arg]`, or move it outside"#]],
    );
}

#[test]
fn a_leaked_tracer() {
    let kept = std::sync::Mutex::new(None);
    tracewell::jit(|x: &Array| {
        *kept.lock().unwrap() = Some(x.sin());
        x.clone()
    })
    .call(&Array::zeros([3], F32));
    let leaked = kept.into_inner().unwrap().unwrap();
    let panic = std::panic::catch_unwind(|| &leaked + 1.0).unwrap_err();
    expect![[r#"
        a traced f32[3] was used after its trace had ended
          --> here
          note: it was made at here, while tracing a closure (here) for jit
          help: return the array from the traced function instead of storing it outside"#]]
    .assert_eq(&without_lines(panic.downcast_ref::<String>().unwrap()));
}

#[test]
fn an_inner_function_names_the_whole_way() {
    jit! {
        fn model(x: &Array) -> Array { x.dot(&Array::zeros([7, 2], F32)) }
    }
    check(
        |x| Ok(grad(|x: &Array| model(x).sum())(x)),
        Array::zeros([4, 3], F32),
        expect![[r#"
            cannot take the product of f32[4,3] and f32[7,2]: contracted axis 1 of the left is 3, 0 of the right is 7
              --> here, while tracing `model` (here) for jit, called from a closure (here) for grad, called from a closure (here) for jit
              help: sizes along which products are summed are equal; `.t()` reverses the axes"#]],
    );
}

#[test]
fn a_gradient_by_an_integer() {
    let error = grad(|x: &(Array, Array)| -> Result<Array> { Ok(x.0.sum()) })(&(
        Array::zeros([2], F32),
        Array::zeros([2], I32),
    ))
    .err()
    .unwrap();
    expect![[r#"
        `grad` by `x.1`, which is i32[2]: only floats have derivatives
          --> here, while tracing a closure for grad
          help: capture it in the closure instead, or `convert` it to a float"#]]
    .assert_eq(&without_lines(&error.to_string()));
}

#[test]
fn an_eager_mistake_panics_with_the_same_text() {
    let x = Array::zeros([2], F32);
    let panic = std::panic::catch_unwind(|| &x + Array::zeros([3], F32)).unwrap_err();
    expect![[r#"
        cannot add f32[2] and f32[3]: axis 0 is 2 and 3
          --> here
          help: axes are aligned from the last; sizes must be equal, or 1; `reshape` to add an axis"#]]
    .assert_eq(&without_lines(panic.downcast_ref::<String>().unwrap()));
}

#[test]
fn a_tracer_prints_its_type_and_argument() {
    let seen = std::sync::Mutex::new(String::new());
    jit! {
        fn named(x: &Array, pair: &(Array, Array)) -> Array { x + &pair.1 }
    }
    let _ = named;
    tracewell::jit(|x: &(Array, Array)| {
        *seen.lock().unwrap() = format!("{} / {}", x.1, without_lines(&x.0.sin().to_string()));
        x.0.clone()
    })
    .call(&(Array::zeros([3], F32), Array::zeros([2], F64)));
    expect!["Traced<f64[2]> for x.1 / Traced<f32[3]> from here"].assert_eq(&seen.into_inner().unwrap());
}

mod steps {
    use tracewell::prelude::Result;
    use tracewell::primitive::{
        ArrayType, Atom, Batched, Cx, Data, Example, Jvp, Lowering, Operand, Prim, Primitive, RuleError,
        TypeError, params,
    };
    params! {
        /// `steps x`: the elements, without a derivative.
        pub struct Steps {
            /// How many results the type rule promises; there is one.
            results: usize,
        }
    }
    impl Primitive for Steps {
        fn name(&self) -> &str {
            "test::steps"
        }
        fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
            Ok(vec![inputs[0].clone(); self.results])
        }
        fn eval(&self, inputs: &[Data]) -> Result<Vec<Data>, String> {
            Ok(inputs.to_vec())
        }
        fn jvp(&self, _: &mut Cx<'_>, _: &[Atom], _: &[Option<Atom>]) -> Result<Jvp, RuleError> {
            Err(RuleError::not_differentiable("test::steps", "it is made of steps"))
        }
        fn transpose(
            &self,
            _: &mut Cx<'_>,
            _: &[Operand],
            _: &[Option<Atom>],
        ) -> Result<Vec<Option<Atom>>, RuleError> {
            Err(RuleError::not_linear("test::steps"))
        }
        fn batch(&self, cx: &mut Cx<'_>, _: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
            Ok(vec![Batched::yes(cx.bind(Prim::custom(self.clone()), &[&operands[0].atom])?)])
        }
        fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
            Ok(Lowering::map(|_, x| x[0]))
        }
        fn examples() -> Vec<Example> {
            Vec::new()
        }
    }
}

#[test]
fn a_primitive_without_a_derivative_names_the_line_that_used_it() {
    let line = line!() + 2;
    let f = |x: &Array| -> Result<Array> {
        let y = bind(Steps { results: 1 }, &[x]);
        Ok(y.sum())
    };
    let error = grad(f)(&Array::zeros([2], F32)).err().unwrap();
    assert_eq!(error.location().unwrap().line, line, "{error}");
    expect![[r#"
        `test::steps` has no derivative: it is made of steps
          --> here, while tracing a closure (here) for grad
          help: use `stop_gradient` on its operands to hold them constant"#]]
    .assert_eq(&without_lines(&error.to_string()));
}

#[test]
fn rules_of_a_users_primitive_that_do_not_fit_together() {
    check(
        |x| Ok(bind_all(Steps { results: 2 }, &[x])),
        Array::zeros([2], F32),
        expect![[r#"
            cannot compile `test::steps`, a primitive of your own: its rules do not fit together
              --> here, while tracing a closure (here) for jit
              note: cannot lower `test::steps` of here: `test::steps`: its lowering gives (f32[2]), its type rule (f32[2], f32[2])
              help: `lower` gives what computes the results that `type_rule` promises"#]],
    );
}

#[test]
fn a_tracer_in_another_trace() {
    let outer = |x: &Array| -> Result<Array> {
        let (give, take) = channel();
        let (end, wait) = channel::<()>();
        std::thread::scope(|scope| {
            // This trace begins later and is still going on when its array is used outside.
            scope.spawn(move || {
                let inner = |y: &Array| {
                    give.send(y.sin()).unwrap();
                    wait.recv().unwrap_err();
                    y.clone()
                };
                trace(inner, &Array::zeros([3], F32)).unwrap();
            });
            let _end = end;
            Ok(x + take.recv().unwrap())
        })
    };
    let error = tracewell::jit(outer).call(&Array::zeros([3], F32)).err().unwrap();
    expect![[r#"
        a traced f32[3] was used in a closure (here), another trace
          --> here, while tracing a closure (here) for jit
          note: it was made at here, while tracing a closure (here) for trace
          help: give it to the other function as an argument"#]]
    .assert_eq(&without_lines(&error.to_string()));
}
