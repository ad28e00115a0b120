//! What a tape answers.

use tracewell::prelude::*;
use tracewell::tape::{Axis, Kind, Node, Reach};

#[traced]
fn product(a: &Array, b: &Array) -> Array {
    a * b
}

#[traced]
fn model(x: &Array, y: &Array) -> Array {
    let p = product(x, y);
    let unused = x.cos();
    let q = &p + y;
    drop(unused);
    q.sin()
}

fn tape() -> Tape {
    let (x, y) = (Array::from(2.0f32), Array::from(3.0f32));
    Tape::record(|| model(&x, &y))
}

fn paths<'t>(nodes: impl IntoIterator<Item = Node<'t>>) -> Vec<String> {
    nodes.into_iter().map(|node| format!("{} {}", node.path(), node.name())).collect()
}

#[test]
fn children_parent_and_index() {
    let tape = tape();
    let call = tape.find("model").unwrap();
    assert_eq!(
        paths(call.children()),
        ["3.1 x", "3.2 y", "3.3 product", "3.4 cos", "3.5 add", "3.6 sin", "3.7 return"]
    );
    for (position, child) in call.children().enumerate() {
        assert_eq!(child.index(), position + 1);
        assert!(child.parent() == Some(call) && call.child(position + 1) == Some(child));
    }
    assert!(tape.root().parent().is_none() && call.child(0).is_none() && call.child(8).is_none());
    assert_eq!(paths(call.parameters()), ["3.1 x", "3.2 y"]);
}

#[test]
fn the_six_axes() {
    let tape = tape();
    let add = tape.find("add").unwrap();
    let inner = tape.find("mul").unwrap();
    assert_eq!(paths(add.query(Axis::Parent)), ["3 model"]);
    assert_eq!(paths(add.query(Axis::Child)), Vec::<String>::new());
    assert_eq!(paths(add.query(Axis::Preceding)), ["3.1 x", "3.2 y", "3.3 product", "3.4 cos"]);
    assert_eq!(paths(add.query(Axis::Following)), ["3.6 sin", "3.7 return"]);
    assert_eq!(paths(inner.query(Axis::Ancestor)), ["3.3 product", "3 model", " program"]);
    assert_eq!(tape.find("model").unwrap().query(Axis::Descendant).len(), 11);
}

#[test]
fn descendants_come_level_by_level() {
    let tape = tape();
    let call = tape.root().child(3).unwrap();
    let below = paths(call.query(Axis::Descendant));
    assert_eq!(below[..7], paths(call.children())[..]);
    assert_eq!(below[7..], ["3.3.1 a", "3.3.2 b", "3.3.3 mul", "3.3.4 return"]);
}

#[test]
fn references_are_numbered_by_argument_and_stay_on_their_level() {
    let tape = tape();
    let add = tape.find("add").unwrap();
    let used: Vec<String> = add.referenced().iter().map(|(i, n)| format!("{i} {}", n.name())).collect();
    assert_eq!(used, ["0 product", "1 y"]);
    let a = tape.find("a").unwrap();
    assert!(a.referenced().is_empty(), "what it is comes from another level");
    assert_eq!(paths(a.referenced_in(Reach::Across).into_iter().map(|(_, n)| n)), ["3.1 x"]);
}

#[test]
fn backward_and_forward_within_a_level() {
    let tape = tape();
    let sin = tape.find("sin").unwrap();
    assert_eq!(paths(sin.backward()), ["3.5 add", "3.3 product", "3.2 y", "3.1 x"]);
    let y = tape.find("y").unwrap();
    assert_eq!(paths(y.forward()), ["3.3 product", "3.5 add", "3.6 sin", "3.7 return"]);
    let uses: Vec<String> = y.dependents().iter().map(|(i, n)| format!("{i} {}", n.name())).collect();
    assert_eq!(uses, ["1 product", "1 add"]);
}

#[test]
fn backward_and_forward_across_levels() {
    let tape = tape();
    let sin = tape.find("sin").unwrap();
    let all = sin.backward_in(Reach::Across, |_, _| {});
    let found = paths(all);
    for part in ["3.3.3 mul", "3.3.1 a", "3.1 x", "1 constant", "2 constant"] {
        assert!(found.contains(&part.to_string()), "{part}: {found:?}");
    }
    assert!(!found.contains(&"3.4 cos".to_string()));
    let mul = tape.find("mul").unwrap();
    let found = paths(mul.forward_in(Reach::Across, |_, _| {}));
    assert_eq!(
        found,
        [
            "3.3.4 return",
            "3.3 product",
            "3.5 add",
            "3.6 sin",
            "3.7 return",
            "3 model",
            "4 return",
            " program"
        ]
    );
}

#[test]
fn referenced_and_dependents_are_each_others_reverse() {
    let tape = tape();
    for reach in [Reach::Level, Reach::Across] {
        for node in tape.nodes() {
            for (number, used) in node.referenced_in(reach) {
                assert!(used.dependents_in(reach).contains(&(number, node)), "{node}");
            }
            for (number, user) in node.dependents_in(reach) {
                assert!(user.referenced_in(reach).contains(&(number, node)), "{node}");
            }
        }
    }
}

#[test]
fn a_visitor_sees_each_node_once_with_what_it_used() {
    let tape = tape();
    let mut seen = Vec::new();
    tape.find("sin").unwrap().backward_in(Reach::Level, |node, used| seen.push((node.name(), used.len())));
    assert_eq!(seen, [("sin", 1), ("add", 2), ("product", 2), ("y", 0), ("x", 0)]);
    let mut seen = Vec::new();
    tape.find("cos").unwrap().forward_in(Reach::Level, |node, users| seen.push((node.name(), users.len())));
    assert_eq!(seen, [("cos", 0)]);
}

#[test]
fn a_dynamic_slice_has_all_that_had_to_happen() {
    #[traced]
    fn chosen(x: &Array, y: &Array) -> Array {
        let limit = y.sin();
        if limit.item::<f32>() > 0.0 { x.exp() } else { x.log() }
    }
    let (x, y) = (Array::from(2.0f32), Array::from(3.0f32));
    let tape = Tape::record(|| chosen(&x, &y));
    let slice = tape.find("exp").unwrap().slice();
    let names: Vec<&str> = slice.iter().map(|node| node.name()).collect();
    assert!(names.contains(&"sin") && names.contains(&"item()"), "the branch had to be taken: {names:?}");
    assert!(slice.iter().any(|node| *node.kind() == Kind::Branch));
    let of_sin = tape.find("sin").unwrap().slice();
    assert!(!of_sin.iter().any(|node| node.name() == "exp"));
    assert!(!of_sin.iter().any(|node| *node.kind() == Kind::Branch), "no branch was before it: {of_sin:?}");
}

#[test]
fn a_value_is_followed_to_where_it_was_made() {
    let tape = tape();
    let add = tape.find("add").unwrap();
    let tracewell::tape::Argument::Reference(first) = &add.arguments()[0] else { panic!("{add}") };
    assert_eq!(tape.node(tape.source(*first).node).name(), "mul");
}
