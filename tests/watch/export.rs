//! A tape as text, DOT, JSON and HTML.

use expect_test::expect;
use tracewell::prelude::*;

#[traced]
fn half(x: &Array) -> Array {
    if x.item::<f64>() > 1.0 { x / 2.0 } else { x.clone() }
}

fn tape() -> Tape {
    let x = Array::from(3.0f64);
    Tape::record(|| half(&x).exp())
}

#[test]
fn levels_print_as_many_as_asked() {
    let tape = tape();
    expect![[r#"
        ⟨program⟩() → 4.4816890703380645: f64[]
          @1: [Const] 3.0: f64[]
          @2: [export.rs:13:21] ⟨half⟩(@1) → 1.5: f64[]
            @1: [Arg] x = @/1 → 3.0: f64[]
            @2: [export.rs:8:10] item() since @1 == 3.0
            @3: [export.rs:8:32] ⟨div⟩(@1, ⟨2.0⟩) → 1.5: f64[]
            @4: return @3 → 1.5: f64[]
          @3: [export.rs:13:30] ⟨exp⟩(@2) → 4.4816890703380645: f64[]
          @4: return @3 → 4.4816890703380645: f64[]
    "#]]
    .assert_eq(&tape.levels(9).to_string());
    assert_eq!(tape.levels(1).to_string().lines().count(), 5);
    assert_eq!(tape.levels(0).to_string().lines().count(), 1);
    assert_eq!(tape.find("half").unwrap().levels(1).to_string().lines().count(), 5);
}

#[test]
fn dot_has_a_box_for_each_call_and_an_edge_for_each_use() {
    let dot = tape().to_dot();
    assert_eq!(dot.matches("subgraph cluster").count(), 2);
    assert_eq!(dot.matches(" -> n").count(), 7, "{dot}");
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
    assert!(dot.contains("style=dotted"), "a parameter is what the caller gave");
}

#[test]
fn json_has_every_node_with_its_fields() {
    let tape = tape();
    let json = tape.to_json();
    assert_eq!(json.matches("\"id\":").count(), tape.nodes().len());
    for part in
        [r#""kind":"branch","name":"item()""#, r#""location":"#, r#""types":["f64[]"]"#, r#""rerun":false"#]
    {
        assert!(json.contains(part), "{part}: {json}");
    }
}

#[test]
fn html_is_one_page_with_every_node() {
    let tape = tape();
    let html = tape.to_html();
    assert_eq!(html.matches("class=\"n").count(), tape.nodes().len());
    assert!(html.contains("item() since @1 == 3.0"));
}

#[test]
fn a_failure_is_in_every_export() {
    let x = Array::from([1.0f32, 2.0]);
    let tape = Tape::record(|| x.dot(&Array::ones([3], F32)));
    assert!(tape.to_json().contains("\"kind\":\"failure\""));
    assert!(tape.to_html().contains("failed:"));
    assert!(tape.to_dot().contains("failed:"));
}
