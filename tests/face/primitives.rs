//! The section "A primitive of your own".

use tracewell::prelude::*;
use tracewell::primitive::{Defined, ParamValue, bind};

use crate::assert_close;

struct Sinh;

impl Defined for Sinh {
    fn expand(&self, x: &[Array]) -> Vec<Array> {
        vec![(x[0].exp() - (-&x[0]).exp()) / 2.0]
    }
}

#[test]
fn everything_is_derived_from_an_expansion() {
    let x = Array::from([-1.0f64, 0.5]);
    let sinh = |x: &Array| bind(Sinh, &[x]);
    let (s, c): (Vec<f64>, Vec<f64>) = [-1.0f64, 0.5].iter().map(|x| (x.sinh(), x.cosh())).unzip();
    assert_close(&sinh(&x), &s, 1e-14);
    assert_close(&grad(|x: &Array| sinh(x).sum())(&x), &c, 1e-14);
    assert_close(&vmap(sinh)(&x), &s, 1e-14);
    assert_close(&tracewell::jit(sinh).call(&x), &s, 1e-14);
    assert_close(&tracewell::jit(|x: &Array| vmap(grad(sinh))(x)).call(&x), &c, 1e-14);
    let graph = trace(sinh, &x).unwrap().to_string();
    assert!(graph.contains("Sinh"), "{graph}");
}

struct Power {
    n: i64,
}

impl Defined for Power {
    fn expand(&self, x: &[Array]) -> Vec<Array> {
        vec![(1..self.n).fold(x[0].clone(), |y, _| y * &x[0])]
    }
    fn params(&self) -> Vec<(&'static str, ParamValue)> {
        vec![("n", ParamValue::Int(self.n))]
    }
}

struct Forgetful {
    n: i64,
}

impl Defined for Forgetful {
    fn expand(&self, x: &[Array]) -> Vec<Array> {
        vec![&x[0] * self.n]
    }
}

#[test]
fn parameters_tell_two_uses_apart() {
    let x = Array::from(2.0f64);
    assert_eq!(bind(Power { n: 3 }, &[&x]).item::<f64>(), 8.0);
    assert_eq!(bind(Power { n: 2 }, &[&x]).item::<f64>(), 4.0);
    let panic = std::panic::catch_unwind(|| bind(Forgetful { n: 2 }, &[&x])).unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().contains("names no parameters"));
}

mod other {
    use tracewell::prelude::*;
    use tracewell::primitive::Defined;

    pub(super) struct Taken;

    impl Defined for Taken {
        fn expand(&self, x: &[Array]) -> Vec<Array> {
            vec![x[0].clone()]
        }
        fn name(&self) -> String {
            "test::same".to_string()
        }
    }

    pub(super) struct Late;

    impl Defined for Late {
        fn expand(&self, x: &[Array]) -> Vec<Array> {
            vec![x[0].clone()]
        }
        fn name(&self) -> String {
            "test::same".to_string()
        }
    }
}

#[test]
fn a_duplicate_name_is_an_error() {
    let x = Array::from(2.0f64);
    bind(other::Taken, &[&x]);
    let panic = std::panic::catch_unwind(|| bind(other::Late, &[&x])).unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().contains("two primitives are named `test::same`"));
}
