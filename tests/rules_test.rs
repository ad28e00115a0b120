//! What the laws are worth: a primitive that breaks one is caught, rules that do are named. And rules at their edges.

#[path = "edges.rs"]
mod edges;

use std::sync::atomic::{AtomicI64, Ordering};

use tests::laws::{LAWS, Outcome};
use tests::primitives_page::derivative;
use tracewell_array::{DType, Tensor};
use tracewell_graph::prim::{Abs, Add, Neg, ReduceMax};
use tracewell_graph::{
    ArrayType, Atom, Batched, Cx, Example, GraphBuilder, Jvp, Lowering, OfRows, Operand, ParamValue, Params,
    Prim, Primitive, RuleError, TypeError, eval,
};
use tracewell_transform::{jvp, linearize};

#[test]
fn every_law_catches_who_breaks_it() {
    let example = |lie: Option<&'static str>| Example {
        prim: Prim::custom(Liar { lie }),
        inputs: vec![ArrayType::new(DType::F64, [4])],
    };
    for law in LAWS {
        assert_eq!((law.check)(&example(None), 1), Ok(Outcome::Checked), "{} of the honest", law.name);
        let result = (law.check)(&example(Some(law.name)), 1);
        assert!(result.is_err(), "{} is broken, found {result:?}", law.name);
    }
}

/// A rule that cuts what is not to be cut, or leaves whole what is.
#[test]
fn rules_of_rows_are_typed() {
    let law = LAWS.iter().find(|law| law.name == "rows").expect("there is one");
    let prim = Prim::custom(Liar { lie: Some("untyped rows") });
    let error = (law.check)(&Example { prim, inputs: vec![ArrayType::new(DType::F64, [4])] }, 1);
    assert!(error.as_ref().is_err_and(|error| error.contains("not typed")), "{error:?}");
}

/// A rule that gives too much, or mixes tangents into values, is named where it does.
#[test]
fn walks_blame_the_rule() {
    let error = |lie: &'static str| {
        let mut b = GraphBuilder::new();
        let x = b.input(ArrayType::new(DType::F64, [4])).into();
        let y = b.bind1(Prim::custom(Liar { lie: Some(lie) }), &[x]).expect("typed");
        linearize(&b.finish("f", vec![y]), &[true]).expect_err("broken").to_string()
    };
    let (count, mixed) = (error("count"), error("mixed"));
    assert!(count.contains("`tests::liar`: its jvp rule gave 2 results where 1 are due"), "{count}");
    assert!(mixed.contains("`tests::liar`: while linearizing, its jvp rule made a primal result"), "{mixed}");
}

/// The negative, which is its own derivative and its own adjoint; but it lies about one law.
#[derive(Clone, Debug)]
struct Liar {
    lie: Option<&'static str>,
}

impl Liar {
    fn lies(&self, law: &str) -> bool {
        self.lie == Some(law)
    }

    /// The operand itself where it lies, else its negative.
    fn apply(&self, cx: &mut Cx<'_>, x: &Atom, law: &str) -> Result<Atom, RuleError> {
        if self.lies(law) { Ok(x.clone()) } else { cx.bind(Prim::custom(self.clone()), &[x]) }
    }
}

static CALLS: AtomicI64 = AtomicI64::new(0);

impl Params for Liar {
    fn each_param(&self, f: &mut dyn FnMut(&'static str, ParamValue)) {
        // Another number each time cannot be read back.
        let count = if self.lies("text") { CALLS.fetch_add(1, Ordering::Relaxed) } else { 0 };
        f("lie", ParamValue::Text(self.lie.unwrap_or("none").to_string()));
        f("count", ParamValue::Int(count));
    }
}

impl Primitive for Liar {
    fn name(&self) -> &str {
        "tests::liar"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        Ok(vec![if self.lies("types") { inputs[0].with_dtype(DType::F32) } else { inputs[0].clone() }])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        Neg {}.eval(inputs)
    }

    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let mut y = self.apply(cx, &primals[0], "primal")?;
        if let (true, Some(dx)) = (self.lies("mixed"), &tangents[0]) {
            y = cx.bind(Add {}, &[&y, dx])?;
        }
        if self.lies("count") {
            return Ok(Jvp { primals: vec![y.clone(), y], tangents: vec![None] });
        }
        let dy = tangents[0].as_ref().map(|dx| self.apply(cx, dx, "derivative")).transpose()?;
        Ok(Jvp::one(y, dy))
    }

    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        _: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Ok(vec![cotangents[0].as_ref().map(|ct| self.apply(cx, ct, "adjoint")).transpose()?])
    }

    fn batch(&self, cx: &mut Cx<'_>, _: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let law = if self.lies("nesting") { "nesting" } else { "batching" };
        Ok(vec![Batched::yes(self.apply(cx, &operands[0].atom, law)?)])
    }

    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        if self.lies("compiled") { Abs {}.lower(inputs, outputs) } else { Neg {}.lower(inputs, outputs) }
    }

    fn of_rows(&self, _: &[ArrayType], _: &ArrayType, _: usize) -> Option<OfRows> {
        match self.lie {
            Some("rows") => Some(OfRows::other(Abs {}, [true])),
            lie => Some(OfRows::same([lie != Some("untyped rows")])),
        }
    }

    fn examples() -> Vec<Example> {
        Vec::new()
    }
}

/// What has no derivative is what has none in JAX: zero where `lax` defines it so, an error where it has no rule.
#[test]
fn the_same_have_no_derivative_as_in_jax() {
    let of_kind = |kind: &str| -> Vec<&str> {
        let is_it = |name: &&str| {
            // `sign` of complex numbers turns with them; `lax` says that its derivative is zero there too.
            let real = |e: &Example| !e.inputs.iter().any(|ty| ty.dtype.is_complex());
            let of_name = |e: &Example| e.prim.name() == *name && (*name != "sign" || real(e));
            let examples: Vec<Example> = Prim::examples().into_iter().filter(of_name).collect();
            derivative(&examples) == kind
        };
        Prim::NAMES.iter().copied().filter(is_it).collect()
    };
    // In `lax`: `ad.defjvp_zero`, or a function with a derivative of zero.
    assert_eq!(of_kind("zero"), ["ceil", "floor", "round", "sign", "stop_gradient"]);
    // In `lax`: no rule, so that differentiating is an error.
    assert_eq!(of_kind("none"), ["callback", "nextafter"]);
}

/// The page of primitives says what the primitives say.
#[test]
fn the_page_of_primitives_is_up_to_date() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/primitives.md");
    let page = tests::primitives_page::page();
    if std::env::var_os("TRACEWELL_BLESS").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let found = std::fs::read_to_string(&path).expect("there is a page");
    assert!(found == page, "docs/primitives.md is out of date: `cargo xtask bless` writes it");
}

/// Where several elements are the largest, each has its share of the derivative.
#[test]
fn ties_share_the_derivative() {
    let mut b = GraphBuilder::new();
    let x: Atom = b.input(ArrayType::new(DType::F64, [4])).into();
    let y = b.bind1(ReduceMax { axes: vec![0] }, &[x]).expect("typed");
    let (derivative, _) = jvp(&b.finish("f", vec![y]), &[true]).expect("it has one");
    let along = |tangent: &str| {
        let point = format!("f64[4]{{2.0,7.0,7.0,1.0}}, f64[4]{{{tangent}}}");
        let inputs = tracewell_graph::text::read_tensors(&point).expect("two arrays");
        eval(&derivative, &inputs).expect("typed")[1].literal(0).as_f64()
    };
    assert_eq!(
        (along("1.0,0.0,0.0,0.0"), along("0.0,1.0,0.0,0.0"), along("0.0,1.0,1.0,0.0")),
        (0.0, 0.5, 1.0)
    );
}
