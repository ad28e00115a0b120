//! Contexts decide what is recorded.

use tracewell::prelude::*;
use tracewell::tape::{Both, Context, DepthLimit, Kind, Notes, Only, Seen, Turns};

use crate::{bits, names};

#[traced]
fn low(x: &Array) -> Array {
    x.sin()
}

#[traced]
fn middle(x: &Array) -> Array {
    low(x) + 1.0
}

#[traced]
fn high(x: &Array) -> Array {
    middle(x) * 2.0
}

fn x() -> Array {
    Array::from([0.5f32, 1.5])
}

#[test]
fn a_depth_limit_leaves_out_what_is_deeper() {
    let x = x();
    for (limit, deepest) in [(1, "high"), (2, "middle"), (3, "low")] {
        let tape = Tape::record_in(DepthLimit(limit), || high(&x));
        let call = tape.find(deepest).unwrap();
        assert_eq!(call.children().len(), 0, "{tape:?}");
        assert_eq!(tape.nodes().map(|node| node.depth()).max(), Some(limit));
        assert_eq!(
            bits(&call.value().unwrap()),
            bits(&match deepest {
                "low" => low(&x),
                "middle" => middle(&x),
                _ => high(&x),
            })
        );
    }
}

#[test]
fn only_enters_what_a_function_chooses() {
    let x = x();
    let tape = Tape::record_in(Only(|call: &Seen<'_>| call.name != "middle"), || high(&x));
    assert!(tape.find("mul").is_some() && tape.find("low").is_none(), "{tape:?}");
}

/// As in the README of the system that this was learnt from: a limit of a user's own.
struct Mine {
    most: usize,
}

impl Context for Mine {
    fn enters(&self, call: &Seen<'_>) -> bool {
        call.depth < self.most
    }

    fn annotate(&self, node: &Seen<'_>, notes: &mut Notes) {
        notes.set(format!("{} deep in {:?}", node.depth, node.around));
    }
}

#[test]
fn a_context_of_a_users_own() {
    let x = x();
    let tape = Tape::record_in(Mine { most: 2 }, || high(&x));
    let middle = tape.find("middle").unwrap();
    assert_eq!(middle.children().len(), 0);
    assert_eq!(middle.note::<String>().unwrap(), "2 deep in [\"high\"]");
}

#[test]
fn contexts_are_composed() {
    let x = x();
    let both = Both(Only(|call: &Seen<'_>| call.name != "low"), Both(DepthLimit(9), Turns(3)));
    let tape =
        Tape::record_in(both, || while_loop(high(&x).sum(), |s: &Array| s.lt(100.0), |s: &Array| s * 2.0));
    assert_eq!(names(tape.find("low").unwrap()), Vec::<String>::new());
    assert!(tape.find("turn 2").is_some() && tape.find("turn 3").is_none(), "{tape:?}");
}

#[test]
fn a_node_that_is_left_out_stands_as_a_constant() {
    struct NoSines;
    impl Context for NoSines {
        fn records(&self, node: &Seen<'_>) -> bool {
            node.name != "sin"
        }
    }
    let x = x();
    let tape = Tape::record_in(NoSines, || x.sin().exp());
    assert!(tape.find("sin").is_none());
    let exp = tape.find("exp").unwrap();
    let used = exp.referenced();
    assert_eq!(*used[0].1.kind(), Kind::Constant);
    assert_eq!(bits(&used[0].1.value().unwrap()), bits(&x.sin()));
}

#[test]
fn a_context_changes_no_result() {
    let x = x();
    let plain = bits(&high(&x));
    for context in [DepthLimit(0), DepthLimit(1), DepthLimit(2), DepthLimit(9)] {
        let (watched, _) = Tape::run(context, || high(&x));
        assert_eq!(bits(&watched.unwrap()), plain);
    }
}
