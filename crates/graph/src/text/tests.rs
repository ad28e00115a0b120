//! What was written reads back, and what was not written by us does no harm.

use std::sync::Arc;

use expect_test::expect;
use tracewell_array::{DType, Literal, Tensor};

use super::*;
use crate::builder::GraphBuilder;
use crate::graph::{Atom, Graph, Location, Splat};
use crate::prim::{Call, Neg, Prim};
use crate::ty::ArrayType;
use crate::verify::verify;

const LOSS: &str = "\
func @loss(%0: f32[2,3], %1: ~f32[]) -> (f32[2], f32[2,3]) {
  %2: ~f32[2,3] = broadcast[shape=[2,3], axes=[]] %1    at src/main.rs:10:5
  %3: f32[2,3] = mul %0, 2.0:f32[2,3]
  %4: bool[2,3] = compare[comparison=lt] %0, %2
  %5: f32[2,3] = select %4, %3, -inf:~f32[2,3]    at \"my src/a \\\"b\\\".rs\":1:2
  %6: f32[3] = constant[value=f32[3]{nan,-0.0,nan:0x7fc00001}]
  %7: f32[2] = call[graph=func @\"g h\"(%0: f32[2,3]) -> (f32[2]) {
    %1: f32[2] = reduce_sum[axes=[1]] %0    at lib.rs:3:4
    return %1
  }] %5    at C:\\main.rs:5:6
  return %7, nan:0xffc00000:f32[2,3]
}
";

fn read_text(text: &str) -> Result<Graph, String> {
    read(text, &NoCustom).map_err(|error| error.to_string())
}

/// Graphs compare without names and locations, texts with them.
#[track_caller]
fn same(text: &str) {
    let graph = read_text(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let again = read_text(&write_with_locations(&graph)).unwrap();
    assert_eq!(again, graph);
    assert_eq!(write_with_locations(&again), text);
    assert_eq!(read_text(&write(&graph)).unwrap(), graph);
    assert_eq!(verify(&graph), Ok(()));
    assert_eq!(read_unchecked(text, &NoCustom).unwrap(), graph);
}

#[test]
fn texts_read_back() {
    same(LOSS);
    same("func @nothing() -> () {\n  return\n}\n");
    same("func @\"\"(%0: u8[0,1000000]) -> (u8[0,1000000], u8[0,1000000]) {\n  return %0, %0\n}\n");
}

/// Paths follow no rule of tokens.
#[test]
fn files_of_locations_read_back() {
    for file in
        ["a.rs", ".rs", "../a.rs", "/usr/a.rs", "<anon>", "a b.rs", "//a.rs", "\"", "é.rs", ":", "", "at"]
    {
        let mut b = GraphBuilder::new();
        let x = b.input(ArrayType::new(DType::F32, [])).into();
        b.at(Some(Location { file: file.to_owned().into(), line: 1, column: 2 }));
        let y = b.bind1(Neg {}, &[x]).unwrap();
        let again = read_text(&write_with_locations(&b.finish("f", vec![y]))).unwrap();
        assert_eq!(again.equations[0].location.as_ref().map(|at| &*at.file), Some(file));
    }
}

#[test]
fn locations_and_large_constants_are_for_some() {
    let mut b = GraphBuilder::new();
    b.at(Some(Location { file: "a.rs".into(), line: 1, column: 2 }));
    let x = b.constant(&Tensor::zeros(DType::I64, [17]));
    let y = b.constant(&Tensor::zeros(DType::U8, [2]));
    let graph = b.finish("f", vec![x, y]);
    expect![[r#"
        func @f() -> (i64[17], u8[2]) {
          %0: i64[17] = constant[value=i64[17]{…}]
          %1: u8[2] = constant[value=u8[2]{0,0}]
          return %0, %1
        }
    "#]]
    .assert_eq(&graph.to_string());
    expect![[r#"
        func @f() -> (i64[17], u8[2]) {
          %0: i64[17] = constant[value=i64[17]{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}]    at a.rs:1:2
          %1: u8[2] = constant[value=u8[2]{0,0}]    at a.rs:1:2
          return %0, %1
        }
    "#]]
    .assert_eq(&write_with_locations(&graph));
    expect![[r#"
        2:40: the elements were left out when this was written
          %0: i64[17] = constant[value=i64[17]{…}]
                                               ^"#]]
    .assert_eq(&read_text(&graph.to_string()).unwrap_err());
    assert!(!write(&graph).contains("a.rs"));
}

/// All primitives with all their examples, each in a graph of its own.
#[test]
fn every_example_reads_back() {
    for example in Prim::examples() {
        let mut b = GraphBuilder::new();
        let inputs: Vec<Atom> = example.inputs.iter().map(|ty| Atom::Var(b.input(ty.clone()))).collect();
        let outputs = b.bind(example.prim.clone(), &inputs).unwrap().into_vec();
        same(&write_with_locations(&b.finish(example.prim.name(), outputs)));
    }
}

/// Any literal of any type, as a splat and as an element.
#[test]
fn every_literal_reads_back() {
    let bits = [0, 1, 2, 127, 128, 255, 0x7f80_0000, 0x7f80_0001, 0xff80_0000, 0x8000_0000, 1 << 63];
    let more =
        [0x7ff0_0000_0000_0000, 0x7ff0_0000_0000_0001, 0xfff8_0000_0000_0000, u128::MAX, u128::MAX >> 1];
    for &dtype in DType::ALL {
        for bits in bits.into_iter().chain(more).flat_map(|low| [low, low << 32 | low, low << 64 | low]) {
            let literal = Literal::from_bits(dtype, bits);
            let mut b = GraphBuilder::new();
            let constant = b.constant(&Tensor::full(literal, [2]));
            let splat = |weak| Atom::Splat(Splat { literal, shape: [2].into(), weak });
            same(&write(&b.finish("f", vec![constant, splat(false), splat(true)])));
        }
    }
}

/// A primitive of a user.
#[allow(unreachable_pub, reason = "`params!` declares what a user makes public")]
mod custom {
    use super::*;
    use crate::error::{RuleError, TypeError};
    use crate::params;
    use crate::params::{FromParams, ParamValue};
    use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};

    params! {
        /// Consumes anything.
        pub struct Sink {
            /// Text.
            text: String,
            /// A flag.
            r#loop: bool,
            /// A number.
            count: i64,
        }
    }

    impl Primitive for Sink {
        fn name(&self) -> &str {
            "tests::sink"
        }
        fn type_rule(&self, _: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
            Ok(Vec::new())
        }
        fn eval(&self, _: &[Tensor]) -> Result<Vec<Tensor>, String> {
            Ok(Vec::new())
        }
        fn jvp(&self, _: &mut Cx<'_>, _: &[Atom], _: &[Option<Atom>]) -> Result<Jvp, RuleError> {
            Err(RuleError::not_differentiable("tests::sink", "never"))
        }
        fn transpose(
            &self,
            _: &mut Cx<'_>,
            _: &[Operand],
            _: &[Option<Atom>],
        ) -> Result<Vec<Option<Atom>>, RuleError> {
            Err(RuleError::not_linear("tests::sink"))
        }
        fn batch(&self, _: &mut Cx<'_>, _: usize, _: &[Batched]) -> Result<Vec<Batched>, RuleError> {
            Ok(Vec::new())
        }
        fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
            Err(RuleError::not_linear("tests::sink"))
        }
        fn examples() -> Vec<Example> {
            Vec::new()
        }
    }

    struct Sinks;

    impl Resolve for Sinks {
        fn resolve(&self, name: &str, params: &[(String, ParamValue)]) -> Option<Prim> {
            (name == "tests::sink").then(|| Sink::from_params(params).map(Prim::custom)).flatten()
        }
    }

    #[test]
    fn custom_primitives_read_back() {
        let text = "\
func @f(%0: f32[]) -> () {
  tests::sink[text=\"a, \\\"b\\\"]\\n\", \"r#loop\"=true, count=-9223372036854775808] %0, true:bool[]
  tests::sink[text=\"\", \"r#loop\"=false, count=9223372036854775807]
  tests::sink[text=\"\", \"r#loop\"=false, count=0] %0    at a.rs:1:1
  return
}
";
        let graph = read(text, &Sinks).unwrap();
        assert_eq!(write_with_locations(&graph), text);
        assert_eq!(read(&write(&graph), &Sinks).unwrap(), graph);
        let error = read_text(text).unwrap_err();
        assert!(
            error.starts_with("2:3: there is no primitive `tests::sink` with these parameters"),
            "{error}"
        );
    }
}

#[test]
fn several_graphs() {
    let text = "func @a() -> () { return }\n// then\nfunc @b() -> () { return }";
    let graphs = read_all(text, &NoCustom).unwrap();
    assert_eq!(graphs.iter().map(|g| g.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(read_all("", &NoCustom).unwrap(), []);
    assert!(read_text(text).unwrap_err().starts_with("3:1: expected the end of the text, found `func`"));
}

#[test]
fn names_are_free() {
    let graph = read_text("func @f(%x: f32[2]) -> (f32[2]) { %y_1: f32[2] = neg %x return %y_1 }").unwrap();
    expect![[r#"
        func @f(%0: f32[2]) -> (f32[2]) {
          %1: f32[2] = neg %0
          return %1
        }
    "#]]
    .assert_eq(&graph.to_string());
}

#[test]
fn tensors() {
    let text = "f32[2]{1.0,nan}, i64[]{-3}, bool[2,0]{}";
    let tensors = read_tensors(text).unwrap();
    assert_eq!(tensors.iter().map(write_tensor).collect::<Vec<_>>().join(", "), text);
    assert_eq!(read_tensors(" ").unwrap(), []);
    assert!(read_tensors("f32[2]{1.0}").unwrap_err().to_string().starts_with("1:1: 1 element does not fit"));
}

/// A call in a call, this many graphs deep.
fn nested(depth: usize) -> String {
    let mut text = String::from("func @f(%0: f32[]) -> (f32[]) { return %0 }");
    for _ in 1..depth {
        text = format!("func @f(%0: f32[]) -> (f32[]) {{ %1: f32[] = call[graph={text}] %0 return %1 }}");
    }
    text
}

#[test]
fn nesting_is_limited() {
    let graph = read_text(&nested(MAX_DEPTH)).unwrap();
    assert_eq!(verify(&graph), Ok(()));
    assert_eq!(read_text(&write(&graph)).unwrap(), graph);
    assert!(read_text(&nested(MAX_DEPTH + 1)).unwrap_err().contains("graphs nest more than 64 deep"));
    let endless = "func @f() -> () { call[graph=".repeat(100_000);
    assert!(read_text(&endless).unwrap_err().contains("graphs nest more than 64 deep"));
}

/// Numbers that ask for memory or do not fit.
#[test]
fn numbers_are_only_numbers() {
    let signature = |ty: &str| format!("func @f(%0: {ty}) -> ({ty}) {{ return %0 }}");
    for ty in ["f32[1000000000000000]", "u8[1,576460752303423487]", "i64[0,576460752303423487]"] {
        assert_eq!(read_text(&signature(ty)).unwrap().types[0].to_string(), ty);
    }
    for ty in ["f32[576460752303423488]", "bool[4294967296,4294967296]", "u8[18446744073709551616]"] {
        assert!(read_text(&signature(ty)).is_err(), "{ty}");
    }
    let error = read_tensors("f32[1000000000000000]{1.0}").unwrap_err();
    assert_eq!(error.message, "1 element does not fit shape [1000000000000000]");
    let sparse = "func @f(%4294967295: f32[]) -> () { return }";
    assert!(read_unchecked(sparse, &NoCustom).unwrap_err().message.contains("not a number that fits"));
}

/// Few bytes that repeat one long type must not become many copies of it.
#[test]
fn operands_cannot_multiply_types() {
    let ty = format!("f32[{}1]", "1,".repeat(50_000));
    let operands = vec!["%0"; 50_000].join(", ");
    let text =
        format!("func @f(%0: {ty}) -> () {{ call[graph=func @g() -> () {{ return }}] {operands} return }}");
    assert!(read_text(&text).unwrap_err().contains("more axes than a text of this size can mean"));
}

/// Whatever is cut off, doubled or changed in a text, reading it ends with a graph or an error.
#[test]
fn damaged_texts_do_not_panic() {
    for at in 0..LOSS.len() {
        let (before, after) = LOSS.split_at(at);
        let mut rest = after.chars();
        rest.next();
        for text in [before.to_owned(), format!("{before}{}", rest.as_str()), format!("{before}{LOSS}")] {
            let _ = read_text(&text);
            check_unchecked(&text);
        }
        for sign in ['%', '[', '{', '(', '"', ':', '-', '@', '=', '~', '…', '0', 'f', '\n'] {
            let text = format!("{before}{sign}{}", rest.as_str());
            let _ = read_text(&text);
            check_unchecked(&text);
        }
    }
}

/// What is read without checks can be written and verified, whatever it is.
fn check_unchecked(text: &str) {
    if let Ok(graph) = read_unchecked(text, &NoCustom) {
        let _ = write_with_locations(&graph);
        let _ = verify(&graph).map_err(|errors| errors.to_string());
    }
}

#[test]
fn long_lines_are_cut_in_errors() {
    let text =
        format!("func @f({}%0: f33[], {}) -> () {{ return }}", " ".repeat(200), "%1: f32[], ".repeat(100));
    expect![[r#"
        1:213: there is no type `f33`
        …                                                                            %0: f33[], %1: f32[], %1: f32[], %1: f32[], %1: f32[], %1: f32[], %1: f32[], %1: f32…
                                                                                         ^"#]]
    .assert_eq(&read_text(&text).unwrap_err());
}

#[test]
fn shared_graphs_are_verified_once() {
    let mut b = GraphBuilder::new();
    let x = Atom::Var(b.input(ArrayType::new(DType::F32, [])));
    let y = b.bind1(Neg {}, &[x]).unwrap();
    let mut graph = b.finish("f", vec![y]);
    for _ in 1..MAX_DEPTH {
        let shared = Arc::new(graph);
        let mut b = GraphBuilder::new();
        let mut x = Atom::Var(b.input(ArrayType::new(DType::F32, [])));
        for _ in 0..2 {
            x = b.bind1(Call { graph: shared.clone() }, &[x]).unwrap();
        }
        graph = b.finish("f", vec![x]);
    }
    assert_eq!(verify(&graph), Ok(()));
}

/// Parameters may stand in any order; they are written in the order of their declaration.
#[test]
fn parameters_are_found_by_name() {
    let text = "func @f(%0: f32[]) -> (f32[2]) { %1: f32[2] = broadcast[axes=[], shape=[2]] %0 return %1 }";
    assert!(write(&read_text(text).unwrap()).contains("broadcast[shape=[2], axes=[]]"));
}

#[test]
fn one_line_of_a_graph() {
    let graph = read_text(LOSS).unwrap();
    let lines = [Line::Signature, Line::Equation(1), Line::Equation(5), Line::Equation(99), Line::Return];
    let lines: Vec<String> = lines.into_iter().map(|line| write_line(&graph, line)).collect();
    expect![[r#"
        func @loss(%0: f32[2,3], %1: ~f32[])
        %3: f32[2,3] = mul %0, 2.0:f32[2,3]
        %7: f32[2] = call[graph=func @"g h"(%0: f32[2,3]) -> (f32[2]) {

        return %7, nan:0xffc00000:f32[2,3]"#]]
    .assert_eq(&lines.join("\n"));
}
